"""Tasks, and what is visited when: splits, epochs, batches. Pure."""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from decimal import Decimal
from pathlib import PurePath
from typing import Any, TypeVar

from skillgit.errors import TaskError

T = TypeVar("T")
Ratio = tuple[float, float, float]
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
        """Content address of what is asked and expected (12 hex); id and split are no part of it.

        Raises TaskError for a field that has no one way to be written down.
        """
        text = _canonical(self, [self.input, self.answer, self.type, dict(self.fields)])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _canonical(task: Task, content: object) -> str:
    try:
        return json.dumps(content, sort_keys=True, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError) as problem:
        raise TaskError(
            f"task '{task.id}' cannot be written as JSON: {problem}",
            hint="give tasks text, numbers, lists and mappings only",
        ) from None


def _plain(value: object) -> object:
    if isinstance(value, (date, time, Decimal, PurePath)):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"{type(value).__name__} {value!r:.40}")


@dataclass(frozen=True, slots=True)
class Splits:
    """The three splits, each in the order of the task file."""

    train: tuple[Task, ...]
    selection: tuple[Task, ...]
    test: tuple[Task, ...]


def assign(tasks: Sequence[Task], ratio: Ratio, seed: int, *, min_selection: int = 1) -> Splits:
    """Part tasks into the splits they name, else by a hash of (seed, id) in ``ratio``.

    Adding or moving tasks moves no other task. Raises TaskError for duplicate ids, for equal contents in two splits,
    for an unknown split, and when a split has too few tasks: nothing is ever borrowed from another split.
    """
    _refuse_duplicates(tasks)
    parts = part(tasks, ratio, seed)
    _refuse_overlap(parts)
    _demand(parts, ratio, min_selection)
    return Splits(*(tuple(parts[name]) for name in SPLITS))


def part(tasks: Sequence[Task], ratio: Ratio, seed: int) -> dict[str, list[Task]]:
    """The tasks of each split, as ``assign`` parts them, however few they are. Raises TaskError for an unknown split."""
    _refuse_unknown(tasks)
    parts: dict[str, list[Task]] = {name: [] for name in SPLITS}
    for task in tasks:
        parts[task.split or split_of(task.id, ratio, seed)].append(task)
    return parts


def split_of(task_id: str, ratio: Ratio, seed: int) -> str:
    """The split of a task that names none."""
    share = place(task_id, seed) * sum(ratio)
    return SPLITS[0] if share < ratio[0] else SPLITS[1] if share < ratio[0] + ratio[1] else SPLITS[2]


def place(task_id: str, seed: int) -> float:
    """Where in 0..1 the hash of (seed, id) falls."""
    return _number(seed, task_id) / 2**256


def _refuse_duplicates(tasks: Sequence[Task]) -> None:
    twice = [task_id for task_id, count in Counter(task.id for task in tasks).items() if count > 1]
    if twice:
        noun = "task id occurs" if len(twice) == 1 else "task ids occur"
        raise TaskError(f"{len(twice)} {noun} more than once: {_some(twice)}", hint="give each task its own id")


def _refuse_unknown(tasks: Sequence[Task]) -> None:
    for task in tasks:
        if task.split and task.split not in SPLITS:
            raise TaskError(f"task '{task.id}' names the split '{task.split}'; allowed are {', '.join(SPLITS)}")


def _refuse_overlap(parts: Mapping[str, Sequence[Task]]) -> None:
    first: dict[str, tuple[str, str]] = {}
    found = []
    for name, tasks in parts.items():
        for task in tasks:
            other, other_id = first.setdefault(asked(task), (name, task.id))
            if other != name:
                found.append(f"'{task.id}' ({name}) asks the same as '{other_id}' ({other})")
    if found:
        raise TaskError(
            f"splits must not overlap: {_some(found)}",
            hint='remove one of the two, or give both the same "split"',
        )


def asked(task: Task) -> str:
    """What a task asks, without case, white space and width forms; the reference answer may differ."""
    return _canonical(task, _folded([task.input, dict(task.fields)]))


def _folded(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(unicodedata.normalize("NFKC", value).casefold().split())
    if isinstance(value, Mapping):
        return {str(key): _folded(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_folded(inner) for inner in value]
    return value


def _demand(parts: Mapping[str, Sequence[Task]], ratio: Ratio, min_selection: int) -> None:
    minimum = {"train": 1, "selection": min_selection, "test": 1}
    if all(len(parts[name]) >= minimum[name] for name in SPLITS):
        return
    total = sum(len(tasks) for tasks in parts.values())
    counts = ", ".join(f"{name} {len(parts[name])} (at least {minimum[name]})" for name in SPLITS)
    needed = max(_enough(minimum[name], part / sum(ratio)) for name, part in zip(SPLITS, ratio, strict=True))
    raise TaskError(
        f"{total} task{'s are' if total != 1 else ' is'} too few: {counts}",
        hint=f"have about {max(needed, total + 1)} tasks for the ratio {_shown(ratio)}, or name each task's split",
    )


def _enough(minimum: int, share: float) -> int:
    """Tasks that give a split of this share its minimum in all but a few seeds: mean less two deviations.

    Solves n·share - 2·sqrt(n·share·(1 - share)) = minimum for n.
    """
    spread = math.sqrt(share * (1 - share))
    root = (spread + math.sqrt(spread**2 + share * minimum)) / share
    return math.ceil(root**2 - 1e-9)


def _shown(ratio: Ratio) -> str:
    return ":".join(f"{part:g}" for part in ratio)


def _some(values: Sequence[str], most: int = 5) -> str:
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(values[:most]) + more


def shuffled(items: Sequence[T], *seed_parts: object) -> tuple[T, ...]:
    """The items in an order that follows from the seed parts alone, on every version of Python.

    They are sorted by a hash of seed and place: ``random.shuffle`` does not promise to stay as it is.
    """
    places = sorted(range(len(items)), key=lambda place: _number(*seed_parts, place))
    return tuple(items[place] for place in places)


def _number(*parts: object) -> int:
    text = "\0".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), "big")


def epoch_order(tasks: Sequence[Task], seed: int, epoch: int) -> tuple[Task, ...]:
    """Every task once, in this epoch's order, whatever order they are given in."""
    return tuple(sorted(tasks, key=lambda task: _number("epoch", seed, epoch, task.id)))


def step_batches(
    tasks: Sequence[Task], *, batch_size: int, accumulation: int, seed: int, epoch: int
) -> tuple[tuple[Task, ...], ...]:
    """The tasks of each step of an epoch: ``accumulation`` batches together; the last step may be smaller."""
    return _cut(epoch_order(tasks, seed, epoch), batch_size * accumulation)


def steps_per_epoch(n_train: int, batch_size: int, accumulation: int) -> int:
    """ceil(n_train / (batch_size * accumulation))."""
    return -(-n_train // (batch_size * accumulation))


def minibatches(items: Sequence[T], size: int, seed_parts: Iterable[object]) -> tuple[tuple[T, ...], ...]:
    """The items shuffled from a seed and cut into groups of ``size``; the last may be smaller."""
    return _cut(shuffled(items, "minibatch", *seed_parts), size)


def _cut(items: tuple[T, ...], size: int) -> tuple[tuple[T, ...], ...]:
    return tuple(items[start : start + size] for start in range(0, len(items), size))
