"""Judges: ways to score an answer, each giving hard (0 or 1) and soft (0..1) and a reason for a failure.

Adding one is a class with its options as fields and ``__call__(task, answer)``, and a row in ``JUDGES``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from skillgit.config import JudgeSettings
from skillgit.errors import ConfigError, TaskError
from skillgit.judges.answer import extract
from skillgit.judges.base import Judge, Judgement, references
from skillgit.judges.choice import Choice
from skillgit.judges.command import Command
from skillgit.judges.dates import Date
from skillgit.judges.function import Python, demand_scores, to_judgement
from skillgit.judges.number import Number
from skillgit.judges.objects import Json
from skillgit.judges.rubric import Rubric
from skillgit.judges.text import Contains, Exact, Normalized, Regex
from skillgit.setting_errors import describe, nearest
from skillgit.splits import Task

__all__ = [
    "JUDGES",
    "Judge",
    "Judgement",
    "Rubric",
    "check",
    "check_one",
    "demand_scores",
    "extract",
    "make",
    "references",
    "to_judgement",
]

JUDGES: dict[str, type[Judge]] = {
    "exact": Exact,
    "normalized": Normalized,
    "contains": Contains,
    "regex": Regex,
    "choice": Choice,
    "number": Number,
    "date": Date,
    "json": Json,
    "python": Python,
    "command": Command,
    "rubric": Rubric,
}
BROKEN = "mend the judge or the task; a broken judge would look like a bad skill"


def make(settings: JudgeSettings, module: Any = None, folder: Path = Path()) -> Judge:
    """The judge of these settings; ``module`` is env.py, if there is one, and ``folder`` where it is.

    Raises ConfigError naming a kind or option.
    """
    kind = JUDGES.get(settings.kind)
    if kind is None:
        raise ConfigError(f"judge.kind: there is no judge '{settings.kind}'; {nearest(settings.kind, JUDGES)}")
    try:
        judge = kind.model_validate(settings.options)
    except ValidationError as error:
        raise ConfigError(describe(error, kind, f"judge '{settings.kind}'", prefix="judge.")) from None
    if isinstance(judge, Python):
        judge.bind(module)
    if isinstance(judge, Command):
        judge.place(folder)
    return judge


def check(judge: Judge, tasks: Iterable[Task]) -> None:
    """Raise ConfigError when a reference answer fails its own judge or is missing, or an empty answer passes."""
    for task in tasks:
        check_empty(judge, task)
        golds = judge.golds(task)
        if judge.needs_answer and not golds:
            raise TaskError(f"task '{task.id}' has no answer to judge by", hint="give it one, or use another judge")
        for gold in golds:
            judgement = judge(task, gold)
            if judgement.hard < 1:
                raise ConfigError(
                    f"the judge fails the reference answer of task '{task.id}': {judgement.reason}", hint=BROKEN
                )


async def check_one(judge: Judge, task: Task) -> None:
    """As ``check``, for a judge that costs: one task stands for all. Raises ConfigError."""
    if (await judge.judge(task, "")).hard > 0:
        raise ConfigError(
            f"the judge passes an empty answer to task '{task.id}'; it would measure nothing", hint=BROKEN
        )
    for gold in judge.golds(task)[:1]:
        judgement = await judge.judge(task, gold)
        if judgement.hard < 1:
            raise ConfigError(
                f"the judge fails the reference answer of task '{task.id}': {judgement.reason}", hint=BROKEN
            )


def check_empty(score: Callable[[Task, str], Judgement], task: Task) -> None:
    """Raise ConfigError when an empty answer passes."""
    if score(task, "").hard > 0:
        raise ConfigError(
            f"the judge passes an empty answer to task '{task.id}'; it would measure nothing", hint=BROKEN
        )
