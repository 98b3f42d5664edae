"""Finding the one place that a target names, and the lines around it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skillgit.document import Span
from skillgit.lines import after_break, line_end, line_start, visible

MOST_PLACES = 10
ENDINGS = re.compile(r"(\r\n?)|[^\r]+")
SPACES = re.compile(r"(\s+)|\S+")
ASCII = str.maketrans(dict.fromkeys("‘’‚‛′", "'") | dict.fromkeys("“”„‟″", '"') | dict.fromkeys("‐‑‒–—―−", "-"))
FENCE = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}(?=[^`]*\Z)|~{3,})")
LEFTOVER = re.compile(r"[ \t>]*(?:#{1,6}[ \t]+|(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)?")


@dataclass(frozen=True, slots=True)
class View:
    """A text made simpler for comparison, and where in the true text each of its characters begins; the end too."""

    text: str
    offsets: Sequence[int]


@dataclass(frozen=True, slots=True)
class Found:
    """Where a target stands outside the protected parts: at most MOST_PLACES + 1 places, in order.

    ``protected`` is set when there is none outside, but one that touches a protected part.
    """

    places: tuple[Span, ...] = ()
    fuzzy: bool = False
    protected: bool = False


def find(text: str, target: str, free: Sequence[Span], *, verbatim: bool = False) -> Found:
    """Look for the target within each span of ``free``: as it is, and then, if it is nowhere, loosely.

    Line endings do not count. Loosely, runs of white space are equal, and so are typographic and ASCII quotes and
    dashes. With ``verbatim`` every byte counts. Overlapping places all count. Time is linear in the text.
    """
    for view, needle in [(as_is, target)] if verbatim else [(any_ending, target), (loose, target.strip())]:
        places = [place for span in free for place in _places(view, text, needle, span)][: MOST_PLACES + 1]
        if places:
            return Found(tuple(places), fuzzy=view is loose)
        if _places(view, text, needle, (0, len(text))):
            return Found(protected=True)
    return Found()


def as_is(text: str) -> View:
    return View(text, range(len(text) + 1))


def any_ending(text: str) -> View:
    return _view(text, ENDINGS, "\n") if "\r" in text else as_is(text)


def loose(text: str) -> View:
    return _view(text.translate(ASCII), SPACES, " ")


def _view(text: str, pattern: re.Pattern[str], instead: str) -> View:
    """Each match of the pattern's group as the one character ``instead``; the pattern matches everything."""
    simple: list[str] = []
    offsets: list[int] = []
    for match in pattern.finditer(text):
        simple.append(instead if match[1] else match[0])
        offsets.extend([match.start()] if match[1] else range(*match.span()))
    return View("".join(simple), [*offsets, len(text)])


def _places(view: Callable[[str], View], text: str, target: str, span: Span) -> list[Span]:
    simple, needle = view(text[slice(*span)]), view(target).text
    at = simple.text.find(needle) if needle else -1
    places: list[Span] = []
    while at >= 0 and len(places) <= MOST_PLACES:
        places.append((span[0] + simple.offsets[at], span[0] + simple.offsets[at + len(needle)]))
        at = simple.text.find(needle, at + 1)
    return places


def after_line(text: str, place: Span, within: Span) -> int:
    """Where to insert after the line that holds the end of ``place``; after the code fence, if that line is in one.

    ``within`` is the stretch around the place; a fence that does not end in it is no fence.
    """
    at, last = within[0], max(place[0], place[1] - 1)
    opened = ""
    while at < within[1]:
        line, following = text[at : line_end(text, at)], after_break(text, at)
        if opened:
            opened = "" if _closes(line, opened) else opened
        elif fence := FENCE.match(line):
            opened = fence[1]
        if following > last and not opened:
            return following
        at = following
    return after_break(text, last)


def _closes(line: str, fence: str) -> bool:
    rest = line.strip(" \t>")
    return len(rest) >= len(fence) and not rest.strip(fence[0])


def deletion(text: str, place: Span) -> Span:
    """What goes when ``place`` is deleted: the whole of a line or list item that would be left empty.

    The break of a line of which something stays is not part of it: a deletion joins no lines.
    """
    start, end = place
    old = text[start:end]
    first, last = start + len(old) - len(old.lstrip()), start + len(old.rstrip())
    head, foot = line_start(text, first), line_end(text, last)
    if not LEFTOVER.fullmatch(text, head, first) or text[last:foot].strip():
        return max(start, head), min(end, foot)
    if start >= head:
        return head, max(end, after_break(text, foot))
    if end > foot and start > line_start(text, start):  # the line before keeps its break
        return after_break(text, start), end
    return start, max(end, foot)


def holds_block(text: str, block: str) -> bool:
    """Whether the lines of ``block`` stand in the text, one after another, but for blank lines and trailing spaces."""
    needle, hay = ("\n".join(["", *visible(part), ""]) for part in (block, text))
    return needle in hay
