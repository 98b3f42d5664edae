"""Bisect: the change after which a task began to fail, from scores that are known first, and measured where they are not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillgit.errors import RefusedError
from skillgit.evaluate import bench
from skillgit.opening import Subject
from skillgit.rollout import Text, demand_coverage
from skillgit.session import interruptible

if TYPE_CHECKING:
    from skillgit.git.repo import Repo
    from skillgit.report import Reporter
    from skillgit.splits import Task


@dataclass(frozen=True, slots=True)
class Bisected:
    """The first commit with which the task fails, and the one before it, with which it does not.

    ``looked`` counts the versions whose score had to be asked for, ``spend`` what new ones cost.
    """

    skill: str
    task: str
    commit: str
    title: str
    before: str
    looked: int
    spend: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def bisect(repo: Repo, name: str, task_id: str, reporter: Reporter, *, overrides: Sequence[str] = ()) -> Bisected:
    """Find the change after which a task began to fail for good (hard score below one half).

    Raises RefusedError when it does not fail now, or failed from the start.
    """
    subject = Subject.load(repo, name, overrides)
    task = _task(subject, task_id)
    work = _bisect(subject, task, reporter)
    return interruptible(work, hint=f"skillgit bisect {name} --task {task_id}")


def _task(subject: Subject, task_id: str) -> Task:
    splits = subject.splits
    for task in (*splits.selection, *splits.train):
        if task.id == task_id:
            return task
    if any(task.id == task_id for task in splits.test):
        raise RefusedError(f"'{task_id}' is a test task, which no training may look at", hint="name a selection task")
    raise RefusedError(f"there is no task '{task_id}'", hint=f"skillgit show {subject.name} names tasks that moved")


async def _bisect(subject: Subject, task: Task, reporter: Reporter) -> Bisected:
    history, settings = subject.history, subject.env.settings
    commits = [entry.oid for entry in history.log()][::-1]
    versions = [history.base(), *commits]
    looked: dict[int, bool] = {}
    reporter.stage("bisect", len(versions).bit_length() + 1)
    async with bench(subject, settings.models.target, reporter, "bisect") as measuring:

        async def passes(place: int) -> bool:
            if place not in looked:
                text = Text(history.blob(versions[place]), history.text(versions[place]))
                evaluation = await measuring.rollouts.evaluate(text, [task], samples=settings.gate.repeats)
                demand_coverage(evaluation.errors, evaluation.evaluated, 1.0)
                looked[place] = evaluation.scores.hard >= 0.5
            return looked[place]

        place = await first_failure(len(versions), passes)
    if place is None:
        raise RefusedError(f"'{task.id}' does not fail with the current skill", hint=f"skillgit show {subject.name}")
    if place == 0:
        raise RefusedError(f"'{task.id}' failed from the start: no change broke it")
    title = next(entry.subject for entry in history.log() if entry.oid == versions[place])
    title = title.removeprefix(f"{subject.name}: ")
    before = versions[place - 1]
    return Bisected(subject.name, task.id, versions[place], title, before, len(looked), measuring.spent())


async def first_failure(count: int, passes: Callable[[int], Awaitable[bool]]) -> int | None:
    """The place of a version that fails after one that passes, by halving; None when the last one passes.

    0 when the first one fails as well as the last: then there may be no such place, and it is not searched for.
    """
    low, high = 0, count - 1
    if await passes(high):
        return None
    if not await passes(low):
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        if await passes(middle):
            low = middle
        else:
            high = middle
    return high
