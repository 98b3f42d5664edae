"""Exact tests and intervals for scores of the same tasks under two skills. Pure.

The tests are exact: they count arrangements with integers instead of drawing some, so they need no seed, and a level is
kept on ten tasks as on a thousand. Each p falls, or stays, when the candidate does better on a task.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist

Counts = tuple[int, int, int, int]
"""Of one task: successes and samples under the current skill, successes and samples under the candidate."""

MOST_REFINED = 500
"""Tasks up to which the sign test is refined: the work grows with their square."""

FINEST_GRID = 1000
COARSEST_GRID = 20
GRID_WORK = 2**22
"""Bits of the largest table that a permutation test of graded scores builds."""


def tail(strata: Iterable[Mapping[int, int]], observed: int) -> Fraction:
    """P(sum of one draw from each stratum >= observed); a stratum maps values to integer weights.

    The generating function is one big integer, with a field wide enough for the total weight for each value of the sum.
    """
    kept = list(strata)
    low = sum(min(stratum) for stratum in kept)
    steps = [{value - min(stratum): weight for value, weight in stratum.items()} for stratum in kept]
    unit = math.gcd(*(step for stratum in steps for step in stratum)) or 1
    total = math.prod(sum(stratum.values()) for stratum in steps)
    width = total.bit_length() + 1
    table = 1
    for stratum in steps:
        table = sum(weight * (table << (step // unit * width)) for step, weight in stratum.items())
    first = max(0, -((low - observed) // unit))
    return Fraction((table >> (first * width)) % ((1 << width) - 1), total)


def binomial_tail(wins: int, trials: int) -> Fraction:
    """P(at least ``wins`` heads in ``trials`` tosses of a fair coin)."""
    if wins <= 0:
        return Fraction(1)
    term, total = 1, 0
    for heads in range(trials, wins - 1, -1):
        total += term
        term = term * heads // (trials - heads + 1)
    return Fraction(total, 2**trials)


@lru_cache(maxsize=4096)
def sign_test(wins: int, losses: int, tasks: int) -> float:
    """One-sided p of the exact sign test: ``wins`` tasks fixed and ``losses`` broken, of ``tasks`` compared.

    The textbook p is that of a fair coin, given how many tasks moved. It moves in such big steps that its level is used up
    by half, so this is Boschloo's refinement: the largest chance of a textbook p as small as this one over everything
    that the success rates can be. A task whose rate is r moves with chance 2r(1 - r) <= 1/2, which is that of a task
    being open times that of a fair coin; so the number of moves is binomial (open tasks, 1/2), and the largest chance
    is looked for over the number of open tasks. Above 500 tasks the textbook p is returned, which is hardly larger.
    """
    textbook = binomial_tail(wins, wins + losses)
    if tasks > MOST_REFINED or wins <= losses:
        return float(textbook)
    chances = [_attained(float(textbook) * (1 + 1e-9), moved) for moved in range(tasks + 1)]
    largest = 0.0
    while chances:  # chances[0] is the chance of such a p with 0, 1, 2, ... open tasks
        largest = max(largest, chances[0])
        chances = [(one + other) / 2 for one, other in pairwise(chances)]
    return min(largest, float(textbook))


def _attained(p: float, moved: int) -> float:
    """The largest textbook p up to ``p`` that is possible when so many tasks moved; 0 for none."""
    tails = _tails(moved)
    return tails[bisect_right(tails, p) - 1]


@lru_cache(maxsize=MOST_REFINED + 1)
def _tails(tosses: int) -> list[float]:
    """0, and P(at least k heads in so many tosses) for k from all of them down to none."""
    term, total, tails = 1, 0, [0.0]
    for heads in range(tosses, -1, -1):
        total += term
        tails.append(total / 2**tosses)
        term = term * heads // (tosses - heads + 1)
    return tails


def sign_flip_test(differences: Sequence[Fraction]) -> Fraction:
    """One-sided p of the paired permutation test: is the sum of the differences (-1..1) more than chance?

    Under the null each difference is as likely with the other sign. The p value is exact for the differences on a grid:
    their own common denominator, or 1/1000 at the finest and 1/20 for very many tasks.
    """
    moved = _on_grid([value for value in differences if value])
    sizes = {abs(value) for value in moved} - {0}
    if len(sizes) <= 1:
        return binomial_tail(sum(value > 0 for value in moved), sum(value != 0 for value in moved))
    return tail(({0: 1, abs(value): 1} for value in moved if value), sum(value for value in moved if value > 0))


def _on_grid(values: Sequence[Fraction]) -> list[int]:
    finest = max(COARSEST_GRID, min(FINEST_GRID, GRID_WORK // max(1, len(values)) ** 2))
    grid = math.lcm(*(value.denominator for value in values))
    if grid > finest:
        grid = finest
    return [round(value * grid) for value in values]  # half to even is symmetric, so the null stays symmetric


def stratified_test(counts: Iterable[Counts]) -> Fraction:
    """One-sided p that the candidate's mean success rate is higher, given each task's successes in all.

    Under the null the samples of a task are exchangeable between the two skills, so the candidate's share of its
    successes is hypergeometric. The two may have any numbers of samples.
    """
    rows = [row for row in counts if 0 < row[0] + row[2] < row[1] + row[3]]
    unit = math.lcm(*(size for _, n, _, m in rows for size in (n, m)))
    strata = [_hypergeometric(before + after, n, m, unit) for before, n, after, m in rows]
    return tail(strata, sum(after * (unit // m) - before * (unit // n) for before, n, after, m in rows))


def _hypergeometric(successes: int, n: int, m: int, unit: int) -> dict[int, int]:
    """Weights of the scaled difference of means, by how many of the successes fall to the m samples."""
    return {
        got * (unit // m) - (successes - got) * (unit // n): math.comb(m, got) * math.comb(n, successes - got)
        for got in range(max(0, successes - n), min(m, successes) + 1)
    }


def z_score(differences: Sequence[Fraction]) -> float:
    """The normal approximation of the sign-flip test's statistic; 0 when nothing moved."""
    size = math.sqrt(math.fsum(float(value) ** 2 for value in differences))
    return math.fsum(float(value) for value in differences) / size if size else 0.0


def quantile(share: float) -> float:
    """The z below which the normal distribution has this share."""
    return NormalDist().inv_cdf(share)


def interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """An interval for the mean of scores in 0..1; (0, 1) of nothing.

    Wilson's for 0/1 values. For graded ones the normal interval with one 0 and one 1 added to the values, so that it
    does not collapse when all are alike.
    """
    n, z = len(values), quantile((1 + level) / 2)
    if n == 0:
        return (0.0, 1.0)
    if all(value in (0, 1) for value in values):
        rate = math.fsum(values) / n
        centre = (rate + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z * math.sqrt(rate * (1 - rate) / n + z**2 / (4 * n * n)) / (1 + z**2 / n)
    else:
        centre, half = _normal([*values, 0.0, 1.0], z)
    return (max(0.0, round(centre - half, 12)), min(1.0, round(centre + half, 12)))


def paired_interval(differences: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """An interval for the mean of paired differences in -1..1; (-1, 1) of nothing.

    Bonett and Price's for binary scores (J. Educ. Behav. Stat. 37, 2012): the normal interval with one -1 and one +1
    added, which does not collapse when nothing moved. The same is done for graded scores.
    """
    if not differences:
        return (-1.0, 1.0)
    centre, half = _normal([*differences, -1.0, 1.0], quantile((1 + level) / 2))
    return (max(-1.0, round(centre - half, 12)), min(1.0, round(centre + half, 12)))


def _normal(values: Sequence[float], z: float) -> tuple[float, float]:
    n = len(values)
    centre = math.fsum(values) / n
    spread = math.fsum((value - centre) ** 2 for value in values) / n
    return centre, z * math.sqrt(spread / n)
