"""The epoch's comparison as text and as data, for the two stages that read it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from skillgit.longitudinal import KINDS, Kind, Pair
from skillgit.stages.render import NOTHING, fenced, one_line, trajectory_block

IN_FULL: tuple[Kind, ...] = ("regressed", "persistent", "improved")
"""The order in which pairs are shown; of stable ones just the ids, for there is nothing to mend in them."""


def pairs_block(pairs: Sequence[Pair], before: str, after: str, *, answers: bool) -> str:
    """The counts, then each pair with both trajectories, regressions first; ``before`` and ``after`` are the skills."""
    if not pairs:
        return NOTHING
    counts = Counter(pair.kind for pair in pairs)
    blocks = [", ".join(f"{kind} {counts[kind]}" for kind in KINDS)]
    told: set[str] = set()
    for pair in (pair for kind in IN_FULL for pair in pairs if pair.kind == kind):
        first = trajectory_block(pair.before, before, answers=answers, told=told)
        second = trajectory_block(pair.after, after, answers=answers, told=told)
        alike = pair.before == pair.after
        shown = f"Before and after alike:\n{first}" if alike else f"Before:\n{first}\n\nAfter:\n{second}"
        blocks.append(f"## {pair.kind.capitalize()}\n\n{shown}")
    stable = [one_line(pair.task.id) for pair in pairs if pair.kind == "stable"]
    if stable:
        blocks.append("## Stable\n\n" + fenced("\n".join(stable)))
    return "\n\n".join(blocks)


def pairs_facts(pairs: Sequence[Pair], *, answers: bool) -> list[dict[str, Any]]:
    """The comparison as data, for optimizers that are programs."""
    return [
        {
            "id": pair.task.id,
            "kind": pair.kind,
            "input": pair.task.input,
            "answer": pair.task.answer if answers else None,
            "before": pair.before.answer,
            "after": pair.after.answer,
        }
        for pair in pairs
    ]
