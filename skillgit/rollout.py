"""Tasks × skill × target -> scored trajectories: concurrency, early stop, memo.

A rollout that fails for the provider's sake is *not measured*: it is tried once more at the end of its batch, and if it
fails again it stays an error item, out of the means and of reflection.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import takewhile
from typing import Protocol

from skillgit.concurrency import ordered
from skillgit.env import Environment, Trajectory
from skillgit.errors import HandedOff, NotMeasured, OutputError, ProviderError
from skillgit.gate import Item, Scores
from skillgit.memo import Memo
from skillgit.models.base import Model
from skillgit.scores import Known, Measured, ScoreBook
from skillgit.splits import Task


@dataclass(frozen=True, slots=True)
class Text:
    """A version of the skill: its bytes as text, and the blob that holds them."""

    blob: str
    text: str


AGAIN = "nothing was recorded and paid results are kept; the same command goes on from here"


class Stop(Protocol):
    """Says when the rest of an evaluation cannot change the decision."""

    def settled(self, prefix: Sequence[Item]) -> bool: ...


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Scores of one text on a list of tasks.

    ``scores`` has one item a task, in the order given; those an early stop left out are ``not_run``. ``stopped`` says
    that there are such, so the score is an upper bound. ``errors`` are the provider's words, one for each error item.
    """

    scores: Scores
    stopped: bool
    errors: tuple[str, ...] = ()

    @property
    def evaluated(self) -> int:
        return sum(item.status != "not_run" for item in self.scores.items)


@dataclass(frozen=True, slots=True)
class _Outcome:
    task: Task
    item: Item
    measured: tuple[Measured, ...] = ()
    error: str = ""


class Rollouts:
    """Runs rollouts of one environment with one target.

    ``concurrency`` rollouts run at once; ``advance`` is told of each that ends.
    """

    def __init__(
        self,
        env: Environment,
        target: Model,
        memo: Memo,
        book: ScoreBook,
        *,
        concurrency: int,
        advance: Callable[[], None] = lambda: None,
    ) -> None:
        self._env = env
        self._target = target
        self._memo = memo
        self._book = book
        self._concurrency = concurrency
        self._advance = advance

    async def batch(self, skill: Text, tasks: Sequence[Task], *, min_coverage: float) -> tuple[Trajectory, ...]:
        """A trajectory a task, in order. Raises NotMeasured when fewer than ``min_coverage`` of them were scored."""
        first = await self._trajectories(skill, tasks)
        failed = {t.task.id for t in first if t.error}
        if failed:
            again = await self._trajectories(skill, [task for task in tasks if task.id in failed])
            by_id = {t.task.id: t for t in again}
            first = [by_id.get(t.task.id, t) for t in first]
        errors = [t.error for t in first if t.error]
        demand_coverage(errors, len(first), min_coverage)
        return tuple(first)

    async def evaluate(
        self,
        skill: Text,
        tasks: Sequence[Task],
        *,
        samples: int = 1,
        first: int = 0,
        order: Sequence[str] = (),
        stop: Stop | None = None,
    ) -> Evaluation:
        """Score a text on tasks, using what is already known of it.

        With ``stop``, tasks are visited in ``order`` and the evaluation ends at the first prefix that settles the
        decision; results are looked at in that order whatever order they come in, so the outcome does not depend on
        timing. ``samples`` repeats each task, from the repeat index ``first`` on; its item is the mean of the repeats.
        """
        repeats = range(first, first + samples)
        if stop and stop.settled([]):
            return Evaluation(Scores(tuple(Item(task.id, "not_run") for task in tasks)), stopped=True)
        known = self._book.known(skill.blob, tasks)
        place = {task_id: i for i, task_id in enumerate(order)}
        queue = sorted(tasks, key=lambda task: place.get(task.id, len(place)))
        seen: list[_Outcome] = []
        async with aclosing(self._outcomes(skill, queue, repeats, known)) as outcomes:
            async for outcome in outcomes:
                seen.append(outcome)
                if stop and stop.settled([o.item for o in seen]):
                    break
        seen = [await self._item(skill, o.task, repeats, known) if o.error else o for o in seen]
        self._book.add(skill.blob, (measured for outcome in seen for measured in outcome.measured))
        by_id = {o.item.task_id: o for o in seen}
        items = tuple(by_id[t.id].item if t.id in by_id else Item(t.id, "not_run") for t in tasks)
        errors = tuple(outcome.error for outcome in seen if outcome.error)
        return Evaluation(Scores(items), stopped=len(seen) < len(tasks), errors=errors)

    async def _outcomes(
        self, skill: Text, queue: Sequence[Task], repeats: range, known: Known
    ) -> AsyncGenerator[_Outcome, None]:
        """Outcomes in order. No call is made before those that are known are used up: they may settle the decision."""

        async def measure(task: Task) -> _Outcome:
            outcome = await self._item(skill, task, repeats, known)
            self._advance()
            return outcome

        free = list(takewhile(lambda task: self._is_known(skill, task, repeats, known), queue))
        for task in free:
            yield await measure(task)
        async with aclosing(ordered(measure, queue[len(free) :], self._concurrency)) as outcomes:
            async for outcome in outcomes:
                yield outcome

    def _is_known(self, skill: Text, task: Task, repeats: range, known: Known) -> bool:
        missing = (sample for sample in repeats if (task.id, sample) not in known)
        return all(self._memo.get("rollout", self._key(skill, task, sample)) is not None for sample in missing)

    async def _item(self, skill: Text, task: Task, repeats: range, known: Known) -> _Outcome:
        scored: list[tuple[float, float]] = []
        measured: list[Measured] = []
        waiting: HandedOff | None = None
        for sample in repeats:
            score = known.get((task.id, sample))
            if score is None:
                try:
                    trajectory = await self._one(skill, task, sample)
                except HandedOff as error:
                    waiting = error  # the other repeats are asked for too, to be answered together
                    continue
                if trajectory.error:
                    return _Outcome(task, Item(task.id, "error"), error=trajectory.error)
                score = (trajectory.hard, trajectory.soft)
                measured.append(Measured(task, sample, *score))
            scored.append(score)
        if waiting:
            raise waiting
        hard, soft = (sum(values) / len(repeats) for values in zip(*scored, strict=True))
        return _Outcome(task, Item(task.id, "scored", hard, soft, len(repeats)), tuple(measured))

    async def _trajectories(self, skill: Text, tasks: Iterable[Task]) -> list[Trajectory]:
        async def measure(task: Task) -> Trajectory:
            trajectory = await self._one(skill, task, 0)
            self._advance()
            return trajectory

        async with aclosing(ordered(measure, tasks, self._concurrency)) as results:
            return [trajectory async for trajectory in results]

    async def _one(self, skill: Text, task: Task, sample: int) -> Trajectory:
        key = self._key(skill, task, sample)
        known = self._memo.load("rollout", key, lambda stored: Trajectory.from_json(stored, task))
        if known is not None:
            return known
        try:
            trajectory = await self._env.rollout(task, skill.text, self._target, sample=sample)
        except (ProviderError, OutputError) as error:
            return Trajectory.failed(task, sample, error.message)
        if not trajectory.error:
            self._memo.put("rollout", key, trajectory.to_json())
        return trajectory

    def _key(self, skill: Text, task: Task, sample: int) -> str:
        target = f"{self._target.name}#{self._target.fingerprint}"
        parts = (skill.blob, task.id, task.digest(), self._env.fingerprint, target, str(sample))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def demand_coverage(errors: Sequence[str], total: int, minimum: float) -> None:
    """Raise NotMeasured, with the provider's words, when too few items were measured."""
    measured = total - len(errors)
    if errors and measured < minimum * total:
        raise NotMeasured(
            f"only {measured} of {total} rollouts could be measured (at least {minimum:.0%} needed): {errors[0]}",
            hint=AGAIN,
        )
