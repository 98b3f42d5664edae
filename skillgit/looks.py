"""How a run's alpha is spent over its looks at the selection split. Pure.

Each look tests another candidate against the current skill, so the chance of any false accept in a run is at most the
sum of the levels (the union bound, whatever the dependence). Two things give levels back without breaking that promise:

- The level of an accepted candidate is refunded. Either the accept was true, and no false one was risked by it, or it
  was false, and the error has happened already. (The online fallback procedure: Tian and Ramdas, 2021.)
- What a skipped or undecided step did not use stays in the purse.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any


def weight(look: int) -> float:
    """A look's part of alpha, before the parts are made to add up.

    Early looks get more: an edit that is accepted early helps in all later steps, and a young skill has the most to gain.
    """
    return 1 / math.sqrt(look)


def level(alpha: float, look: int, looks: int, spent: float | None = None) -> float:
    """The level of the ``look``-th of ``looks`` looks (1-based).

    ``spent`` is the sum of the levels of this run's rejects so far; None means that it is unknown, and gives the part
    that the look has for certain.
    """
    if not 1 <= look <= looks:
        raise ValueError(f"look {look} of {looks}")
    first, purse = (1, alpha) if spent is None else (look, max(0.0, alpha - spent))
    return purse * weight(look) / math.fsum(weight(k) for k in range(first, looks + 1))


def spent(verdicts: Iterable[Mapping[str, Any]]) -> float:
    """What a run's verdicts (as kept in its records) have used up of alpha."""
    return math.fsum(v["level"] for v in verdicts if v["action"] == "reject" and v.get("level") is not None)
