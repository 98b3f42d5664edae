"""Lines of a text whose bytes must stay: a line break is CRLF, LF or CR, and nothing else. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

BREAK = re.compile(r"\r\n|\n|\r")
LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
BOM = "\ufeff"


def unix(text: str) -> str:
    """The text with every line break as ``\\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lf_lines(text: str) -> list[str]:
    """The lines as git sees them: LF ends a line, and a CR before it is part of the line."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def newline(text: str) -> str:
    """The line break that the text uses most; ``\\n`` in doubt."""
    crlf = text.count("\r\n")
    counts = {"\n": text.count("\n") - crlf, "\r\n": crlf, "\r": text.count("\r") - crlf}
    return max(counts, key=lambda ending: counts[ending])


def common_start(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items (characters, or lines) are the same at the start of both."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def changed_part(text: str, start: int, end: int, content: str) -> tuple[int, int, str]:
    """What really changes when ``content`` replaces the text from start to end: place and new text, context left out.

    Whole lines first: by characters alone, a line put before one that begins alike would be put into it.
    """
    for cut in (lf_lines, list):
        old, new = cut(text[start:end]), cut(content)
        head = common_start(old, new)
        tail = common_start(old[head:][::-1], new[head:][::-1])
        start, end = start + len("".join(old[:head])), end - len("".join(old[len(old) - tail :]))
        content = "".join(new[head : len(new) - tail])
    return start, end, content


def line_number(text: str, offset: int) -> int:
    """The number, from 1, of the line that holds the character at ``offset``."""
    return 1 + sum(1 for _ in BREAK.finditer(text, 0, offset))


def line_start(text: str, offset: int) -> int:
    """Where the line that holds ``offset`` begins; a byte order mark is before the first line."""
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    return start + (start == 0 and text.startswith(BOM) and offset > 0)


def line_end(text: str, offset: int) -> int:
    """Where the line that holds ``offset`` ends, before its line break."""
    match = BREAK.search(text, offset)
    return match.start() if match else len(text)


def after_break(text: str, offset: int) -> int:
    """Where the next line begins, or the end of the text."""
    match = BREAK.search(text, offset)
    return match.end() if match else len(text)


def is_blank(text: str) -> bool:
    return not text.removeprefix(BOM).strip()


def ends_line(text: str) -> bool:
    return text.endswith(("\n", "\r"))


def visible(text: str) -> list[str]:
    """The lines that are not blank, without trailing spaces and line breaks."""
    return [line.rstrip() for line in unix(text).split("\n") if line.strip()]


def trim_blank_lines(text: str) -> str:
    """The text without the blank lines at its start and end, and without its last line break; all else stays."""
    first = len(text) - len(text.lstrip())
    return text[line_start(text, first) : line_end(text, len(text.rstrip()))] if text.strip() else ""


def content_end(text: str, start: int, end: int) -> int:
    """Where the last line between ``start`` and ``end`` that is not blank ends, its line break included."""
    last = start + len(text[start:end].rstrip())
    return after_break(text, last) if text[start:last].strip(BOM) else last


def place_block(text: str, start: int, end: int, block: str) -> tuple[int, str]:
    """Where, between ``start`` and ``end``, ``block`` goes as the last thing, and what has to be inserted there.

    A blank line sets it off from what comes before, unless a list just goes on. Nothing else changes: blank lines that
    were there stay, after the block, and a file without a last line break stays without.
    """
    at, eol = content_end(text, start, end), newline(text)
    if 0 < at == start:  # the end of a region's last line
        at = after_break(text, at)
    before = text[:at]
    lead = tail = ""
    if not is_blank(before):
        lead = eol * (not ends_line(before)) + eol * (not (_is_item(before) and bool(LIST_ITEM.match(block))))
    if not ends_line(block) and (at < len(text) or ends_line(text) or not lead):
        tail = eol
    return at, lead + block + tail


def _is_item(before: str) -> bool:
    last = len(before.rstrip("\r\n"))
    return bool(LIST_ITEM.match(before, line_start(before, last)))
