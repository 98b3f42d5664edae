"""What stands in the two regions that an epoch's end writes: guidance for the target, and a list of reminders. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from skillgit.document import Span, clean, regions, segments
from skillgit.lines import (
    BREAK,
    after_break,
    content_end,
    is_blank,
    line_start,
    newline,
    place_block,
    trim_blank_lines,
    unix,
)

BULLET = "- "
INDENT = "  "


def guidance(text: str) -> str:
    """The content of the slow-update region, lines ending in ``\\n``; empty without the region."""
    return _content(text, regions(text).slow)


def with_guidance(text: str, guidance: str) -> str:
    """The skill with this guidance instead of what it had, and nothing else changed.

    Marker text in it and blank lines around it go. Empty guidance empties the region, and makes none.
    """
    content = trim_blank_lines(unix(clean(guidance)))
    found = regions(text)
    if found.slow:
        return _refilled(text, found.slow, content)
    home = next(
        (span for span in segments(text) if found.appendix and span[1] == found.appendix[0]), segments(text)[-1]
    )
    return _added(text, home, "SLOW_UPDATE", content)


def appendix_notes(text: str) -> tuple[str, ...]:
    """The notes of the appendix: its list items, and each paragraph that is none."""
    notes: list[list[str]] = []
    fresh = True
    for line in _content(text, regions(text).appendix).split("\n"):
        if line.startswith(BULLET):
            notes.append([line.removeprefix(BULLET)])
        elif line.strip() and not line.startswith(INDENT) and (fresh or not notes):
            notes.append([line])
        elif notes:
            notes[-1].append(line.removeprefix(INDENT))
        fresh = not line.strip()
    return tuple(note for lines in notes if (note := _note("\n".join(lines))))


def with_appendix(text: str, notes: Iterable[str]) -> str:
    """The skill with these notes as its appendix, each once, in order, and nothing else changed.

    A note keeps its lines; white space around it and at the ends of its lines goes, as marker text does. No notes empty
    the appendix, and make none.
    """
    unique = dict.fromkeys(note for raw in notes if (note := _note(clean(raw))))
    content = "\n".join(BULLET + note.replace("\n", "\n" + INDENT).replace(INDENT + "\n", "\n") for note in unique)
    found = regions(text)
    if found.appendix:
        return _refilled(text, found.appendix, content)
    return _added(text, segments(text)[-1], "APPENDIX", content)


def deployable(text: str) -> str:
    """The document without the markers: guidance and notes as plain text, and nothing of an empty region."""
    found = regions(text)
    out, at = [], 0
    for start, end in sorted(span for span in (found.slow, found.appendix) if span):
        inner, rest = text[slice(*_inside(text, (start, end)))], after_break(text, end)
        if is_blank(inner):
            inner = ""
            if rest == len(text) or BREAK.match(text, rest):  # blank lines on both sides
                start = content_end(text, at, start)
        out += [text[at:start], inner]
        at = rest
    return "".join((*out, text[at:]))


def _note(raw: str) -> str:
    return "\n".join(line.rstrip() for line in unix(raw).split("\n")).strip()


def _inside(text: str, region: Span) -> Span:
    """From the line after the start marker to the line of the end marker."""
    return after_break(text, region[0]), line_start(text, region[1])


def _content(text: str, region: Span | None) -> str:
    return trim_blank_lines(unix(text[slice(*_inside(text, region))])) if region else ""


def _refilled(text: str, region: Span, content: str) -> str:
    eol = newline(text)
    start, end = _inside(text, region)
    return text[:start] + (content + "\n" if content else "").replace("\n", eol) + text[end:]


def _added(text: str, home: Span, name: str, content: str) -> str:
    if not content:
        return text
    block = f"<!-- {name}_START -->\n{content}\n<!-- {name}_END -->\n".replace("\n", newline(text))
    at, inserted = place_block(text, *home, block)
    return text[:at] + inserted + text[at:]
