"""Reflect: trajectories in minibatches, failures and successes apart, one optimizer call each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from skillgit.concurrency import gather
from skillgit.errors import OutputError, ProviderError
from skillgit.skill import Edit
from skillgit.splits import minibatches
from skillgit.stages import answers
from skillgit.stages.ask import Optimizer
from skillgit.stages.modes import MODES, Mode, Wording
from skillgit.stages.prompts import builtin
from skillgit.stages.proposal import Proposals, Reading, read_reflection
from skillgit.stages.render import buffer_block, growth, meta_block, one_line, skill_block, trajectories_block

if TYPE_CHECKING:
    from skillgit.config import ReflectSettings
    from skillgit.env import Trajectory


async def reflect(
    optimizer: Optimizer,
    trajectories: Sequence[Trajectory],
    *,
    skill: str,
    budget: int | None,
    buffer: Sequence[Mapping[str, Any]],
    meta: str,
    settings: ReflectSettings,
    seed_parts: tuple[object, ...],
    mode: Mode = "patch",
    words: int | None = None,
    success_reminders: bool = False,
) -> Proposals:
    """A patch for each minibatch of failures (hard = 0) and of successes (hard > 0); error items are left out.

    A minibatch whose call fails, or whose answers cannot be used, is lost, and ``fallbacks`` say so. When the provider
    failed all of them, its last error is raised. ``words`` is by how much the skill may grow; ``success_reminders``: when
    reflection is skill-aware, successes may remind too.
    """
    reader = _Reader(optimizer, skill, budget, buffer, meta, settings, MODES[mode], words, success_reminders)
    jobs = _jobs(trajectories, settings, seed_parts)
    work = [reader.read(index, source, batch) for index, (source, batch) in enumerate(jobs)]
    results = await gather(work, settings.concurrency)
    read = [result for result in results if isinstance(result, Reading)]
    lost = [(source, batch, r) for (source, batch), r in zip(jobs, results, strict=True) if not isinstance(r, Reading)]
    if lost and all(isinstance(result, ProviderError) for result in results):
        raise lost[-1][2]
    return Proposals(
        patches=tuple(reading.patch for reading in read if reading.patch.edits or reading.patch.patterns),
        unreadable=tuple(report for reading in read for report in reading.unreadable),
        reminders=_distinct(note for reading in read for note in reading.reminders),
        fallbacks=tuple(
            f"reflect: a minibatch is lost ({source}, tasks: {len(batch)}): {one_line(error.message)}"
            for source, batch, error in lost
        ),
    )


def _jobs(
    trajectories: Sequence[Trajectory], settings: ReflectSettings, seed_parts: tuple[object, ...]
) -> list[tuple[str, tuple[Trajectory, ...]]]:
    """The minibatches, each with what it is called."""
    scored = [trajectory for trajectory in trajectories if not trajectory.error]
    groups = {"failure": [t for t in scored if t.hard == 0]}
    if not settings.failure_only:
        groups["success"] = [t for t in scored if t.hard > 0]
    return [
        (source, batch)
        for source, found in groups.items()
        for batch in minibatches(found, settings.minibatch_size, (*seed_parts, source))
    ]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Has the optimizer read one minibatch after another."""

    optimizer: Optimizer
    skill: str
    budget: int | None
    buffer: Sequence[Mapping[str, Any]]
    meta: str
    settings: ReflectSettings
    mode: Wording
    words: int | None
    success_reminders: bool

    async def read(self, index: int, source: str, batch: Sequence[Trajectory]) -> Reading | OutputError | ProviderError:
        """What a minibatch says, or why it says nothing."""
        show = self.settings.show_answers
        aware = self.settings.skill_aware and (source == "failure" or self.success_reminders)
        values = {
            "skill": skill_block(self.skill),
            "budget": allowance(self.budget) + growth(self.words),
            "room": growth(self.words),
            "lapses": builtin("lapses").strip() if aware else "",
            "buffer": buffer_block(self.buffer),
            "meta": meta_block(self.meta),
            "trajectories": trajectories_block(batch, self.skill, answers=show),
        }
        context = {
            "stage": "reflect",
            "kind": source,
            "skill": self.skill,
            "budget": self.budget,
            "trajectories": [_facts(trajectory, show) for trajectory in batch],
            "rejected": [edit for entry in self.buffer for edit in entry.get("edits", ())],
        }
        ids = [trajectory.task.id for trajectory in batch]
        try:
            return await self.optimizer.ask(
                f"{self.mode.reflect}_{source}",
                values,
                answers.AWARE if aware else self.mode.asked,
                lambda data: read_reflection(data, source, ids, self.mode),
                context=context,
                index=index,
            )
        except (OutputError, ProviderError) as error:
            return error


def _distinct(notes: Iterable[Edit]) -> tuple[Edit, ...]:
    """Each reminder once, in order, with the evidence and the support of all that say it."""
    found: dict[str, Edit] = {}
    for note in notes:
        old = found.get(note.content.casefold())
        evidence = dict.fromkeys((*old.evidence, *note.evidence)) if old else note.evidence
        support = old.support + 1 if old else 1
        found[note.content.casefold()] = replace(old or note, evidence=tuple(evidence), support=support)
    return tuple(found.values())


def allowance(budget: int | None) -> str:
    """The edit budget in words."""
    if budget is None:
        return "as many edits as are worth it"
    return f"at most {budget} edit{'' if budget == 1 else 's'}"


def _facts(trajectory: Trajectory, answers: bool) -> dict[str, Any]:
    """A trajectory as data, for optimizers that are programs."""
    task = trajectory.task
    return {
        "id": task.id,
        "input": task.input,
        "type": task.type,
        "answer": task.answer if answers else None,
        "output": trajectory.output,
        "predicted": trajectory.answer,
        "hard": trajectory.hard,
        "soft": trajectory.soft,
        "reason": trajectory.reason if answers else "",
    }
