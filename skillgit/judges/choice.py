"""The judge of labels from a closed set."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from skillgit.errors import TaskError
from skillgit.judges.base import PASSED, Judge, Judgement, as_text, failed, references
from skillgit.splits import Task


class Choice(Judge):
    """The right label of a closed set. Case, brackets, quotes and a closing full stop do not count."""

    choices: list[Any] = Field(default_factory=list, description="the labels of every task")
    field: str = Field("choices", description="the task field that holds the task's own list of labels")

    def __call__(self, task: Task, answer: str) -> Judgement:
        known = [as_text(choice) for choice in (*self.choices, *self._own(task))]
        labels = {label(choice) for choice in known}
        right = {label(reference) for reference in references(task)}
        if known and not right <= labels:
            raise TaskError(
                f"task '{task.id}': the answer {task.answer!r} is not one of the choices: {', '.join(known)}"
            )
        got = label(answer)
        if got in right:
            return PASSED
        outside = known and got not in labels
        return failed(task, answer, note=f"which is none of: {', '.join(known)}" if outside else "")

    def _own(self, task: Task) -> list[Any]:
        own = task.fields.get(self.field)
        if own is None:
            return []
        if not isinstance(own, (list, tuple)):
            raise TaskError(f"task '{task.id}': the field '{self.field}' must be a list of labels, not {own!r}")
        return list(own)


def label(text: str) -> str:
    """What of a label counts."""
    return text.strip().strip("()[]{}.:,;*`'\" ").casefold()
