"""Meta skill: the optimizer's advice to its future self; the target never sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skillgit.errors import OutputError, ProviderError
from skillgit.longitudinal import Pair
from skillgit.stages import answers
from skillgit.stages.ask import Optimizer
from skillgit.stages.compare import pairs_block, pairs_facts
from skillgit.stages.render import meta_block, one_line, skill_block


async def meta(
    optimizer: Optimizer, *, before: str, after: str, pairs: Sequence[Pair], meta: str
) -> tuple[str, tuple[str, ...]]:
    """(new advice, fallbacks); an empty answer, or one that cannot be had, leaves the advice as it was."""
    if not pairs:
        return meta, ("meta skill: no task could be compared",)
    show = optimizer.show_answers
    values = {
        "before": skill_block(before),
        "after": skill_block(after),
        "pairs": pairs_block(pairs, before, after, answers=show),
        "meta": meta_block(meta),
    }
    context = {"stage": "meta", "before": before, "after": after, "pairs": pairs_facts(pairs, answers=show)}
    try:
        return await optimizer.ask("meta", values, answers.META, _read, context=context) or meta, ()
    except (OutputError, ProviderError) as error:
        return meta, (f"meta skill: left as it was: {one_line(error.message)}",)


def _read(data: dict[str, Any]) -> str:
    return answers.text(data["meta_skill"], "meta_skill")
