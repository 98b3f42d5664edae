"""The exact tests against enumeration and textbook values, the intervals against their coverage."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.stats import (
    binomial_tail,
    interval,
    paired_interval,
    sign_flip_test,
    sign_test,
    stratified_test,
    tail,
    z_score,
)

DIFFERENCES = st.lists(st.fractions(-1, 1, max_denominator=6), max_size=8)
ROW = st.tuples(st.integers(1, 3), st.integers(1, 3)).flatmap(
    lambda n: st.tuples(st.integers(0, n[0]), st.just(n[0]), st.integers(0, n[1]), st.just(n[1]))
)


def by_flipping(differences: list[Fraction]) -> Fraction:
    """The permutation test, by trying every sign."""
    flips = list(product((1, -1), repeat=len(differences)))
    sums = [sum((s * d for s, d in zip(signs, differences, strict=True)), Fraction(0)) for signs in flips]
    return Fraction(sum(value >= sum(differences) for value in sums), len(flips))


def by_dealing(rows: list[tuple[int, int, int, int]]) -> Fraction:
    """The stratified test, by dealing each task's samples to the two skills in every way."""

    def value(before: int, n: int, after: int, m: int) -> Fraction:
        return Fraction(after, m) - Fraction(before, n)

    sums: Counter[Fraction] = Counter({Fraction(0): 1})
    for before, n, after, m in rows:
        samples = [1] * (before + after) + [0] * (n + m - before - after)
        deals = Counter(sum(samples[i] for i in deal) for deal in combinations(range(n + m), m))
        more: Counter[Fraction] = Counter()
        for total, weight in sums.items():
            for got, ways in deals.items():
                more[total + value(before + after - got, n, got, m)] += weight * ways
        sums = more
    observed = sum((value(*row) for row in rows), Fraction(0))
    return Fraction(sum(weight for total, weight in sums.items() if total >= observed), sum(sums.values()))


@given(DIFFERENCES)
def test_the_permutation_test_counts_every_arrangement(differences: list[Fraction]) -> None:
    assert sign_flip_test(differences) == by_flipping(differences)


@given(st.lists(ROW, max_size=6))
def test_the_stratified_test_counts_every_deal(rows: list[tuple[int, int, int, int]]) -> None:
    assert stratified_test(rows) == by_dealing(rows)


RATES = st.lists(st.sampled_from([0.0, 0.02, 0.1, 0.3, 0.5, 0.6, 0.9, 1.0]), min_size=1, max_size=9)


@settings(max_examples=60)
@given(RATES)
def test_a_useless_edit_passes_the_sign_test_no_more_often_than_it_says(rates: list[float]) -> None:
    """Whatever the success rates: the chance of a p of at most p is at most p."""
    chances = {(0, 0): 1.0}
    for rate in rates:
        flip, more = rate * (1 - rate), Counter[tuple[int, int]]()
        for (wins, losses), chance in chances.items():
            more[wins + 1, losses] += chance * flip
            more[wins, losses + 1] += chance * flip
            more[wins, losses] += chance * (1 - 2 * flip)
        chances = dict(more)
    found = sorted((sign_test(wins, losses, len(rates)), chance) for (wins, losses), chance in chances.items())
    total = 0.0
    for place, (p, chance) in enumerate(found):
        total += chance
        if place + 1 == len(found) or found[place + 1][0] > p:
            assert total <= p * (1 + 1e-9)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_never_weaker_than_the_textbook_one(wins: int, losses: int, unmoved: int) -> None:
    tasks = wins + losses + unmoved
    p = sign_test(wins, losses, tasks)
    assert 0 < p <= float(binomial_tail(wins, wins + losses))
    assert sign_test(wins + 1, losses, tasks + 1) <= sign_test(wins, losses, tasks + 1)
    assert sign_test(wins, losses + 1, tasks + 1) >= sign_test(wins, losses, tasks + 1)


def test_the_sign_test_gains_most_on_few_tasks() -> None:
    ratios = [sign_test(wins, 0, tasks) / 2**-wins for wins, tasks in [(5, 5), (7, 20), (9, 80), (10, 400)]]
    assert ratios[0] == pytest.approx(2**-5)  # each of five tasks fixed: at most (1/4)^5
    assert ratios == sorted(ratios)
    assert ratios[-1] < 0.95
    assert sign_test(10, 0, 501) == 2**-10


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (5, 0), (9, 3), (3, 9), (10, 10), (60, 41)])
def test_on_binary_scores_all_of_them_count_coins(wins: int, losses: int) -> None:
    trials = wins + losses
    expected = Fraction(sum(math.comb(trials, k) for k in range(wins, trials + 1)), 2**trials)
    rows = [(0, 1, 1, 1)] * wins + [(1, 1, 0, 1)] * losses + [(1, 1, 1, 1), (0, 1, 0, 1)] * 7
    assert stratified_test(rows) == expected
    assert sign_flip_test([Fraction(1)] * wins + [Fraction(-1)] * losses + [Fraction(0)] * 7) == expected
    assert tail([{0: 1, 1: 1}] * trials, wins) == expected
    assert binomial_tail(wins, trials) == expected


def test_known_p_values() -> None:
    assert float(binomial_tail(9, 12)) == pytest.approx(0.0729980, abs=1e-6)  # 299/4096
    assert binomial_tail(10, 10) == Fraction(1, 1024)
    assert binomial_tail(0, 0) == 1


def test_a_tail_of_loaded_dice() -> None:
    coin_and_die = [{0: 1, 10: 3}, {1: 1, 2: 1, 3: 1}]
    assert tail(coin_and_die, 13) == Fraction(3, 12)
    assert tail(coin_and_die, 1) == 1
    assert tail(coin_and_die, 14) == 0
    assert tail([], 0) == 1


@given(DIFFERENCES.filter(bool), st.data())
def test_a_better_task_never_raises_p(differences: list[Fraction], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(differences) - 1))
    better = list(differences)
    better[place] = data.draw(st.fractions(better[place], 1, max_denominator=6))
    assert sign_flip_test(better) <= sign_flip_test(differences)


@given(st.lists(ROW, min_size=1, max_size=6), st.data())
def test_a_further_success_never_raises_p(rows: list[tuple[int, int, int, int]], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(rows) - 1))
    before, n, after, m = rows[place]
    better = [*rows[:place], (before, n, min(m, after + 1), m), *rows[place + 1 :]]
    assert stratified_test(better) <= stratified_test(rows)


@pytest.mark.parametrize("n", [40, 160, 400])
def test_graded_scores_of_any_fineness_are_tested_exactly_on_a_grid(n: int) -> None:
    chance = random.Random(n)
    draws = [Fraction(chance.uniform(-1, 1)).limit_denominator(10**6) for _ in range(n)]
    p = float(sign_flip_test(draws))
    assert p == pytest.approx(1 - _phi(z_score(draws)), abs=0.01)
    assert p + float(sign_flip_test([-d for d in draws])) == pytest.approx(1, abs=0.01)


def test_the_level_is_kept_whatever_the_fineness() -> None:
    chance = random.Random(7)
    hits = sum(sign_flip_test([exact_difference(chance) for _ in range(30)]) <= Fraction(1, 10) for _ in range(1000))
    assert hits / 1000 == pytest.approx(0.1, abs=0.025)


def exact_difference(chance: random.Random) -> Fraction:
    return Fraction(chance.betavariate(2, 1) - chance.betavariate(2, 1)).limit_denominator(10**6)


def _phi(z: float) -> float:
    return 0.5 * (1 + math.erf(z / math.sqrt(2)))


# -- intervals


def test_wilson_for_binary_scores() -> None:
    low, high = interval([1.0] * 81 + [0.0] * 182)  # Newcombe 1998, example: 81/263
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)
    assert interval([]) == (0.0, 1.0)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_equal_scores_still_leave_doubt(value: float) -> None:
    low, high = interval([value] * 20)
    assert low <= value <= high
    assert high - low > 0.1
    assert 0 <= low <= high <= 1


def test_a_paired_interval_does_not_collapse_when_nothing_moved() -> None:
    low, high = paired_interval([0.0] * 20)
    assert low == -high
    assert 0.05 < high < 0.2
    assert paired_interval([]) == (-1.0, 1.0)


def test_a_paired_interval_of_the_bonett_price_kind() -> None:
    n, fixed, broken = 100, 15, 5
    low, high = paired_interval([1.0] * fixed + [-1.0] * broken + [0.0] * (n - fixed - broken))
    p12, p21 = (fixed + 1) / (n + 2), (broken + 1) / (n + 2)
    half = 1.959964 * math.sqrt((p12 + p21 - (p12 - p21) ** 2) / (n + 2))
    assert (low, high) == (pytest.approx(p12 - p21 - half), pytest.approx(p12 - p21 + half))


@settings(max_examples=30)
@given(st.sampled_from([0.1, 0.5, 0.9]), st.sampled_from([20, 60]))
def test_a_wider_level_gives_a_wider_interval(rate: float, n: int) -> None:
    values = [1.0] * round(rate * n) + [0.0] * (n - round(rate * n))
    narrow, wide = interval(values, 0.8), interval(values, 0.99)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize("graded", [False, True])
def test_intervals_cover_the_truth_about_as_often_as_they_say(graded: bool) -> None:
    chance = random.Random(3)
    draw = (lambda: chance.betavariate(3, 1)) if graded else (lambda: float(chance.random() < 0.75))
    truth, runs, n = 0.75, 1200, 40
    single = [interval([draw() for _ in range(n)]) for _ in range(runs)]
    paired = [paired_interval([draw() - draw() for _ in range(n)]) for _ in range(runs)]
    assert 0.93 <= sum(low <= truth <= high for low, high in single) / runs <= 0.98
    assert 0.93 <= sum(low <= 0 <= high for low, high in paired) / runs <= 0.985
