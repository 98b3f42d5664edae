"""Makes tasks.jsonl: dates of the twentieth century as people write them, and the one way this house writes them.

    python generate.py [SEED]

Every date occurs once, so no split knows a date of another. A date in figures with strokes has a day above 12 and
can be read in one way only; a year of two digits lies in the 1900s, as all of them do.
"""

from __future__ import annotations

import calendar
import json
import random
import sys
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

SIZES = {"train": 56, "selection": 28, "test": 56}
FIRST, DAYS = date(1930, 1, 1), 25_567  # to the last day of 1999


def ordinal(number: int) -> str:
    teens = 10 <= number % 100 <= 20
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def month(day: date) -> str:
    return calendar.month_name[day.month]


FORMS: dict[str, Callable[[date], str]] = {
    "day-first": lambda d: f"{d.day} {month(d)} {d.year}",
    "month-first": lambda d: f"{month(d)} {d.day}, {d.year}",
    "ordinal": lambda d: f"the {ordinal(d.day)} of {month(d)}, {d.year}",
    "weekday": lambda d: f"{calendar.day_name[d.weekday()]}, {month(d)} {ordinal(d.day)} {d.year}",
    "short-year": lambda d: f"{month(d)[:3]} {ordinal(d.day)} '{d.year % 100:02d}",
    "iso": lambda d: d.isoformat(),
    "figures": lambda d: f"{d.day}/{d.month}/{d.year}",
}


def house(day: date) -> str:
    """The house format: 1998:mar:03."""
    return f"{day.year}:{month(day)[:3].lower()}:{day.day:02d}"


def dates(seed: int) -> Iterator[date]:
    """Every date of the range once, in an order that follows from the seed."""
    days = list(range(DAYS))
    random.Random(seed).shuffle(days)
    return (FIRST + timedelta(days=number) for number in days)


def tasks(seed: int = 7) -> Iterator[dict[str, str]]:
    days = dates(seed)
    names = list(FORMS)
    for split, size in SIZES.items():
        for number in range(size):
            form = names[number % len(names)]
            day = next(d for d in days if form != "figures" or d.day > 12)
            yield {
                "id": f"{split}-{number + 1:02d}",
                "input": FORMS[form](day),
                "answer": house(day),
                "type": form,
                "split": split,
            }


def text(seed: int = 7) -> str:
    return "".join(json.dumps(task) + "\n" for task in tasks(seed))


if __name__ == "__main__":
    chosen = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    Path(__file__).with_name("tasks.jsonl").write_text(text(chosen), encoding="utf-8", newline="\n")
