"""Whether the judge measures anything: reference answers must pass, an empty and a wrong answer must not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skillgit.errors import SkillgitError
from skillgit.judges import Rubric
from skillgit.taskset.finding import Finding, error, warning

if TYPE_CHECKING:
    from skillgit.env import Environment
    from skillgit.splits import Task

JUNK = "qxzv 7341905 wvkj"
"""An answer that is right nowhere."""
HALF_RIGHT = 0.05
"""A soft score of the junk above this share is worth a word."""


@dataclass
class Tried:
    """How the judge scored what was tried: ids of the tasks where it erred, and how many tasks were looked at."""

    checked: int = 0
    skipped: str = ""
    unanswered: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)
    junk: list[str] = field(default_factory=list)
    generous: list[float] = field(default_factory=list)
    swapped: int = 0
    others: list[str] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        return {"checked": self.checked, "skipped": self.skipped}


def try_judge(env: Environment, tasks: Sequence[Task]) -> Tried:
    """Judge each task by its references, no answer, junk, and another answer. A judge that costs is not asked for all."""
    tried = Tried()
    if env.judging == "costly":
        return _costly(env, tasks, tried)
    asked = tasks if env.judging == "free" else [task for task in tasks if task.answer is not None]
    if not asked:
        tried.skipped = "the rollout of env.py scores by itself"
    golds = [env.golds(task) for task in asked]
    for place, task in enumerate(asked):
        try:
            _try(env, task, golds[place], _other(golds, place), tried)
        except SkillgitError as problem:
            tried.broken[task.id] = problem.message
        tried.checked += 1
    return tried


def _costly(env: Environment, tasks: Sequence[Task], tried: Tried) -> Tried:
    """A command is run on one task; a model is asked nothing here, as that would be paid for."""
    if isinstance(env.judge, Rubric) or env.judge.asks or not tasks:
        tried.skipped = "the judge is a model; train and eval try it on one task before anything else is spent"
        return tried
    try:
        asyncio.run(env.check_costly_judge())
    except SkillgitError as problem:
        tried.broken[tasks[0].id] = problem.message
    tried.checked, tried.skipped = 1, "the judge starts a process for each answer, so one task stood for all"
    return tried


def _try(env: Environment, task: Task, golds: Sequence[str], other: str | None, tried: Tried) -> None:
    if env.needs_answers and not golds:
        tried.unanswered.append(task.id)
        return
    if env.score(task, "").hard > 0:
        tried.empty.append(task.id)
    junk = env.score(task, JUNK)
    if junk.hard > 0:
        tried.junk.append(task.id)
    tried.generous.append(junk.soft)
    for gold in golds:
        judgement = env.score(task, gold)
        if judgement.hard < 1:
            tried.failed[task.id] = judgement.reason
    if other is not None:
        tried.swapped += 1
        if env.score(task, other).hard > 0:
            tried.others.append(task.id)


def _other(golds: Sequence[Sequence[str]], place: int) -> str | None:
    """The answer of the next task that has another one."""
    own = {gold.strip().casefold() for gold in golds[place]}
    for step in range(1, min(len(golds), 50)):
        found = golds[(place + step) % len(golds)]
        if own and found and found[0].strip() and not own & {gold.strip().casefold() for gold in found}:
            return found[0]
    return None


def judge_findings(tried: Tried) -> Iterator[Finding]:
    """What the trial says of the judge."""
    if tried.broken:
        yield error("judge-breaks", f"the judge cannot score {_with_example(tried.broken)}", tried.broken)
    if tried.unanswered:
        yield error("no-answer", f"without an answer to judge by: {_tasks(tried.unanswered)}", tried.unanswered)
    if tried.failed:
        yield error(
            "reference-fails", f"the judge fails the reference answer of {_with_example(tried.failed)}", tried.failed
        )
    if tried.empty:
        yield error("empty-passes", f"the judge passes an empty answer to {_tasks(tried.empty)}", tried.empty)
    if tried.junk:
        yield error("wrong-passes", f"the judge passes '{JUNK}' as the answer to {_tasks(tried.junk)}", tried.junk)
    if tried.others:
        told = error if len(tried.others) > tried.swapped / 2 else warning
        yield told(
            "other-passes", f"another task's answer passes too: {len(tried.others)} of {tried.swapped}", tried.others
        )
    mean = sum(tried.generous) / len(tried.generous) if tried.generous else 0.0
    if mean > HALF_RIGHT and not tried.junk:
        yield warning("generous", f"'{JUNK}' gets a soft score of {mean:.2f} on average")


def _with_example(reasons: Mapping[str, str]) -> str:
    first, reason = next(iter(reasons.items()))
    return f"{_tasks(list(reasons))}, such as {first}: {' '.join(reason.split())}"


def _tasks(ids: Sequence[str]) -> str:
    return f"{len(ids)} task{'s'[: len(ids) != 1]}"
