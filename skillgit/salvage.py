"""Which parts of a rejected candidate to try on their own. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from skillgit.gate import Verdict


def salvage_plan(n_edits: int, budget: int) -> tuple[tuple[int, ...], ...]:
    """The parts to try of a candidate with ``n_edits`` edits, best-ranked first: halves, then single edits.

    Edits are named by their place, and at most ``budget`` parts are given. No part is given twice, and none is the whole.
    """
    places = tuple(range(n_edits))
    middle = (n_edits + 1) // 2
    parts = (places[:middle], places[middle:], *((place,) for place in places))
    proper = dict.fromkeys(part for part in parts if 0 < len(part) < n_edits)
    return tuple(proper)[: max(0, budget)]


def share(parts: int) -> tuple[float, float]:
    """How a step's level is divided between the whole candidate and each of its parts, when there are so many."""
    return (0.5, 0.5 / parts) if parts else (1.0, 0.0)


def best_part(verdicts: Sequence[Verdict]) -> int | None:
    """The place of the accepted part that gained most, the first of equals; None when none was accepted."""
    accepted = [place for place, verdict in enumerate(verdicts) if verdict.accepted]
    return max(accepted, key=lambda place: verdicts[place].delta, default=None)
