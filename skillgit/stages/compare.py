"""The epoch's comparison as text and as data, for the two stages that read it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from skillgit.longitudinal import KINDS, Pair
from skillgit.stages.render import NOTHING, trajectory_block

SHOWN_FIRST = ("regressed", "persistent", "improved", "stable")


def pairs_block(pairs: Sequence[Pair], skill: str) -> str:
    """The counts, then each pair with both trajectories, regressions first; stable ones by id only."""
    counts = Counter(pair.kind for pair in pairs)
    blocks = [", ".join(f"{kind} {counts[kind]}" for kind in KINDS)]
    for kind in SHOWN_FIRST:
        found = [pair for pair in pairs if pair.kind == kind]
        if kind == "stable":
            blocks += [f"Stable: {', '.join(pair.task.id for pair in found)}"] if found else []
        else:
            blocks += [_pair(pair, skill) for pair in found]
    return "\n\n".join(blocks) if pairs else NOTHING


def _pair(pair: Pair, skill: str) -> str:
    before = trajectory_block(pair.before, skill, answers=True)
    after = trajectory_block(pair.after, skill, answers=True)
    return f"## {pair.kind.capitalize()}: {pair.task.id}\n\nBefore:\n{before}\n\nAfter:\n{after}"


def pairs_facts(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """The comparison as data, for optimizers that are programs."""
    return [
        {
            "id": pair.task.id,
            "kind": pair.kind,
            "input": pair.task.input,
            "answer": pair.task.answer,
            "before": pair.before.answer,
            "after": pair.after.answer,
        }
        for pair in pairs
    ]
