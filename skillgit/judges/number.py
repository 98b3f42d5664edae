"""The judge of numbers."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from pydantic import Field

from skillgit.judges.base import PASSED, Judge, Judgement, failed, references
from skillgit.splits import Task

MINUS = str.maketrans(dict.fromkeys("\u2212\u2013\ufe63\uff0d", "-"))
NUMBER = re.compile(
    r"(?P<sign>[-+]?)\s*[$€£¥]?\s*(?P<inner>[-+]?)"
    r"(?P<digits>[1-9]\d{0,2}(?P<mark>[, '’\u00a0\u2009\u202f])\d{3}(?:(?P=mark)\d{3})*(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)"
    r"(?P<power>[eE][-+]?\d+)?\s*(?P<unit>[%$€£¥]?)"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, and whether a percent sign stood with it."""

    value: float
    percent: bool = False


class Number(Judge):
    """Equal to a reference number within a tolerance; soft is 1 less the relative error, not below 0.

    Thousands separators, currency signs, the Unicode minus and accounting negatives ``(12)`` are understood. Where only one
    of the two has a percent sign, it may stand for per cent or for the fraction: 20%, 20 and 0.2 agree.
    """

    tolerance: float = Field(1e-9, ge=0, description="largest absolute difference")
    relative: float = Field(0.0, ge=0, description="largest difference as a share of the reference")

    def __call__(self, task: Task, answer: str) -> Judgement:
        got = read(answer)
        if got is None:
            return failed(task, answer, note="which is no number")
        golds = [gold for gold in map(read, references(task)) if gold is not None]
        pairs = [pair for gold in golds for pair in _readings(got, gold)]
        if any(abs(one - gold) <= max(self.tolerance, self.relative * abs(gold)) for one, gold in pairs):
            return PASSED
        error = min((abs(one - gold) / max(abs(gold), 1e-12) for one, gold in pairs), default=math.inf)
        return failed(task, answer, max(0.0, 1 - error))


def _readings(got: Quantity, gold: Quantity) -> list[tuple[float, float]]:
    plain = [(got.value, gold.value)]
    if got.percent == gold.percent:
        return plain
    return [*plain, (got.value / (100 if got.percent else 1), gold.value / (100 if gold.percent else 1))]


def read(text: str) -> Quantity | None:
    """The number that a text is, None when it holds anything else but a currency or percent sign."""
    bare = text.strip().translate(MINUS)
    negative = bare.startswith("(") and bare.endswith(")")
    match = NUMBER.fullmatch(bare[1:-1].strip() if negative else bare)
    if match is None or bool(match["sign"]) + bool(match["inner"]) + negative > 1:
        return None
    digits = re.sub(r"[^\d.]", "", match["digits"])
    value = float(f"{digits}{match['power'] or ''}")
    if not math.isfinite(value):
        return None
    negative = negative or "-" in (match["sign"], match["inner"])
    return Quantity(-value if negative else value, match["unit"] == "%")
