"""Slow update: guidance for the target, rewritten at the end of an epoch from what changed over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skillgit.errors import OutputError, ProviderError
from skillgit.longitudinal import Pair
from skillgit.skill import guidance
from skillgit.stages import answers
from skillgit.stages.ask import Optimizer
from skillgit.stages.compare import pairs_block, pairs_facts
from skillgit.stages.render import NOTHING, fenced, meta_block, one_line, skill_block


async def slow(
    optimizer: Optimizer, *, before: str, after: str, pairs: Sequence[Pair], meta: str
) -> tuple[str, tuple[str, ...]]:
    """(new guidance, fallbacks); "" leaves the guidance as it is, and without pairs nothing is asked."""
    if not pairs:
        return "", ("slow update: no task could be compared",)
    show, old = optimizer.show_answers, guidance(after)
    values = {
        "before": skill_block(before),
        "after": skill_block(after),
        "guidance": fenced(old) if old else NOTHING,
        "pairs": pairs_block(pairs, before, after, answers=show),
        "meta": meta_block(meta),
    }
    context = {"stage": "slow", "before": before, "after": after, "pairs": pairs_facts(pairs, answers=show)}
    try:
        return await optimizer.ask("slow", values, answers.SLOW, _read, context=context), ()
    except (OutputError, ProviderError) as error:
        return "", (f"slow update: left as it is: {one_line(error.message)}",)


def _read(data: dict[str, Any]) -> str:
    return answers.text(data["guidance"], "guidance")
