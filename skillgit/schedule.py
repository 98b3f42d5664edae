"""The edit budget of each step: the textual learning rate. Pure."""

from __future__ import annotations

import math


def edit_budget(kind: str, step: int, total: int, maximum: int, minimum: int) -> int | None:
    """Most edits step ``step`` (0-based) of ``total`` may apply; None is no limit.

    ``constant`` stays at the maximum; ``linear`` and ``cosine`` fall to the minimum with t = (step + 1) / total;
    ``autonomous`` is capped at the maximum; with one step in all it is the maximum. Rounding is Python's, half to even.
    """
    if kind == "none":
        return None
    if kind in ("constant", "autonomous") or total <= 1:
        return maximum
    t = (step + 1) / total
    falling = {
        "linear": maximum + (minimum - maximum) * t,
        "cosine": minimum + 0.5 * (maximum - minimum) * (1 + math.cos(math.pi * t)),
    }
    return max(minimum, round(falling[kind]))
