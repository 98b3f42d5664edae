from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.config import GateSettings
from skillgit.gate import Scores, decide
from skillgit.results import Item
from skillgit.taskset.sight import sight


def gate(**options: object) -> GateSettings:
    return GateSettings.model_validate(options)


def test_without_noise_strict_sees_one_task() -> None:
    seen = sight(gate(), 20, level=0.05, noise=0.0)
    assert (seen.gain, seen.useless, seen.level) == (1 / 20, 0.0, None)


def test_without_noise_paired_needs_as_many_wins_as_its_test() -> None:
    """Four wins of 20 have p = 0.037, three 0.073. With five tasks the smallest p there is, that of five wins, is 1/4^5."""
    seen = sight(gate(policy="paired"), 20, level=0.05, noise=0.0)
    assert seen.gain == 4 / 20 and seen.level == 0.05
    assert sight(gate(policy="paired"), 5, level=0.0005, noise=0.0).gain is None


def test_too_few_tasks_show_nothing() -> None:
    assert sight(gate(min_items=5), 4, level=0.05, noise=0.0).gain is None


def test_noise_makes_strict_accept_nothing_new_and_no_regression_nothing_at_all() -> None:
    assert 0.3 < sight(gate(), 40, level=0.05, noise=0.2).useless < 0.5
    assert sight(gate(policy="no_regression"), 60, level=0.05, noise=0.3).gain is None
    assert sight(gate(policy="off"), 40, level=0.05, noise=0.2).useless == 1


def test_repeats_show_smaller_gains() -> None:
    gains = [sight(gate(policy="paired", repeats=r), 40, level=0.05, noise=0.25).gain for r in (1, 5)]
    assert gains[0] is not None and gains[1] is not None and gains[1] < gains[0]


@pytest.mark.parametrize("policy", ["strict", "paired"])
def test_the_gate_itself_accepts_such_a_gain_in_four_of_five_cases(policy: str) -> None:
    """The promise, tried on verdicts of the gate with other draws than those it was found with."""
    tasks, noise = 60, 0.15
    options = gate(policy=policy)
    seen = sight(options, tasks, level=0.05, noise=noise)
    assert seen.gain is not None
    chance, accepted = random.Random("another"), 0
    unsettled, solved = round(2 * noise * tasks), round(seen.gain * tasks)
    for _ in range(300):
        before = [float(chance.random() < 0.5) for _ in range(unsettled)] + [0.0] * (tasks - unsettled)
        after = [float(chance.random() < 0.5) for _ in range(unsettled)]
        after += [1.0] * solved + [0.0] * (tasks - unsettled - solved)
        one, other = (
            Scores(tuple(Item(str(i), "scored", value, value) for i, value in enumerate(values)))
            for values in (before, after)
        )
        accepted += decide(options, one, other, one).accepted
    assert accepted / 300 > 0.72


@settings(max_examples=25, deadline=None)
@given(st.integers(5, 80), st.sampled_from(["strict", "paired"]), st.floats(0, 0.3))
def test_more_noise_never_shows_more(tasks: int, policy: str, noise: float) -> None:
    calm = sight(gate(policy=policy), tasks, level=0.05, noise=0.0)
    noisy = sight(gate(policy=policy), tasks, level=0.05, noise=noise)
    if noisy.gain is not None:
        assert calm.gain is not None and 0 <= noisy.gain <= 1
    if noise == 0:
        assert noisy == calm
