"""Scores of a text, kept on its content: equal text is never measured twice, on any branch or clone.

A note on the skill's blob holds one JSON line per recorded evaluation::

    {"env": "3f9c…", "target": "openai:gpt-5.5#a1b2c3d4", "sample": 0, "items": {"task-7": [1, 1, "9d0e…"]}}

``items`` maps a task to [hard, soft, digest of the task], so a task whose content changed is measured again. Two notes
merge by the union of their lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillgit.splits import Task

Known = dict[tuple[str, int], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Measured:
    """One scored rollout: task, repeat index, hard and soft in 0..1."""

    task: Task
    sample: int
    hard: float
    soft: float


def note_lines(env: str, target: str, measured: Iterable[Measured]) -> str:
    """The lines that record these scores, one a repeat index; "" for none."""
    samples: dict[int, dict[str, list[Any]]] = {}
    for item in measured:
        samples.setdefault(item.sample, {})[item.task.id] = [_short(item.hard), _short(item.soft), item.task.digest()]
    return "".join(
        json.dumps({"env": env, "target": target, "sample": sample, "items": items}, ensure_ascii=False) + "\n"
        for sample, items in sorted(samples.items())
    )


def _short(value: float) -> float:
    return int(value) if value in (0, 1) else value


class ScoreBook:
    """What is known of a text under one environment and one target.

    ``read`` gives the note of a blob ("" when there is none).
    """

    def __init__(self, env: str, target: str, read: Callable[[str], str]) -> None:
        self.env = env
        self.target = target
        self._read = read
        self._pending: dict[str, list[Measured]] = {}

    def known(self, blob: str, tasks: Iterable[Task]) -> Known:
        """Scores by (task id, repeat index) for those of ``tasks`` whose content was measured with this text."""
        wanted = {task.id: task.digest() for task in tasks}
        found: Known = {}
        for line in self._read(blob).splitlines():
            for task_id, sample, hard, soft, digest in self._items(line):
                if wanted.get(task_id) == digest:
                    found[task_id, sample] = (hard, soft)
        for item in self._pending.get(blob, ()):
            if wanted.get(item.task.id) == item.task.digest():
                found[item.task.id, item.sample] = (item.hard, item.soft)
        return found

    def lines(self, blob: str, tasks: Sequence[Task], samples: int) -> str:
        """Note lines of all that is known of this text on these tasks, the first ``samples`` repeats of each."""
        known = self.known(blob, tasks)
        found = ((task, sample, known.get((task.id, sample))) for sample in range(samples) for task in tasks)
        return note_lines(self.env, self.target, (Measured(t, s, *score) for t, s, score in found if score))

    def add(self, blob: str, measured: Iterable[Measured]) -> None:
        """Remember new scores until ``take`` hands them to the next publication."""
        self._pending.setdefault(blob, []).extend(measured)

    def take(self) -> dict[str, str]:
        """Blob -> note lines of all new scores since the last call."""
        pending, self._pending = self._pending, {}
        lines = {blob: note_lines(self.env, self.target, items) for blob, items in pending.items()}
        return {blob: text for blob, text in lines.items() if text}

    def _items(self, line: str) -> Iterable[tuple[str, int, float, float, str]]:
        record = parse_line(line)
        if record is None or record["env"] != self.env or record["target"] != self.target:
            return
        for task_id, (hard, soft, digest) in record["items"].items():
            yield task_id, record["sample"], hard, soft, digest


def parse_line(line: str) -> Mapping[str, Any] | None:
    """The record of a note line; None for a line that is not one (a person may write notes too)."""
    try:
        record = json.loads(line)
        ok = {"env", "target", "sample", "items"} <= record.keys()
        ok = ok and all(len(item) == 3 for item in record["items"].values())
    except (ValueError, AttributeError, TypeError):
        return None
    return record if ok else None
