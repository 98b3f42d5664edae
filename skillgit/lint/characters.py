"""Characters that a reader does not see and a model does. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from itertools import groupby

from skillgit.lint.finding import Document, Found

OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
MARKS = frozenset("\u200e\u200f\u061c")
JOINERS = frozenset("\u200c\u200d")
EMOJI_JOINER = "\u200d"
BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and symbols without ink."""
BOM = "\ufeff"
LATIN_END = 0x0590
"""Scripts that need joiners begin here: Hebrew, Arabic, the Indic ones."""


def bidirectional(doc: Document) -> Iterator[Found]:
    """No character that makes a line read in another order than it is stored."""
    for line, found in _by_line(doc, lambda text, at: text[at] in OVERRIDES or text[at] in MARKS):
        harmful = OVERRIDES & set(found)
        what = f"{_named(found)} changes the order in which this line is shown"
        yield Found(line, what, "error" if harmful else "warning")


def invisible(doc: Document) -> Iterator[Found]:
    """No character without ink: zero width, control, tag and filler characters."""
    for line, found in _by_line(doc, _is_invisible):
        yield Found(line, f"{_named(found)} is invisible, and models read it{_decoded(found)}")


def _by_line(doc: Document, bad: Callable[[str, int], bool]) -> Iterator[tuple[int, str]]:
    places = [at for at in range(len(doc.text)) if (doc.text[at] > "\x7e" or doc.text[at] < " ") and bad(doc.text, at)]
    for line, group in groupby(places, key=doc.line):
        yield line, "".join(doc.text[at] for at in group)


def _is_invisible(text: str, at: int) -> bool:
    character = text[at]
    if character in "\t\n\r" or character in OVERRIDES or character in MARKS or (character == BOM and at == 0):
        return False
    if character in JOINERS:
        return not _joins(text, at)
    if "\ufe00" <= character <= "\ufe0f":  # chooses the form of an emoji or of a CJK sign
        return at == 0 or unicodedata.category(text[at - 1]) not in ("So", "Sm", "Po", "Nd", "Lo", "Sk")
    if "\U000e0100" <= character <= "\U000e01ef":
        return at == 0 or unicodedata.category(text[at - 1]) != "Lo"
    if "\U000e0020" <= character <= "\U000e007f":
        return not _in_flag(text, at)
    return character in BLANK or unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Co")


def _joins(text: str, at: int) -> bool:
    """Whether a joiner stands where scripts and emoji need one."""
    if not 0 < at < len(text) - 1:
        return False
    before, after = text[at - 1], text[at + 1]
    if text[at] == EMOJI_JOINER and unicodedata.category(after) == "So":
        return unicodedata.category(before) in ("So", "Sk") or before == "\ufe0f"
    return all(ord(side) >= LATIN_END and unicodedata.category(side)[0] in "LM" for side in (before, after))


def _in_flag(text: str, at: int) -> bool:
    """The flags of England, Scotland and Wales are a black flag and at most six tag characters."""
    start = text.rfind("\U0001f3f4", max(0, at - 6), at)
    return start >= 0 and all("\U000e0020" <= c <= "\U000e007f" for c in text[start + 1 : at])


def _named(found: str) -> str:
    names = [f"U+{ord(c):04X} {unicodedata.name(c, 'control character')}" for c in dict.fromkeys(found)]
    more = f" and {len(names) - 3} others" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _decoded(found: str) -> str:
    hidden = "".join(chr(ord(c) - 0xE0000) for c in found if "\U000e0020" <= c <= "\U000e007e")
    return f"; it spells '{hidden[:60]}'" if hidden else ""
