"""Select: when there are more edits than the budget allows, the optimizer ranks them and the first are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillgit.errors import OutputError, ProviderError
from skillgit.skill import Edit, EditReport, Patch
from skillgit.stages import answers
from skillgit.stages.ask import Optimizer
from skillgit.stages.render import buffer_block, edits_block, meta_block, one_line, skill_block


@dataclass(frozen=True, slots=True)
class Selection:
    """The kept edits, best first, the ones over the budget, the budget, and what fell back.

    ``ended`` reports selected suggestions, for which ``kept`` has the rewrite that was made of them.
    """

    kept: tuple[Edit, ...]
    dropped: tuple[Edit, ...] = ()
    budget: int | None = None
    fallbacks: tuple[str, ...] = ()
    ended: tuple[EditReport, ...] = ()


async def select(
    optimizer: Optimizer,
    patch: Patch,
    *,
    skill: str,
    budget: int | None,
    autonomous: bool,
    meta: str,
    score: float,
    buffer: Sequence[Mapping[str, Any]],
) -> Selection:
    """At most ``budget`` edits (None: all). With ``autonomous`` the optimizer says how many, up to the budget.

    What a ranking leaves open goes by support, then by the order of the patch; an unusable number is the budget.
    """
    edits = patch.edits
    values = {
        "skill": skill_block(skill),
        "edits": edits_block(edits),
        "meta": meta_block(meta),
        "buffer": buffer_block(buffer),
        "score": f"{score:.4f}",
    }
    context = {"skill": skill, "edits": [edit.as_dict() for edit in edits]}
    fallbacks: list[str] = []
    if autonomous and budget is not None and edits:
        budget = await _how_many(optimizer, values, context, budget, fallbacks)
    if budget is None or len(edits) <= budget:
        return Selection(edits, (), budget, tuple(fallbacks))
    ranked = await _ranked(optimizer, values, context, edits, budget, fallbacks) if budget else []
    kept = [*ranked, *(i for i in _by_support(edits) if i not in ranked)][:budget]
    dropped = tuple(edit for i, edit in enumerate(edits) if i not in kept)
    return Selection(tuple(edits[i] for i in kept), dropped, budget, tuple(fallbacks))


async def _how_many(
    optimizer: Optimizer, values: Mapping[str, str], context: Mapping[str, Any], most: int, fallbacks: list[str]
) -> int:
    try:
        return await optimizer.ask(
            "budget",
            {**values, "maximum": str(most)},
            answers.BUDGET,
            lambda data: _number(data["budget"], most),
            context={**context, "stage": "budget", "budget": most},
        )
    except (OutputError, ProviderError) as error:
        fallbacks.append(f"budget: the maximum {most}: {one_line(error.message)}")
        return most


async def _ranked(
    optimizer: Optimizer,
    values: Mapping[str, str],
    context: Mapping[str, Any],
    edits: Sequence[Edit],
    budget: int,
    fallbacks: list[str],
) -> list[int]:
    """The indices in the optimizer's order; it may be a part of them, or none."""
    try:
        ranked = await optimizer.ask(
            "select",
            {**values, "budget": str(budget)},
            answers.SELECT,
            lambda data: _ranking(data["ranking"], len(edits)),
            context={**context, "stage": "select", "budget": budget},
        )
    except (OutputError, ProviderError) as error:
        fallbacks.append(f"select: by support: {one_line(error.message)}")
        return []
    if len(ranked) < budget:
        fallbacks.append(f"select: by support after the {len(ranked)} of {budget} edits that were ranked")
    return ranked


def _by_support(edits: Sequence[Edit]) -> list[int]:
    return sorted(range(len(edits)), key=lambda i: -edits[i].support)


def _number(value: Any, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"'budget' must be a whole number from 0 to {most}, not {value!r}")
    return min(value, most)


def _ranking(value: Any, count: int) -> list[int]:
    ranked = answers.indices(value, count)
    if not ranked:
        raise ValueError(f"'ranking' must list indices from 0 to {count - 1}")
    return ranked
