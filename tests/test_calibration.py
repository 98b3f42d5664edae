"""A/A calibration against what is known exactly."""

from __future__ import annotations

import json
import math
import random

import pytest

from skillgit.calibration import calibrate
from skillgit.gate import Scores
from skillgit.stats import binomial_tail
from tests.gating import gate, read, scores


def noisy(chance: random.Random, n: int = 60, graded: bool = False) -> Scores:
    return scores(*(chance.betavariate(4, 2) if graded else float(chance.random() < 0.7) for _ in range(n)))


def test_strict_accepts_half_of_what_does_not_tie() -> None:
    first, second = read("1" * 10 + "0" * 10 + "1" * 20), read("0" * 10 + "1" * 10 + "1" * 20)
    found = calibrate(gate(), first, second, looks=40)
    assert (found.tasks, found.flipped) == (40, 20)
    assert found.noise == pytest.approx(math.sqrt(20) / 40)
    assert found.rates["strict"].look == pytest.approx(float(binomial_tail(11, 20)), abs=0.03)
    assert found.rates["strict"].run == pytest.approx(1, abs=1e-6)
    assert found.rates["no_regression"].look < 0.005
    assert found.rates["off"].look == 1
    assert found.verdict.action == "reject"


@pytest.mark.parametrize("graded", [False, True])
def test_paired_keeps_its_alpha_over_a_run(graded: bool) -> None:
    chance = random.Random(5)
    first, second = noisy(chance, graded=graded), noisy(chance, graded=graded)
    found = calibrate(gate("paired", alpha=0.2), first, second, looks=10, draws=400)
    assert 0 < found.rates["paired"].look < 0.28
    assert found.rates["paired"].run < 0.28
    assert found.rates["strict"].look > 0.4


def test_a_target_without_noise_accepts_nothing_useless() -> None:
    same = read("1100101101")
    found = calibrate(gate(), same, same, looks=40, draws=50)
    assert {name: rate.run for name, rate in found.rates.items()} == {
        "strict": 0,
        "no_regression": 0,
        "paired": 0,
        "off": 1,
    }
    assert found.flipped == found.noise == 0


def test_only_tasks_measured_twice_count() -> None:
    assert calibrate(gate(), read("11e0-"), read("1e00-"), draws=10).tasks == 2


def test_a_calibration_is_repeatable_and_can_be_written_down() -> None:
    first, second = noisy(random.Random(1)), noisy(random.Random(2))
    one, other = (calibrate(gate(), first, second, draws=50, seed=9) for _ in range(2))
    assert one == other
    assert json.loads(json.dumps(one.as_dict()))["rates"]["off"] == {"look": 1, "run": 1}
