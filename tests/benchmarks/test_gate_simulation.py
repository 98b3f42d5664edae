"""The simulation's main findings, on a smaller size; ``python tests/benchmarks/gate.py`` prints the whole table."""

from __future__ import annotations

import pytest

from tests.benchmarks.gate import (
    ALPHA,
    LOOKS,
    SETUPS,
    Trained,
    boundary,
    mean,
    null_distribution,
    power,
    randomised_sign_test,
    train,
    useless_run,
    verdict_cost,
)
from tests.benchmarks.gate_world import LARGE, SELECTION, World, worth


def test_strict_lets_useless_edits_through_and_believes_in_them() -> None:
    runs = [useless_run("strict", seed) for seed in range(100, 125)]
    assert 0.3 < mean(run.only for run in runs) < 0.65
    assert mean(run.accepted > 0 for run in runs) > 0.8
    assert mean(run.optimism for run in runs) > 0.04


@pytest.mark.parametrize("repeats", [1, 5])
def test_paired_accepts_a_useless_edit_in_few_whole_runs(repeats: int) -> None:
    runs = [useless_run("paired", seed, repeats) for seed in range(50 if repeats == 1 else 20)]
    assert sum(run.accepted > 0 for run in runs) <= ALPHA * len(runs) + 3
    assert abs(mean(run.optimism for run in runs)) < 0.03


def test_paired_finds_a_good_edit_nearly_as_often_as_an_oracle() -> None:
    found = power(ALPHA, 300, seed=1)
    assert 0.4 < found.unbiased < 0.95
    assert found.paired > found.unbiased - 0.05
    assert found.paired > found.rates - 0.05
    assert found.paired_repeats > found.paired + 0.1


def test_the_oracles_attain_their_level_exactly() -> None:
    world = World(LARGE, 1)
    chances = null_distribution(world.start.chances[:SELECTION])
    edge, part = boundary(chances, 0.01)
    above = sum(chances[edge + len(chances) // 2 + 1 :])
    assert sum(chances) == pytest.approx(1)
    assert above + part * chances[edge + len(chances) // 2] == pytest.approx(0.01)
    accepts = [randomised_sign_test(wins, 3, 0.2) for wins in range(4)]
    assert sum(accept * ways for accept, ways in zip(accepts, (1, 3, 3, 1), strict=True)) / 8 == pytest.approx(0.2)


def test_an_edit_is_worth_what_it_should() -> None:
    world = World(LARGE, 2)
    better = worth(world.start, 10, 0.3, world.chance)
    assert better.expected - world.start.expected == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize("policy", ["strict", "no_regression", "paired"])
def test_the_early_stop_saves_rollouts_and_changes_no_verdict(policy: str) -> None:
    costs = [verdict_cost(policy, seed) for seed in (1,)]
    first, last = sum(cost.failing_first for cost in costs), sum(cost.passing_first for cost in costs)
    if policy == "no_regression":
        first, last = last, first
    assert sum(cost.differing for cost in costs) == 0
    assert first < last < sum(cost.full for cost in costs) == LOOKS * SELECTION


def test_gates_by_the_skill_they_lead_to() -> None:
    def trained(name: str) -> list[Trained]:
        setup = next(setup for setup in SETUPS if setup.name == name)
        return [train(LARGE, setup, seed) for seed in range(1, 4)]

    strict, paired, repeated, off = (trained(name) for name in ("strict", "paired", "paired, current x5", "off"))
    quality = {
        name: mean(run.at_budget - run.start for run in runs)
        for name, runs in (("strict", strict), ("paired", paired), ("repeated", repeated), ("off", off))
    }
    assert quality["off"] < 0 < quality["paired"] < quality["repeated"]
    assert quality["strict"] > quality["paired"] + 0.05
    assert mean(run.useless for run in strict) > 1 > mean(run.useless for run in repeated)
    assert mean(run.optimism for run in strict) > mean(run.optimism for run in repeated) + 0.01
