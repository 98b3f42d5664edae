"""The epoch's comparison: the same train tasks under the skill of the epoch before and under the current one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from skillgit.env import Trajectory
from skillgit.rollout import Rollouts, Text
from skillgit.splits import Task, shuffled

Kind = Literal["improved", "regressed", "persistent", "stable"]
KINDS: tuple[Kind, ...] = ("improved", "regressed", "persistent", "stable")


@dataclass(frozen=True, slots=True)
class Pair:
    """One task under two versions of the skill."""

    task: Task
    before: Trajectory
    after: Trajectory

    @property
    def kind(self) -> Kind:
        """By the hard score, and by the soft one where hard says nothing."""
        before, after = (self.before.hard, self.before.soft), (self.after.hard, self.after.soft)
        if before != after:
            return "improved" if after > before else "regressed"
        return "stable" if self.after.hard > 0 else "persistent"


Shown = Literal["mixed", "changed", "unchanged"]
SHOWN: dict[Shown, tuple[Kind, ...]] = {
    "mixed": KINDS,
    "changed": ("improved", "regressed"),
    "unchanged": ("persistent", "stable"),
}


async def compare(
    rollouts: Rollouts,
    tasks: Sequence[Task],
    before: Text,
    after: Text,
    *,
    samples: int,
    shown: Shown,
    seed_parts: tuple[object, ...],
    min_coverage: float,
) -> tuple[Pair, ...]:
    """Pairs for a sample of the tasks; a task that could not be measured under both versions is left out.

    With ``changed`` further tasks are scanned, a sample at a time, until ``samples`` pairs changed or all were compared.
    """
    order, same = shuffled(tasks, "longitudinal", *seed_parts), before.blob == after.blob
    pairs: list[Pair] = []
    for start in range(0, len(order), samples):
        chosen = order[start : start + samples]
        old = await rollouts.batch(before, chosen, min_coverage=min_coverage)
        new = old if same else await rollouts.batch(after, chosen, min_coverage=min_coverage)
        pairs += (Pair(t, a, b) for t, a, b in zip(chosen, old, new, strict=True) if not (a.error or b.error))
        if shown != "changed" or same or len(chosen_pairs(pairs, shown, samples)) >= samples:
            break
    return tuple(pairs)


def chosen_pairs(pairs: Sequence[Pair], shown: Shown, samples: int) -> tuple[Pair, ...]:
    """The pairs that the optimizer is shown, ``samples`` at most."""
    return tuple(pair for pair in pairs if pair.kind in SHOWN[shown])[:samples]


def movement(pairs: Sequence[Pair]) -> dict[str, list[str]]:
    """Task ids by kind of movement."""
    return {kind: [pair.task.id for pair in pairs if pair.kind == kind] for kind in KINDS}
