"""Compares answers: as texts, which is the paper's way, and as numbers with signs and units."""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from dataclasses import dataclass

PUNCTUATION = str.maketrans("", "", "".join(char for char in string.punctuation if char not in ".-%"))
UNITS = re.compile(r"\b(?:millions?|billions?|dollars?|nominal)\b")
SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
MINUS = str.maketrans(dict.fromkeys("\u2212\u2013\ufe63\uff0d", "-"))
NUMBER = re.compile(
    r"(?P<open>\()?(?P<sign>(?<!\d)[-+])?[$€£]?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?P<close>\))?"
    r"(?:\s*(?P<scale>thousand|million|billion|trillion))?s?(?![A-Za-z0-9])",
    re.IGNORECASE,
)
LONGEST = 250


def normalized(text: str) -> str:
    """Lower case, without commas, most punctuation and the words million, billion, dollar and nominal."""
    return " ".join(UNITS.sub(" ", text.lower().translate(PUNCTUATION)).split())


def f1(answer: str, gold: str) -> float:
    """Token F1, 0..1."""
    got, wanted = normalized(answer).split(), normalized(gold).split()
    if not got or not wanted:
        return float(got == wanted)
    same = sum((Counter(got) & Counter(wanted)).values())
    return 2 * same / (len(got) + len(wanted)) if same else 0.0


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as written; ``scale`` is 1 where no word such as million follows. A percent sign does not count."""

    value: float
    scale: float = 1.0


def figures(text: str) -> list[Figure]:
    """The numbers of a text in order. ``(34)`` and a Unicode minus are negative, but not the bracket of a list."""
    return [_figure(match) for match in NUMBER.finditer(text.translate(MINUS))]


def _figure(match: re.Match[str]) -> Figure:
    value = float(match["digits"].replace(",", ""))
    negative = match["sign"] == "-" or (match["open"] and match["close"])
    scale = SCALES[match["scale"].lower()] if match["scale"] else 1.0
    return Figure(-value if negative else value, scale)


def matched(answer: str, gold: str, tolerance: float) -> float:
    """The share of the reference's numbers that the answer gives in their places, 0..1; of texts, whether they are equal.

    An answer of several lines, of more than 250 characters or with another count of numbers is no direct answer and gets 0.
    """
    direct = answer.strip()
    if direct == gold.strip():
        return 1.0
    wanted, got = figures(gold), figures(direct)
    if not wanted:
        return float(normalized(direct) == normalized(gold))
    if "\n" in direct or len(direct) > LONGEST or len(got) != len(wanted):
        return 0.0
    return sum(_same(a, b, tolerance) for a, b in zip(got, wanted, strict=True)) / len(wanted)


def _same(got: Figure, wanted: Figure, tolerance: float) -> bool:
    """A scale on one side only may be the unit that the question asks for, or written out: both are right."""
    if got.scale > 1 and wanted.scale > 1:
        return _close(got.value * got.scale, wanted.value * wanted.scale, tolerance)
    written_out = _close(got.value * got.scale, wanted.value * wanted.scale, tolerance)
    return written_out or _close(got.value, wanted.value, tolerance)


def _close(got: float, wanted: float, tolerance: float) -> bool:
    return math.isclose(got, wanted, rel_tol=1e-9) or abs(got - wanted) <= tolerance * abs(wanted)


def near_miss(answer: str, gold: str) -> str:
    """What is nearly right about a wrong answer, "" if nothing is."""
    if matched(answer, gold, 0.0) == 1:
        return "the same in another form"
    got, wanted = figures(answer), figures(gold)
    if len(got) != len(wanted):
        return f"which holds {len(got)} numbers where {len(wanted)} were expected" if got and wanted else ""
    if not wanted or not all(number.value for number in wanted):
        return ""
    if len(wanted) > 1:
        same = sorted(number.value for number in got) == sorted(number.value for number in wanted)
        return "the same numbers in another order" if same else ""
    ratio = got[0].value * got[0].scale / (wanted[0].value * wanted[0].scale)
    if ratio == -1:
        return "the right number with the wrong sign"
    if ratio > 0 and ratio != 1 and math.isclose(math.log10(ratio), round(math.log10(ratio)), abs_tol=1e-9):
        return "the right digits in another unit"
    return f"which is off by {abs(ratio - 1):.2%}" if abs(ratio - 1) < 0.05 else ""
