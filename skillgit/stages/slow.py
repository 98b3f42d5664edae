"""Slow update: guidance for the target, rewritten at the end of an epoch from what changed over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skillgit.errors import OutputError, ProviderError
from skillgit.longitudinal import Pair
from skillgit.size import room, tokens
from skillgit.skill import guidance, with_guidance
from skillgit.stages import answers
from skillgit.stages.ask import Optimizer
from skillgit.stages.compare import pairs_block, pairs_facts
from skillgit.stages.render import NOTHING, fenced, meta_block, one_line, skill_block

USUAL = 150
"""Words of guidance where the document has no limit."""


async def slow(
    optimizer: Optimizer, *, before: str, after: str, pairs: Sequence[Pair], meta: str, max_tokens: int | None = None
) -> tuple[str, tuple[str, ...]]:
    """(new guidance, fallbacks); "" leaves the guidance as it is, and without pairs nothing is asked.

    Guidance with which the document would be longer than ``max_tokens`` is not taken.
    """
    if not pairs:
        return "", ("slow update: no task could be compared",)
    show, old = optimizer.show_answers, guidance(after)
    values = {
        "before": skill_block(before),
        "after": skill_block(after),
        "guidance": fenced(old) if old else NOTHING,
        "pairs": pairs_block(pairs, before, after, answers=show),
        "meta": meta_block(meta),
        "room": str(_room(after, max_tokens)),
    }
    context = {"stage": "slow", "before": before, "after": after, "pairs": pairs_facts(pairs, answers=show)}
    try:
        written = await optimizer.ask("slow", values, answers.SLOW, _read, context=context)
    except (OutputError, ProviderError) as error:
        return "", (f"slow update: left as it is: {one_line(error.message)}",)

    size = tokens(with_guidance(after, written))
    if written and max_tokens is not None and max_tokens < size > tokens(after):
        return "", (f"slow update: not taken, the document would have {size} tokens of {max_tokens}",)
    return written, ()


def _room(skill: str, most: int | None) -> int:
    """The words that new guidance may have, in the place of the old."""
    free = room(with_guidance(skill, ""), most)
    return USUAL if free is None else min(USUAL, free)


def _read(data: dict[str, Any]) -> str:
    return answers.text(data["guidance"], "guidance")
