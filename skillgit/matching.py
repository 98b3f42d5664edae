"""Where a target stands in a text: exactly, or ignoring what copying tends to change. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

FOLDED = str.maketrans({
    "‘": "'", "’": "'", "‚": "'", "‛": "'", "′": "'",
    "“": '"', "”": '"', "„": '"', "‟": '"', "″": '"', "«": '"', "»": '"',
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "−": "-",
})  # fmt: skip
LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")


@dataclass(frozen=True, slots=True)
class Match:
    """A place [start, end) in the text."""

    start: int
    end: int
    fuzzy: bool = False


def find_exact(text: str, target: str) -> list[Match]:
    """Every place where the target stands, overlapping ones counted."""
    return [Match(start, start + len(target)) for start in _places(text, target)]


def find_fuzzy(text: str, target: str) -> list[Match]:
    """Places that match but for runs of white space, line endings, and typographic quotes and dashes."""
    wanted = _squeeze(target.strip())[0]
    if not wanted:
        return []
    squeezed, starts, ends = _squeeze(text)
    return [Match(starts[at], ends[at + len(wanted) - 1], fuzzy=True) for at in _places(squeezed, wanted)]


def _places(text: str, target: str) -> list[int]:
    found, at = [], text.find(target)
    while at >= 0:
        found.append(at)
        at = text.find(target, at + 1)
    return found


def _squeeze(text: str) -> tuple[str, list[int], list[int]]:
    """The folded text, and for each of its characters where it begins and ends in the original."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in re.finditer(r"\s+|\S", text):
        pieces.append(" " if match[0].isspace() else match[0].translate(FOLDED))
        starts.append(match.start())
        ends.append(match.end())
    return "".join(pieces), starts, ends


def line_span(text: str, start: int, end: int) -> tuple[int, int]:
    """The whole lines that [start, end) touches, with their line breaks."""
    first = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    if end > start and text[end - 1] in "\r\n":
        return first, end
    last = LINE.match(text, end)
    return first, last.end() if last else len(text)
