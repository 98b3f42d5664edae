"""Meta skill: the optimizer's advice to its future self; the target never sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skillgit.errors import OutputError, ProviderError
from skillgit.longitudinal import Pair
from skillgit.stages.ask import TEXT, Optimizer, schema_of
from skillgit.stages.compare import pairs_block, pairs_facts
from skillgit.stages.render import meta_block, skill_block

SCHEMA = schema_of(meta_skill=TEXT)


async def meta(
    optimizer: Optimizer, *, before: str, after: str, pairs: Sequence[Pair], meta: str
) -> tuple[str, tuple[str, ...]]:
    """(new advice, fallbacks); an answer that cannot be had leaves the advice as it was."""
    values = {
        "before": skill_block(before),
        "after": skill_block(after),
        "pairs": pairs_block(pairs, after),
        "meta": meta_block(meta),
    }
    context = {"stage": "meta", "before": before, "after": after, "pairs": pairs_facts(pairs)}
    try:
        return await optimizer.ask("meta", values, SCHEMA, _read, context=context), ()
    except (OutputError, ProviderError) as error:
        return meta, (f"meta skill: left as it was: {error.message}",)


def _read(data: dict[str, Any]) -> str:
    if not isinstance(data["meta_skill"], str):
        raise ValueError("'meta_skill' must be text")
    return data["meta_skill"].strip()
