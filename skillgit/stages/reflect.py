"""Reflect: trajectories in minibatches, failures and successes apart, one optimizer call each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillgit.concurrency import gather
from skillgit.config import ReflectSettings
from skillgit.errors import OutputError, ProviderError
from skillgit.skill import EditReport, Patch
from skillgit.splits import minibatches
from skillgit.stages.ask import Optimizer
from skillgit.stages.proposal import REFLECT_SCHEMA, Proposals, read_reflection
from skillgit.stages.render import buffer_block, meta_block, skill_block, trajectories_block

if TYPE_CHECKING:
    from skillgit.env import Trajectory

Read = tuple[Patch, tuple[EditReport, ...]]


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
) -> Proposals:
    """A patch for each minibatch of failures (hard = 0) and of successes (hard > 0); error items are left out.

    A minibatch whose call fails is lost and said so; when all are lost, the last error is raised.
    """
    scored = [trajectory for trajectory in trajectories if not trajectory.error]
    groups = {"failure": [t for t in scored if t.hard == 0], "success": [t for t in scored if t.hard > 0]}
    if settings.failure_only:
        del groups["success"]
    jobs = [
        (source, batch)
        for source, found in groups.items()
        for batch in minibatches(found, settings.minibatch_size, (*seed_parts, source))
    ]

    async def one(index: int, source: str, batch: Sequence[Trajectory]) -> Read | OutputError | ProviderError:
        ids = [trajectory.task.id for trajectory in batch]
        values = {
            "skill": skill_block(skill),
            "budget": "as many as are needed" if budget is None else str(budget),
            "buffer": buffer_block(buffer),
            "meta": meta_block(meta),
            "trajectories": trajectories_block(batch, skill, answers=settings.show_answers),
        }
        context = {
            "stage": "reflect",
            "kind": source,
            "skill": skill,
            "budget": budget,
            "trajectories": [_facts(trajectory, settings.show_answers) for trajectory in batch],
            "rejected": [edit for entry in buffer for edit in entry.get("edits", ())],
        }
        try:
            return await optimizer.ask(
                f"reflect_{source}",
                values,
                REFLECT_SCHEMA,
                lambda data: read_reflection(data, source, ids),
                context=context,
                index=index,
            )
        except (OutputError, ProviderError) as error:
            return error

    results = await gather(
        [one(index, source, batch) for index, (source, batch) in enumerate(jobs)], settings.concurrency
    )
    read = [result for result in results if isinstance(result, tuple)]
    errors = [result for result in results if not isinstance(result, tuple)]
    if errors and not read:
        raise errors[-1]
    return Proposals(
        patches=tuple(patch for patch, _ in read if patch.edits or patch.patterns),
        unreadable=tuple(report for _, reports in read for report in reports),
        fallbacks=tuple(f"reflect: a minibatch was lost: {error.message}" for error in errors),
    )


def _facts(trajectory: Trajectory, answers: bool) -> dict[str, Any]:
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
        "reason": trajectory.reason,
    }
