"""What a run has spent, across interruptions: the journal's total, plus what the ledger holds since its tip."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from skillgit.memo import Memo
from skillgit.models import base
from skillgit.models.base import NO_USAGE, Usage

Spent = dict[tuple[str, str], Usage]
"""Usage by (stage, role)."""


class Spending:
    """Adds up calls by stage and role, and writes each into the memo's ledger at once.

    ``journal`` is the journal's tip, ``before`` the total up to it. A call that was paid but whose step was killed is
    found again in the ledger, so no money is forgotten.
    """

    def __init__(
        self, memo: Memo, skill: str, journal: str, before: Spent, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._memo = memo
        self._skill = skill
        self._journal = journal
        self._before = dict(before)
        self._since = memo.spent(skill, journal)
        self._seconds: dict[str, float] = {}
        self._clock = clock

    def add(self, role: str, usage: Usage) -> None:
        """Count a paid call of the current stage."""
        stage = base.stage.get()
        self._since[stage, role] = self._since.get((stage, role), NO_USAGE) + usage
        self._memo.spend(self._skill, self._journal, stage, role, usage)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Calls and wall time inside belong to this stage."""
        token = base.stage.set(name)
        began = self._clock()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + self._clock() - began
            base.stage.reset(token)

    def since_last(self) -> dict[str, Any]:
        """Spend and seconds since the last journal entry, and the total, for spend.yaml."""
        seconds = {stage: round(value, 3) for stage, value in self._seconds.items()}
        return {"seconds": seconds, "spent": as_rows(self._since), "total": as_rows(added(self._before, self._since))}

    def published(self, journal: str) -> None:
        """The journal has a new tip that holds ``since_last``."""
        self._before = added(self._before, self._since)
        self._since, self._seconds, self._journal = {}, {}, journal

    def total(self) -> dict[str, Any]:
        """The run's spend so far, overall and by stage."""
        spent = added(self._before, self._since)
        return {**figures(sum_up(spent)), "stages": as_rows(spent)}

    def difference(self, before: Usage) -> dict[str, Any]:
        """What was spent since ``usage`` was ``before``."""
        return figures(minus(self.usage(), before))

    def usage(self) -> Usage:
        """The run's spend so far, both roles together."""
        return sum_up(added(self._before, self._since))


def minus(one: Usage, other: Usage) -> Usage:
    """What came on top of ``other``."""
    usd = None if one.usd is None or other.usd is None else one.usd - other.usd
    return Usage(
        one.input_tokens - other.input_tokens,
        one.output_tokens - other.output_tokens,
        one.cached_tokens - other.cached_tokens,
        usd,
        one.calls - other.calls,
    )


def added(one: Mapping[tuple[str, str], Usage], other: Mapping[tuple[str, str], Usage]) -> Spent:
    """The sum of two spends, stage by stage."""
    keys = [*one, *(key for key in other if key not in one)]
    return {key: one.get(key, NO_USAGE) + other.get(key, NO_USAGE) for key in keys}


def sum_up(spent: Mapping[tuple[str, str], Usage]) -> Usage:
    total = NO_USAGE
    for usage in spent.values():
        total = total + usage
    return total


def figures(usage: Usage) -> dict[str, Any]:
    return {
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "usd": None if usage.usd is None else round(usage.usd, 6),
    }


def as_rows(spent: Mapping[tuple[str, str], Usage]) -> list[dict[str, Any]]:
    """One row a stage and role."""
    return [{"stage": stage, "role": role, **figures(usage)} for (stage, role), usage in spent.items()]


def from_rows(rows: list[Mapping[str, Any]]) -> Spent:
    """The spend that ``as_rows`` wrote."""
    spent: Spent = {}
    for row in rows:
        usage = Usage(row["input_tokens"], row["output_tokens"], row["cached_tokens"], row["usd"], row["calls"])
        spent[row["stage"], row["role"]] = usage
    return spent
