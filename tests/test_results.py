"""Items, exact means and the join of two evaluations."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import ConfigError
from skillgit.results import Item, Scores, exact, join
from tests.gating import GRADED, Mark, read, scores


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.01, 1.000001, "1", None])
def test_a_score_outside_its_range_is_refused(value: float) -> None:
    with pytest.raises(ConfigError, match=r"the judge scored task 'a' .*a score is a number in 0\.\.1"):
        Item("a", "scored", value, 1.0)
    with pytest.raises(ConfigError, match="judge"):
        Item("a", "scored", 1.0, value)


def test_floats_are_read_as_what_they_stand_for() -> None:
    assert exact(0.1 + 0.2) == exact(0.3) == Fraction(3, 10)
    assert exact((1 + 0 + 0) / 3) == Fraction(1, 3)
    assert exact(1) == 1


@given(st.lists(GRADED, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_equal_scores_in_another_order_are_equal(marks: list[Mark], chance: random.Random) -> None:
    mixed = list(marks)
    chance.shuffle(mixed)
    for metric in ("hard", "soft", "mixed"):
        assert scores(*marks).value(metric, 0.3) == scores(*mixed).value(metric, 0.3)


def test_a_mean_of_repeats_has_no_dust() -> None:
    thirds = scores(*[sum([1, 0, 0]) / 3] * 3, samples=3)
    assert thirds.value("hard") == scores(1.0, 0.0, 0.0, samples=3).value("hard")


def test_mixed_weighs_both_scores() -> None:
    found = Scores((Item("a", "scored", 1.0, 0.5),))
    assert found.value("mixed", 0.0) == 1
    assert found.value("mixed", 1.0) == Fraction(1, 2)
    assert found.value("mixed", 0.3) == Fraction(85, 100)


def test_errors_and_tasks_not_run_are_in_no_mean() -> None:
    found = read("10e1-")
    assert found.value("hard") == Fraction(2, 3)
    assert found.n_scored == 3
    assert found.coverage == 0.8


def test_nothing_scored_has_no_coverage_and_no_mean() -> None:
    assert Scores(()).coverage == 0
    assert Scores(()).hard == 0


def test_a_task_has_one_item() -> None:
    with pytest.raises(ValueError, match="more than one item"):
        Scores((Item("a", "error"), Item("a", "scored", 1.0, 1.0)))


def test_evaluations_are_joined_by_id_and_missing_items_are_not_measured() -> None:
    current = read("1010e")
    candidate = Scores(tuple(reversed(read("1e-").items)))
    joined = join(current, candidate)
    assert [before.task_id for before, _ in joined.measured] == ["t0"]
    assert [item.task_id for item in joined.failed] == ["t1", "t3"]
    assert [item.task_id for item in joined.waiting] == ["t2"]
    assert [after.hard for _, after in joined.at_best()] == [1, 1, 1, 1]
    assert [after.hard for _, after in joined.at_worst()] == [1, 0, 0, 0]
