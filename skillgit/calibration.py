"""A/A calibration: how often would each policy accept a skill that is the same? Pure."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillgit import looks as _looks
from skillgit.gate import Scores, Verdict, decide
from skillgit.policies import POLICIES, Case
from skillgit.results import Pair, join

if TYPE_CHECKING:
    from skillgit.config import GateSettings


@dataclass(frozen=True, slots=True)
class Rate:
    """How often a policy accepts a useless edit: in one look that is the only one, and ever in a whole run (0..1)."""

    look: float
    run: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """What two evaluations of the same skill say about the gate.

    ``noise`` is the standard deviation of the difference of two scores of the same skill, ``flipped`` the tasks of
    ``tasks`` that came out differently; ``verdict`` what the gate said of the second evaluation against the first.
    """

    tasks: int
    flipped: int
    noise: float
    rates: Mapping[str, Rate]
    verdict: Verdict

    def as_dict(self) -> dict[str, Any]:
        return {
            "tasks": self.tasks,
            "flipped": self.flipped,
            "noise": round(self.noise, 6),
            "rates": {
                name: {"look": round(rate.look, 6), "run": round(rate.run, 6)} for name, rate in self.rates.items()
            },
            "verdict": self.verdict.as_dict(),
        }


def calibrate(
    settings: GateSettings, first: Scores, second: Scores, *, looks: int = 1, draws: int = 1000, seed: int = 0
) -> Calibration:
    """Every policy's false-accept rate, from two evaluations of the same skill.

    Each task's two results are as likely the other way round, so each draw swaps them by a coin: that is exactly what
    another evaluation could have shown. A run's rate takes its looks as independent, with the levels that ``paired``
    gives them.
    """
    chance = random.Random(seed)
    pairs = join(first, second).measured
    swapped = [_swapped(pairs, chance) for _ in range(draws)]
    moves = Case(settings, pairs, settings.alpha).moves
    return Calibration(
        tasks=len(pairs),
        flipped=sum(move != 0 for move in moves),
        noise=math.sqrt(math.fsum(float(move) ** 2 for move in moves)) / max(1, len(pairs)),
        rates={name: _rate(settings.model_copy(update={"policy": name}), swapped, looks) for name in POLICIES},
        verdict=decide(settings, first, second, first),
    )


def _swapped(pairs: Sequence[Pair], chance: random.Random) -> tuple[Pair, ...]:
    return tuple((one, other) if chance.random() < 0.5 else (other, one) for one, other in pairs)


def _rate(settings: GateSettings, draws: Sequence[tuple[Pair, ...]], looks: int) -> Rate:
    rulings = [POLICIES[settings.policy](Case(settings, pairs, settings.alpha)) for pairs in draws]
    look = sum(bool(ruling.accept) for ruling in rulings) / len(rulings)
    if settings.policy != "paired":
        return Rate(look, 1 - (1 - look) ** looks)
    p_values = [ruling.p_value for ruling in rulings if ruling.p_value is not None]
    levels = [_looks.level(settings.alpha, k, looks) for k in range(1, looks + 1)]
    kept = math.prod(1 - sum(p <= level for p in p_values) / len(p_values) for level in levels)
    return Rate(look, 1 - kept)
