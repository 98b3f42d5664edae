"""What an evaluation found: one item a task, and how two evaluations are joined. Pure.

Scores are exact fractions. A judge's float is read as the simplest fraction it can be (0.1 + 0.2 as 3/10, a mean of
three samples as a third), so equal results compare equal in whatever order they were summed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from skillgit.errors import ConfigError

Pair = tuple["Item", "Item"]
"""A task's items under the current skill and under the candidate."""

MARGIN = Fraction(1, 10**9)
"""Differences up to this are ties: less than any real one, more than what is left of rounding."""


@lru_cache(maxsize=4096)
def exact(value: float) -> Fraction:
    """The simplest fraction a float stands for, with a denominator of at most a million."""
    return Fraction(value).limit_denominator(10**6)


@dataclass(frozen=True, slots=True)
class Item:
    """The result of one task: hard and soft score in 0..1, means over ``samples`` repeats.

    Raises ConfigError for a score that is no number in 0..1.
    """

    task_id: str
    status: Literal["scored", "error", "not_run"]
    hard: float = 0.0
    soft: float = 0.0
    samples: int = 1

    def __post_init__(self) -> None:
        for value in (self.hard, self.soft):
            if not (isinstance(value, (int, float)) and math.isfinite(value) and 0 <= value <= 1):
                raise ConfigError(
                    f"the judge scored task '{self.task_id}' {value!r}; a score is a number in 0..1",
                    hint="mend the judge; a broken one must not decide",
                )

    @property
    def scored(self) -> bool:
        return self.status == "scored"

    def value(self, metric: str, weight: float) -> Fraction:
        """The exact score that decides: hard, soft, or mixed = (1 - weight)·hard + weight·soft."""
        if metric == "mixed":
            share = exact(weight)
            return (1 - share) * exact(self.hard) + share * exact(self.soft)
        return exact(self.hard if metric == "hard" else self.soft)


@dataclass(frozen=True, slots=True)
class Scores:
    """One item for each task of a split. Means are over scored items; errors only lower the coverage."""

    items: tuple[Item, ...]

    def __post_init__(self) -> None:
        if len({item.task_id for item in self.items}) < len(self.items):
            raise ValueError("a task has more than one item")

    @property
    def scored(self) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.scored)

    @property
    def n_scored(self) -> int:
        return len(self.scored)

    @property
    def hard(self) -> float:
        return float(self.value("hard"))

    @property
    def soft(self) -> float:
        return float(self.value("soft"))

    @property
    def coverage(self) -> float:
        """Share of items that did not end as errors, 0..1; 0 without items."""
        return 1 - sum(item.status == "error" for item in self.items) / len(self.items) if self.items else 0.0

    def value(self, metric: str, weight: float = 0.5) -> Fraction:
        """The exact mean; 0 when nothing was scored."""
        return mean([item.value(metric, weight) for item in self.scored])


@dataclass(frozen=True, slots=True)
class Joined:
    """Two evaluations joined by task; tasks the first one could not measure are left out.

    ``measured`` are the tasks scored in both, ``failed`` and ``waiting`` those of the first alone: ended as an error
    (or missing), and not run. All in the order of the first. ``coverage`` is the share of all ``total`` tasks that the
    second neither failed to measure nor misses, ``samples`` the repeats of each of its items.
    """

    measured: tuple[Pair, ...]
    failed: tuple[Item, ...]
    waiting: tuple[Item, ...]
    total: int
    coverage: float
    samples: int

    @property
    def open(self) -> tuple[Item, ...]:
        return (*self.failed, *self.waiting)

    def at_best(self) -> tuple[Pair, ...]:
        """The pairs if every open task were solved: no completion is better for the second."""
        return (*self.measured, *((item, filled(item.task_id, 1.0, self.samples)) for item in self.open))

    def at_worst(self) -> tuple[Pair, ...]:
        """The pairs if every open task were failed."""
        return (*self.measured, *((item, filled(item.task_id, 0.0, self.samples)) for item in self.open))


def join(first: Scores, second: Scores, repeats: int = 1) -> Joined:
    """Join two evaluations of one split by task id, never by place.

    ``repeats`` are those of the second one's items, where none of them is there to tell.
    """
    by_id = {item.task_id: item for item in second.items}
    measured: list[Pair] = []
    failed: list[Item] = []
    waiting: list[Item] = []
    for item in first.scored:
        other = by_id.get(item.task_id)
        if other is not None and other.scored:
            measured.append((item, other))
        else:
            (waiting if other is not None and other.status == "not_run" else failed).append(item)
    lost = sum(item.status == "error" for item in second.items)
    tasks = {item.task_id for item in first.items} | by_id.keys()
    coverage = 1 - (lost + len(tasks) - len(by_id)) / max(1, len(tasks))
    return Joined(
        tuple(measured), tuple(failed), tuple(waiting), len(tasks), coverage, samples_of(second.items, repeats)
    )


def samples_of(items: Iterable[Item], otherwise: int) -> int:
    """The repeats of each scored item of an evaluation; ``otherwise`` when nothing was scored yet."""
    return next((item.samples for item in items if item.scored), otherwise)


@lru_cache(maxsize=8192)
def filled(task_id: str, score: float, samples: int) -> Item:
    """The item a task would have with this score."""
    return Item(task_id, "scored", score, score, samples)


def mean(values: Iterable[Fraction]) -> Fraction:
    """The exact mean; 0 of nothing."""
    some = list(values)
    return total(some) / len(some) if some else Fraction(0)


def total(values: Sequence[Fraction]) -> Fraction:
    """The exact sum, over one common denominator (faster than adding fractions one by one)."""
    denominator = math.lcm(*(value.denominator for value in values))
    return Fraction(sum(value.numerator * (denominator // value.denominator) for value in values), denominator)
