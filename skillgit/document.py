"""The skill document: frontmatter, body, and the two regions that only an epoch's end writes. Pure.

A region stands between two markers, each an HTML comment alone on its line. A marker counts wherever it stands, in a
code fence too: a region that a stray fence could hide would not be protected, and the reference, with which skills are
exchanged, knows no fences either.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from skillgit.errors import SkillError
from skillgit.lines import (
    BOM,
    BREAK,
    after_break,
    is_blank,
    line_end,
    line_number,
    line_start,
    newline,
    place_block,
    trim_blank_lines,
    unix,
)

Span = tuple[int, int]

MARKER = re.compile(r"<!--[ \t]*(SLOW_UPDATE|APPENDIX)_(START|END)[ \t]*-->")
MARKER_LINE = re.compile(rf"^[ \t]*(?:{MARKER.pattern}[ \t]*)+(?:\r\n|\n|\r|\Z)", re.MULTILINE)
OPENING = re.compile(r"\ufeff?---[ \t]*(?=[\r\n])")
CLOSING = re.compile(r"(?:\r\n|\n|\r)---[ \t]*(?=[\r\n]|\Z)")
MARKER_HINT = "give each region one start marker and, below it, one end marker, each alone on its line"
FRONTMATTER_HINT = "begin the file with YAML such as 'name: demo' between two lines '---'"


@dataclass(frozen=True, slots=True)
class Regions:
    """Where the protected parts stand: character offsets from the start of a part's first line to the end of its last.

    The line break after that last line is not part of it.
    """

    frontmatter: Span | None = None
    slow: Span | None = None
    appendix: Span | None = None

    @property
    def spans(self) -> tuple[Span, ...]:
        """Those that exist, in their order in the text."""
        return tuple(sorted(span for span in (self.frontmatter, self.slow, self.appendix) if span))


def regions(text: str, where: str = "the skill") -> Regions:
    """The protected parts. Raises SkillError, with ``where`` and the line, when markers do not pair up."""
    frontmatter = _frontmatter_span(text, where)
    found: dict[str, Span] = {}
    opened: tuple[str, int] | None = None
    for match in MARKER.finditer(text):
        name, edge = match.groups()
        start, end = line_start(text, match.start()), line_end(text, match.end())
        problem = ""
        if frontmatter and start < frontmatter[1]:
            problem = "stands in the frontmatter"
        elif text[start:end].strip(" \t") != match[0]:
            problem = "does not stand alone on its line"
        elif edge == "START" and opened:
            problem = f"stands inside the region that starts in line {line_number(text, opened[1])}"
        elif edge == "START" and name in found:
            problem = "starts a second such region, and one is allowed"
        elif edge == "END" and (not opened or opened[0] != name):
            problem = "has no start marker before it"
        if problem:
            raise _broken(text, start, where, f"{match[0]} {problem}", MARKER_HINT)
        if opened:
            found[name] = (opened[1], end)
        opened = None if opened else (name, start)
    if opened:
        raise _broken(text, opened[1], where, f"the {opened[0]} region that starts here never ends", MARKER_HINT)
    return Regions(frontmatter, found.get("SLOW_UPDATE"), found.get("APPENDIX"))


def check_document(text: str, where: str) -> None:
    """Raise SkillError, with ``where`` (the file) and line, for what cannot be trained.

    That is markers that do not pair up, frontmatter that is not a mapping, and a file with nothing in it.
    """
    regions(text, where)
    frontmatter(text, where)
    if is_blank(text):
        raise SkillError(f"{where} is empty", hint="write at least a heading into it")


def frontmatter(text: str, where: str = "the skill") -> dict[str, Any]:
    """The data between the two lines ``---`` with which the file begins; empty without them. Raises SkillError."""
    import yaml

    span = _frontmatter_span(text, where)
    if not span:
        return {}
    inner = text[after_break(text, span[0]) : line_start(text, span[1])]
    try:
        data = yaml.safe_load(unix(inner))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        line = 2 + (mark.line if mark else 0)
        raise SkillError(f"{where}:{line}: the frontmatter is not YAML: {problem}", hint=FRONTMATTER_HINT) from error
    if not isinstance(data, dict | None):
        raise _broken(text, 0, where, f"the frontmatter is a {type(data).__name__}, not a mapping", FRONTMATTER_HINT)
    return {str(key): value for key, value in (data or {}).items()}


def protected(text: str) -> tuple[str, ...]:
    """The protected parts as they stand, in their order: what no edit may change. Raises SkillError."""
    return tuple(text[start:end] for start, end in regions(text).spans)


def is_protected(found: Regions, start: int, end: int) -> bool:
    """Whether a change of the text from start to end (equal for an insertion) would be one of a protected part."""
    return any(start < stop and end > begin for begin, stop in found.spans)


def segments(text: str) -> list[Span]:
    """The stretches of the body around the regions, in order; blank and empty ones too, at least one."""
    found = regions(text)
    start = found.frontmatter[1] if found.frontmatter else 0
    spans = []
    for region in found.spans:
        if region != found.frontmatter:
            spans.append((start, region[0]))
            start = region[1]
    return [*spans, (start, len(text))]


def main_segment(text: str) -> Span:
    """The stretch at whose end text is added: the first with text in it, or the first of all."""
    spans = segments(text)
    return next((span for span in spans if not is_blank(text[slice(*span)])), spans[0])


def body(text: str) -> str:
    """The text without byte order mark, frontmatter and regions."""
    parts = []
    for start, end in segments(text):
        rest_of_line = BREAK.match(text, start) if start else None
        parts.append(text[rest_of_line.end() if rest_of_line else start : end])
    return "".join(parts).removeprefix(BOM)


def with_body(text: str, new_body: str) -> str:
    """The skill with another body; frontmatter and regions stay byte for byte.

    Frontmatter and regions in ``new_body`` (a model that was shown the whole skill gives them back) are dropped. Raises
    SkillError when nothing is left of it, or when it would be read as frontmatter.
    """
    with suppress(SkillError):  # the frontmatter is a thematic break, or markers are out of place
        if frontmatter(new_body) or not OPENING.match(new_body):
            new_body = body(new_body)
    content = trim_blank_lines(clean(new_body))
    if not content:
        raise SkillError("the new body is empty", hint="a rewrite has to keep at least one line")
    eol, home, changed = newline(text), main_segment(text), text
    content = unix(content).replace("\n", eol)
    for start, end in reversed(segments(text)):
        if (start, end) == home:
            changed = changed[:start] + _refilled(text, home, content) + changed[end:]
        elif not is_blank(text[start:end]):
            changed = changed[:start] + eol * (1 if end == len(text) else 2) + changed[end:]
    if OPENING.match(changed) and not OPENING.match(text):
        raise SkillError("the new body would be read as frontmatter", hint="let it begin otherwise than with '---'")
    return changed


def _refilled(text: str, home: Span, content: str) -> str:
    """What then stands in ``home``: the blank lines at its edges stay."""
    start, end = home
    old = text[start:end]
    if is_blank(old):
        at, block = place_block(text, start, end, content)
        return text[start:at] + block + text[at:end]
    first = start + len(old) - len(old.removeprefix(BOM).lstrip())
    last = start + len(old.rstrip())
    return text[start : line_start(text, first)] + content + text[line_end(text, last) : end]


def strip_markers(content: str) -> str:
    """New content without marker text; a line that held nothing else goes with it."""
    while MARKER.search(content):  # what stood around a marker may form another
        content = MARKER.sub("", MARKER_LINE.sub("", content))
    return content


def clean(content: str) -> str:
    """New content that can be committed: no markers, no NUL, no unpaired surrogates."""
    return strip_markers(content.replace("\0", "").encode("utf-8", "replace").decode())


def digest(text: str) -> str:
    """The content address of a document, the same with any line endings: 16 hex digits."""
    return hashlib.sha256(unix(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _frontmatter_span(text: str, where: str) -> Span | None:
    opening = OPENING.match(text)
    if not opening:
        return None
    closing = CLOSING.search(text, opening.end())
    if not closing:
        raise _broken(text, 0, where, "the frontmatter that starts here never ends", FRONTMATTER_HINT)
    return 0, closing.end()


def _broken(text: str, offset: int, where: str, problem: str, hint: str) -> SkillError:
    return SkillError(f"{where}:{line_number(text, offset)}: {problem}", hint=hint)
