"""The gate: does a candidate measurably help? Scores, verdicts and policies. Pure.

Scores are compared as exact fractions of what the judges gave (every float is a fraction), so that equal results compare
equal in whatever order they are summed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal

from skillgit.config import GateSettings
from skillgit.errors import ConfigError

Z95 = 1.959963984540054
Action = Literal["accept", "accept_new_best", "reject", "undecided"]
_GRAIN = 10**9
"""Judges' floats are read to nine decimals, so that 0.1 + 0.2 is 0.3."""


@dataclass(frozen=True, slots=True)
class Item:
    """The result of one task; with repeats, hard and soft (0..1) are means over them."""

    task_id: str
    status: Literal["scored", "error", "not_run"]
    hard: float = 0.0
    soft: float = 0.0

    def __post_init__(self) -> None:
        for value in (self.hard, self.soft):
            if not (math.isfinite(value) and 0 <= value <= 1):
                raise ConfigError(f"the judge scored task '{self.task_id}' {value}; a score is a number in 0..1")

    def value(self, metric: str, weight: float) -> Fraction:
        """The exact score that decides."""
        hard, soft = _exact(self.hard), _exact(self.soft)
        if metric == "mixed":
            share = _exact(weight)
            return (1 - share) * hard + share * soft
        return hard if metric == "hard" else soft


def _exact(value: float) -> Fraction:
    return Fraction(round(value * _GRAIN), _GRAIN)


@dataclass(frozen=True, slots=True)
class Scores:
    """One item for each task of a split. Means are over scored items; errors only lower the coverage."""

    items: tuple[Item, ...]

    @property
    def scored(self) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.status == "scored")

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
        """Share of items that did not end as errors, 0..1."""
        return 1 - sum(item.status == "error" for item in self.items) / len(self.items) if self.items else 0.0

    def value(self, metric: str, weight: float = 0.5) -> Fraction:
        """The exact mean; 0 when nothing was scored."""
        values = [item.value(metric, weight) for item in self.scored]
        return sum(values, Fraction(0)) / len(values) if values else Fraction(0)


@dataclass(frozen=True, slots=True)
class Movement:
    """How tasks moved from the current skill to the candidate."""

    fixed: tuple[str, ...]
    broken: tuple[str, ...]
    unchanged: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate said, and on what grounds.

    ``interval`` is the 95 % interval of the paired difference; ``upper_bound`` says that the evaluation was stopped early, so
    ``after`` is what the candidate could have reached at most.
    """

    action: Action
    policy: str
    reason: str
    before: float
    after: float
    best: float
    delta: float
    interval: tuple[float, float]
    movement: Movement
    evaluated: int
    total: int
    upper_bound: bool
    p_value: float | None = None

    @property
    def accepted(self) -> bool:
        return self.action in ("accept", "accept_new_best")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Verdict:
        moved = data["movement"]
        movement = Movement(tuple(moved["fixed"]), tuple(moved["broken"]), moved["unchanged"])
        low, high = data["interval"]
        return cls(**{**data, "movement": movement, "interval": (low, high)})


def decide(
    settings: GateSettings, current: Scores, candidate: Scores, best: Scores, *, look: int = 1, looks: int = 1
) -> Verdict:
    """Accept the candidate or not, by the tasks that both were scored on.

    Tasks the candidate was not run on count as if it had solved them, so a stopped evaluation gives an upper bound and
    can only be rejected.
    """
    metric, weight = settings.metric, settings.mixed_weight
    pairs = _pairs(current, candidate)
    stopped = any(item.status == "not_run" for item in candidate.items)
    before = _mean([a.value(metric, weight) for a, _ in pairs])
    after = _mean([b.value(metric, weight) if b.status == "scored" else Fraction(1) for _, b in pairs])
    measured = [(a, b) for a, b in pairs if b.status == "scored"]
    differences = [b.value(metric, weight) - a.value(metric, weight) for a, b in measured]
    action, reason = _strict(settings, candidate, before, after, best.value(metric, weight), stopped)
    return Verdict(
        action,
        settings.policy,
        reason,
        before=_shown(before),
        after=_shown(after),
        best=_shown(best.value(metric, weight)),
        delta=_shown(after - before),
        interval=paired_interval([float(value) for value in differences]),
        movement=_movement(measured, metric, weight),
        evaluated=len(measured),
        total=len(candidate.items),
        upper_bound=stopped,
    )


def _strict(
    settings: GateSettings, candidate: Scores, before: Fraction, after: Fraction, best: Fraction, stopped: bool
) -> tuple[Action, str]:
    if candidate.coverage < settings.min_coverage:
        return "undecided", f"only {candidate.coverage:.0%} of the tasks could be measured"
    if after <= before:
        word = "can at most reach" if stopped else "scores"
        relation = "no more than" if after == before else "less than"
        return "reject", f"the candidate {word} {float(after):.4f}, {relation} the current {float(before):.4f}"
    reason = f"{float(after):.4f} is more than {float(before):.4f}"
    return ("accept_new_best" if after > best else "accept"), reason


def _pairs(current: Scores, candidate: Scores) -> list[tuple[Item, Item]]:
    by_id = {item.task_id: item for item in current.scored}
    return [(by_id[c.task_id], c) for c in candidate.items if c.status != "error" and c.task_id in by_id]


def _movement(pairs: Sequence[tuple[Item, Item]], metric: str, weight: float) -> Movement:
    moves = {b.task_id: b.value(metric, weight) - a.value(metric, weight) for a, b in pairs}
    fixed = tuple(task_id for task_id, move in moves.items() if move > 0)
    broken = tuple(task_id for task_id, move in moves.items() if move < 0)
    return Movement(fixed, broken, len(moves) - len(fixed) - len(broken))


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values) if values else Fraction(0)


def _shown(value: Fraction) -> float:
    return round(float(value), 6)


def order(current: Scores) -> tuple[str, ...]:
    """Task ids, those the current skill does best at first: where a candidate can lose, it loses early."""
    return tuple(item.task_id for item in sorted(current.items, key=lambda item: (-item.hard, -item.soft)))


class EarlyStop:
    """Says when no completion of an evaluation could be accepted any more (policy ``strict``).

    The remaining tasks may succeed or end as errors; an error takes its task out of both means, so the best case for the
    candidate counts each remaining task at its most favourable.
    """

    def __init__(self, settings: GateSettings, current: Scores, total: int, *, look: int = 1, looks: int = 1) -> None:
        self._metric, self._weight = settings.metric, settings.mixed_weight
        self._current = {item.task_id: item.value(self._metric, self._weight) for item in current.scored}
        self._total = total

    def settled(self, prefix: Sequence[Item]) -> bool:
        """Whether a reject is certain after these items, in whatever way the rest ends."""
        if len(prefix) >= self._total:
            return False
        seen = {item.task_id for item in prefix}
        lost = [
            item.value(self._metric, self._weight) - self._current[item.task_id]
            for item in prefix
            if item.status == "scored" and item.task_id in self._current
        ]
        rest = [1 - value for task_id, value in self._current.items() if task_id not in seen]
        return sum(lost, Fraction(0)) + sum(rest, Fraction(0)) <= 0


def interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """A 95 % interval for a mean of scores in 0..1: Wilson's for 0/1 values, the normal one (clipped) for graded ones."""
    n = len(values)
    if n == 0:
        return (0.0, 1.0)
    mean = math.fsum(values) / n
    if all(value in (0, 1) for value in values):
        centre = (mean + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
        half = Z95 * math.sqrt(mean * (1 - mean) / n + Z95**2 / (4 * n * n)) / (1 + Z95**2 / n)
    else:
        spread = math.fsum((value - mean) ** 2 for value in values) / max(1, n - 1)
        centre, half = mean, Z95 * math.sqrt(spread / n)
    return (max(0.0, centre - half), min(1.0, centre + half))


def paired_interval(differences: Sequence[float]) -> tuple[float, float]:
    """A normal 95 % interval for the mean paired difference, in -1..1."""
    n = len(differences)
    if n < 2:
        return (-1.0, 1.0)
    mean = math.fsum(differences) / n
    spread = math.fsum((value - mean) ** 2 for value in differences) / (n - 1)
    half = Z95 * math.sqrt(spread / n)
    return (round(max(-1.0, mean - half), 6), round(min(1.0, mean + half), 6))
