"""Select: when there are more edits than the budget allows, the optimizer ranks them and the first are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillgit.errors import OutputError, ProviderError
from skillgit.skill import Edit, Patch
from skillgit.stages.ask import TEXT, WHOLE, Optimizer, list_of, schema_of
from skillgit.stages.render import buffer_block, edits_block, meta_block, skill_block

RANKING = schema_of(reasoning=TEXT, ranking=list_of(WHOLE))
BUDGET = schema_of(reasoning=TEXT, budget=WHOLE)


@dataclass(frozen=True, slots=True)
class Selection:
    """The kept edits, best first, the ones over the budget, the budget, and what fell back."""

    kept: tuple[Edit, ...]
    dropped: tuple[Edit, ...] = ()
    budget: int | None = None
    fallbacks: tuple[str, ...] = ()


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

    An unusable ranking falls back to the best supported edits, in their order; an unusable number to the budget.
    """
    edits = patch.edits
    values = {
        "skill": skill_block(skill),
        "edits": edits_block(edits),
        "meta": meta_block(meta),
        "buffer": buffer_block(buffer),
        "score": f"{score:.4f}",
        "maximum": str(budget),
    }
    context = {"stage": "select", "skill": skill, "edits": [edit.as_dict() for edit in edits], "budget": budget}
    fallbacks: list[str] = []
    if autonomous and budget is not None and edits:
        most = budget
        try:
            budget = await optimizer.ask(
                "budget",
                values,
                BUDGET,
                lambda data: _number(data["budget"], most),
                context={**context, "stage": "budget"},
            )
        except (OutputError, ProviderError) as error:
            fallbacks.append(f"budget: the maximum {most}: {error.message}")
    if budget is None or len(edits) <= budget:
        return Selection(edits, (), budget, tuple(fallbacks))
    try:
        values["budget"] = str(budget)
        order = await optimizer.ask(
            "select", values, RANKING, lambda data: _ranking(data["ranking"], len(edits)), context=context
        )
    except (OutputError, ProviderError) as error:
        fallbacks.append(f"select: by support: {error.message}")
        order = sorted(range(len(edits)), key=lambda i: -edits[i].support)
    kept, dropped = order[:budget], order[budget:]
    return Selection(tuple(edits[i] for i in kept), tuple(edits[i] for i in dropped), budget, tuple(fallbacks))


def _number(value: Any, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"'budget' must be a whole number from 0 to {most}, not {value!r}")
    return min(value, most)


def _ranking(value: Any, count: int) -> list[int]:
    """All indices, the ranked ones first; bad and repeated ones are passed over."""
    found = value if isinstance(value, list) else []
    ranked = dict.fromkeys(i for i in found if isinstance(i, int) and not isinstance(i, bool) and 0 <= i < count)
    if not ranked:
        raise ValueError(f"'ranking' must list indices from 0 to {count - 1}")
    return [*ranked, *(i for i in range(count) if i not in ranked)]
