"""SearchQA: contexts cut to size, and two scorers for ``judge.function``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from skillgit.env import Environment
from skillgit.judges.base import PASSED, Judgement, failed, references
from skillgit.splits import Task

from .scoring import exact, f1, joined, near_miss, normalized, parted

MARK = "[DOC]"
CUT = " [cut]"


def tasks(env: Environment) -> list[Task]:
    """The tasks with their contexts cut to ``options.context_chars``; a task without one has an empty context."""
    most = env.settings.options.get("context_chars")
    return [
        replace(
            task, type=task.type or "qa", fields={**task.fields, "context": shortened(task.fields.get("context"), most)}
        )
        for task in env.file_tasks()
    ]


def shortened(context: object, most: int | None) -> str:
    """Whole passages up to ``most`` characters; if the first one is longer, its beginning and a mark."""
    text = "" if context is None else str(context)
    if most is None or len(text) <= most:
        return text
    end = text.rfind(MARK, 1, most + len(MARK))
    return text[:end].rstrip() if end > 0 else text[:most] + CUT


def reference(task: Task, answer: str) -> Judgement:
    """The paper's: hard is exact match, soft token F1."""
    golds = references(task)
    return _judged(task, answer, exact(answer, golds), f1(answer, golds, normalized))


def unicode(task: Task, answer: str) -> Judgement:
    """The same with accents folded and all punctuation left out, or read as a space: the kinder of the two."""
    golds = references(task)
    forms: tuple[Callable[[str], str], ...] = (joined, parted)
    right = any(exact(answer, golds, form) for form in forms)
    return _judged(task, answer, right, max(f1(answer, golds, form) for form in forms))


def _judged(task: Task, answer: str, right: bool, soft: float) -> Judgement:
    if not answer.strip():  # some references are but an article, and would equal nothing
        return failed(task, answer)
    return PASSED if right else failed(task, answer, soft, note=near_miss(answer, references(task)))
