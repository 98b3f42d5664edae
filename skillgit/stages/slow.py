"""Slow update: guidance for the target, rewritten at the end of an epoch from what changed over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skillgit.errors import OutputError, ProviderError
from skillgit.longitudinal import Pair
from skillgit.skill import guidance, strip_markers
from skillgit.stages.ask import TEXT, Optimizer, schema_of
from skillgit.stages.compare import pairs_block, pairs_facts
from skillgit.stages.render import NOTHING, meta_block, skill_block

SCHEMA = schema_of(reflection=TEXT, guidance=TEXT)


async def slow(
    optimizer: Optimizer, *, before: str, after: str, pairs: Sequence[Pair], meta: str
) -> tuple[str, tuple[str, ...]]:
    """(new guidance, fallbacks); "" leaves the guidance as it is."""
    values = {
        "before": skill_block(before),
        "after": skill_block(after),
        "guidance": guidance(after) or NOTHING,
        "pairs": pairs_block(pairs, after),
        "meta": meta_block(meta),
    }
    context = {"stage": "slow", "before": before, "after": after, "pairs": pairs_facts(pairs)}
    try:
        return await optimizer.ask("slow", values, SCHEMA, _read, context=context), ()
    except (OutputError, ProviderError) as error:
        return "", (f"slow update: left as it is: {error.message}",)


def _read(data: dict[str, Any]) -> str:
    if not isinstance(data["guidance"], str):
        raise ValueError("'guidance' must be text")
    return strip_markers(data["guidance"]).strip()
