"""The judge of dates."""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import cache
from typing import Any

from pydantic import Field

from skillgit.judges.base import PASSED, Judge, Judgement, failed, references
from skillgit.splits import Task

DEFAULTS = (datetime(2000, 1, 1), datetime(2004, 2, 2))
"""What a missing part would be filled in from; a date that depends on it is none."""


class Date(Judge):
    """The same day as a reference, however it is written. A time of day does not count, and no part may be missing.

    A year of two digits is 1969 to 2068. What a date means never depends on the clock.
    """

    day_first: bool = Field(False, description="3/4/2024 is the third of April")

    def __call__(self, task: Task, answer: str) -> Judgement:
        got = read(answer, self.day_first)
        if got is None:
            return failed(task, answer, note="which is no full date")
        hit = any(got == read(reference, self.day_first) for reference in references(task))
        return PASSED if hit else failed(task, answer)


def read(text: str, day_first: bool = False) -> date | None:
    """The day that a text names, None when it names none or not wholly."""
    parser = _parser()
    order = day_first and not re.match(r"\s*\d{4}\b", text)  # a year in front settles the order
    try:
        days = {
            parser.parse(text.strip(), dayfirst=order, default=default, ignoretz=True).date() for default in DEFAULTS
        }
    except (ValueError, OverflowError):
        return None
    return days.pop() if len(days) == 1 else None


@cache
def _parser() -> Any:
    from dateutil.parser import parser, parserinfo

    class Fixed(parserinfo):
        def convertyear(self, year: int, century_specified: bool = False) -> int:
            return year if century_specified or year >= 100 else year + (2000 if year < 69 else 1900)

    return parser(Fixed())
