"""What difference a gate can see with so many tasks: found by asking its own policy. Pure, and the same for the same seed.

The model: a share of the tasks comes out differently by chance when one skill is evaluated twice (``noise``, which
``skillgit gate NAME --aa`` measures). Such tasks are open, each attempt a fair coin, so twice the noise is the share of
open tasks. A candidate solves k further tasks for certain and breaks none: its gain is k / n.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillgit.policies import POLICIES, Case
from skillgit.results import Item, Pair

if TYPE_CHECKING:
    from skillgit.config import GateSettings

POWER = 0.8
DRAWS = 200
WORK = 40_000
"""Task results looked at for one number; with many tasks there are fewer draws."""


@dataclass(frozen=True, slots=True)
class Sight:
    """``gain`` is the smallest true gain (0..1) that is accepted in four of five evaluations, None where none is.

    ``useless`` is the chance (0..1) that an edit which does nothing is accepted; ``level`` that of this look (policy paired).
    """

    gain: float | None
    useless: float
    level: float | None


def sight(settings: GateSettings, tasks: int, *, level: float, noise: float, seed: int = 0) -> Sight:
    """What the gate's policy sees in an evaluation of so many tasks, at the level of this look."""
    shown = level if settings.policy == "paired" else None
    if tasks < settings.min_items:
        return Sight(None, 0.0, shown)
    open_tasks = min(tasks, round(2 * noise * tasks))
    chance = random.Random(seed)
    count = max(40, min(DRAWS, WORK // tasks)) if open_tasks else 1
    draws = [[_open(place, settings.repeats, chance) for place in range(open_tasks)] for _ in range(count)]
    needed = sorted(_needed(settings, drawn, tasks, level) for drawn in draws)
    k = needed[math.ceil(POWER * count) - 1]
    return Sight(None if k > tasks - open_tasks else k / tasks, needed.count(0) / count, shown)


def _open(place: int, repeats: int, chance: random.Random) -> Pair:
    before, after = (sum(chance.random() < 0.5 for _ in range(repeats)) / repeats for _ in range(2))
    return _pair(place, before, after, repeats)


def _pair(place: int, before: float, after: float, repeats: int) -> Pair:
    name = str(place)
    return Item(name, "scored", before, before, repeats), Item(name, "scored", after, after, repeats)


def _needed(settings: GateSettings, drawn: list[Pair], tasks: int, level: float) -> int:
    """The fewest further tasks solved that make the policy accept; one more than there are where none does."""
    rest = range(len(drawn), tasks)
    still = [_pair(place, 0.0, 0.0, settings.repeats) for place in rest]
    solved = [_pair(place, 0.0, 1.0, settings.repeats) for place in rest]

    def accepts(k: int) -> bool:
        case = Case(settings, (*drawn, *solved[:k], *still[k:]), level)
        return bool(POLICIES[settings.policy](case).accept)

    low, high = 0, len(still) + 1  # every policy is monotone
    while low < high:
        middle = (low + high) // 2
        if accepts(middle):
            high = middle
        elif middle == len(still):
            return len(still) + 1
        else:
            low = middle + 1
    return low
