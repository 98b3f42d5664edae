"""Which task goes into which split, and why. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillgit.splits import Task, place, split_of

if TYPE_CHECKING:
    from skillgit.config import Settings


@dataclass(frozen=True, slots=True)
class Placed:
    """A task's split. ``place`` is where in 0..1 the hash of (split.seed, id) falls, None where the task names its split."""

    id: str
    type: str
    split: str
    why: str
    place: float | None


def placed(tasks: Sequence[Task], settings: Settings) -> list[Placed]:
    """Where each task goes."""
    return [_placed(task, settings) for task in tasks]


def _placed(task: Task, settings: Settings) -> Placed:
    if task.split:
        return Placed(task.id, task.type, task.split, "it names its split", None)
    ratio, seed = settings.split.ratio, settings.split.seed
    at, ends = place(task.id, seed), (ratio[0] / sum(ratio), (ratio[0] + ratio[1]) / sum(ratio))
    split = split_of(task.id, ratio, seed)
    low, high = {"train": (0.0, ends[0]), "selection": ends, "test": (ends[1], 1.0)}[split]
    why = f"the hash of its id with seed {seed} is {at:.3f}, in {low:.3f} to {high:.3f}"
    return Placed(task.id, task.type, split, why, round(at, 6))
