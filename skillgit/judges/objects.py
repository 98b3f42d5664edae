"""The judge of JSON objects."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from skillgit.errors import TaskError
from skillgit.judges.base import PASSED, Judge, Judgement, clipped
from skillgit.splits import Task


class Json(Judge):
    """A JSON object with a reference's fields, in a code fence or not; soft is the share of fields that agree.

    A field that the reference does not have counts as a wrong one, unless ``fields`` says which ones count.
    """

    fields: list[str] = Field(default_factory=list, description="the fields that count; all, when none are named")

    def __call__(self, task: Task, answer: str) -> Judgement:
        got = _loads(_unfenced(answer))
        golds = _golds(task)
        if not isinstance(got, Mapping):
            wanted = clipped(json.dumps(golds[0], ensure_ascii=False, default=str)) if golds else "{...}"
            return Judgement(0.0, 0.0, f"expected the JSON object {wanted}, got {clipped(answer)!r}, which is none")
        return max((self._compared(got, gold) for gold in golds), key=lambda judgement: judgement.soft)

    def _compared(self, got: Mapping[str, Any], gold: Mapping[str, Any]) -> Judgement:
        names = self.fields or list(gold)
        extra = [] if self.fields else [name for name in got if name not in gold]
        wrong = [name for name in names if not (name in got and name in gold and same(got[name], gold[name]))]
        if not wrong and not extra:
            return PASSED
        shown = [f"{name}: expected {_shown(gold, name)}, got {_shown(got, name)}" for name in wrong]
        shown += [f"{name}: not asked for" for name in extra]
        return Judgement(0.0, (len(names) - len(wrong)) / (len(names) + len(extra)), clipped("; ".join(shown)))


def _golds(task: Task) -> list[Mapping[str, Any]]:
    values = task.answer if isinstance(task.answer, (list, tuple)) else [task.answer]
    golds = [_loads(value) if isinstance(value, str) else value for value in values if value is not None]
    if not golds or not all(isinstance(gold, Mapping) for gold in golds):
        raise TaskError(f"task '{task.id}': the answer must be a JSON object, or a list of such, not {task.answer!r}")
    return golds


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 and 1.0 are, 1 and true are not."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _shown(data: Mapping[str, Any], name: str) -> str:
    return json.dumps(data[name], ensure_ascii=False, default=str) if name in data else "nothing"


def _unfenced(text: str) -> str:
    match = re.fullmatch(r"\s*```[^\n]*\n(.*?)\n?```\s*", text, re.DOTALL)
    return match[1] if match else text


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
