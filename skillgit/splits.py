"""Tasks, and what is visited when: splits, epochs, batches. Pure."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from skillgit.errors import TaskError

T = TypeVar("T")
SPLITS = ("train", "selection", "test")


@dataclass(frozen=True, slots=True)
class Task:
    """One task. ``answer`` is the reference, ``fields`` every further field of its record.

    ``split`` is the split the record asks for, "" to let the id decide.
    """

    id: str
    input: str
    answer: Any = None
    type: str = ""
    split: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)

    def digest(self) -> str:
        """Content address of what is asked and expected (12 hex); the split is no part of it."""
        content = [self.input, self.answer, self.type, dict(self.fields)]
        text = json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Splits:
    """The three splits, each in the order of the task file."""

    train: tuple[Task, ...]
    selection: tuple[Task, ...]
    test: tuple[Task, ...]


def assign(tasks: Sequence[Task], ratio: tuple[float, float, float], seed: int, *, min_selection: int = 1) -> Splits:
    """Part tasks into the splits they name, else by a hash of (seed, id) in ``ratio``.

    Adding or moving tasks moves no other task. Raises TaskError for duplicate ids, for equal inputs in two splits, for an
    unknown split, and when a split has too few tasks.
    """
    _refuse_duplicates(tasks)
    parts: dict[str, list[Task]] = {name: [] for name in SPLITS}
    for task in tasks:
        name = task.split or _split_of(task.id, ratio, seed)
        if name not in parts:
            raise TaskError(f"task '{task.id}' names the split '{name}'; allowed are {', '.join(SPLITS)}")
        parts[name].append(task)
    _refuse_overlap(parts)
    _demand(parts, ratio, len(tasks), min_selection)
    return Splits(*(tuple(parts[name]) for name in SPLITS))


def _split_of(task_id: str, ratio: tuple[float, float, float], seed: int) -> str:
    place = _number(seed, task_id) / 2**256 * sum(ratio)
    return SPLITS[0] if place < ratio[0] else SPLITS[1] if place < ratio[0] + ratio[1] else SPLITS[2]


def _refuse_duplicates(tasks: Sequence[Task]) -> None:
    twice = [task_id for task_id, count in Counter(task.id for task in tasks).items() if count > 1]
    if twice:
        raise TaskError(f"{len(twice)} task ids occur more than once: {_some(twice)}", hint="give each task its own id")


def _refuse_overlap(parts: Mapping[str, Sequence[Task]]) -> None:
    first: dict[str, tuple[str, str]] = {}
    for name, tasks in parts.items():
        for task in tasks:
            other, other_id = first.setdefault(_normalised(task), (name, task.id))
            if other != name:
                raise TaskError(
                    f"task '{task.id}' ({name}) asks the same as '{other_id}' ({other}); splits must not overlap",
                    hint='remove one of the two, or give both the same "split"',
                )


def _normalised(task: Task) -> str:
    return json.dumps([" ".join(task.input.casefold().split()), dict(task.fields)], sort_keys=True, default=str)


def _demand(
    parts: Mapping[str, Sequence[Task]], ratio: tuple[float, float, float], total: int, min_selection: int
) -> None:
    minimum = {"train": 1, "selection": min_selection, "test": 1}
    short = [name for name in SPLITS if len(parts[name]) < minimum[name]]
    if not short:
        return
    counts = ", ".join(f"{name} {len(parts[name])} (at least {minimum[name]})" for name in SPLITS)
    needed = max(math.ceil(minimum[n] * sum(ratio) / ratio[i]) for i, n in enumerate(SPLITS))
    raise TaskError(
        f"{total} tasks are too few: {counts}",
        hint=f"add tasks (about {max(needed, total + 1)} for this ratio), or name each task's split",
    )


def _some(values: Sequence[str], most: int = 5) -> str:
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(values[:most]) + more


def shuffled(items: Sequence[T], *seed_parts: object) -> tuple[T, ...]:
    """The items in an order that follows from the seed parts alone."""
    order = list(items)
    random.Random(_number(*seed_parts)).shuffle(order)
    return tuple(order)


def _number(*parts: object) -> int:
    text = "\0".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), "big")


def epoch_order(tasks: Sequence[Task], seed: int, epoch: int) -> tuple[Task, ...]:
    """Every task once, in this epoch's order."""
    return shuffled(tasks, "epoch", seed, epoch)


def step_batches(
    tasks: Sequence[Task], *, batch_size: int, accumulation: int, seed: int, epoch: int
) -> tuple[tuple[Task, ...], ...]:
    """The tasks of each step of an epoch: ``accumulation`` batches together; the last step may be smaller."""
    return _cut(epoch_order(tasks, seed, epoch), batch_size * accumulation)


def steps_per_epoch(n_train: int, batch_size: int, accumulation: int) -> int:
    """ceil(n_train / (batch_size * accumulation))."""
    return math.ceil(n_train / (batch_size * accumulation))


def minibatches(items: Sequence[T], size: int, seed_parts: tuple[object, ...]) -> tuple[tuple[T, ...], ...]:
    """The items shuffled from a seed and cut into groups of ``size``; the last may be smaller."""
    return _cut(shuffled(items, "minibatch", *seed_parts), size)


def _cut(items: tuple[T, ...], size: int) -> tuple[tuple[T, ...], ...]:
    return tuple(items[start : start + size] for start in range(0, len(items), size))
