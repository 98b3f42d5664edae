"""Verdicts of every policy, and the early stop that changes none of them."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.config import GateSettings
from skillgit.gate import EarlyStop, Item, Scores, Verdict, decide, order
from skillgit.stats import sign_test
from tests.gating import BINARY, GRADED, Mark, evaluations, gate, item, read, scores

POLICIES = ["strict", "no_regression", "paired", "off"]


def ruling(setting: GateSettings, current: str, candidate: str, best: str = "") -> Verdict:
    return decide(setting, read(current), read(candidate), read(best or current))


# -- strict


@pytest.mark.parametrize(
    ("current", "candidate", "best", "action"),
    [
        ("10000", "11000", "10000", "accept_new_best"),
        ("10000", "11000", "11100", "accept"),
        ("10000", "11000", "11000", "accept"),
        ("11000", "00011", "11000", "reject"),
        ("11000", "10000", "11000", "reject"),
        ("00000", "00000", "00000", "reject"),
    ],
)
def test_strict_wants_more_than_the_current_score(current: str, candidate: str, best: str, action: str) -> None:
    assert ruling(gate(), current, candidate, best).action == action


@pytest.mark.parametrize("metric", ["hard", "soft", "mixed"])
def test_dust_is_no_gain(metric: str) -> None:
    current, candidate = scores(0.3, 1 / 3, 0.1), scores(0.1 + 0.2, 1 - 2 / 3, 0.1 + 1e-17)
    assert decide(gate(metric=metric), current, candidate, current).action == "reject"
    assert decide(gate(metric=metric), candidate, current, candidate).action == "reject"


@given(st.lists(GRADED, min_size=1, max_size=10), st.randoms(use_true_random=False))
def test_equal_scores_of_the_same_values_tie(marks: list[Mark], chance: object) -> None:
    mixed = list(marks)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    verdict = decide(gate(metric="mixed", mixed_weight=0.3), scores(*marks), scores(*mixed), scores(*marks))
    assert verdict.action == "reject"
    assert verdict.delta == 0


def test_the_metric_decides() -> None:
    def one(hard: float, soft: float) -> Scores:
        return Scores((Item("a", "scored", hard, soft), Item("b", "scored", 1.0, 1.0)))

    current, candidate = one(0.0, 0.9), one(1.0, 0.1)
    accepted = {
        metric: decide(gate(metric=metric), current, candidate, current).accepted for metric in ("hard", "soft")
    }
    assert accepted == {"hard": True, "soft": False}
    mixed = [decide(gate(metric="mixed", mixed_weight=w), current, candidate, current) for w in (0.0, 0.5, 0.6, 1.0)]
    assert [verdict.accepted for verdict in mixed] == [True, True, False, False]
    assert mixed[1].delta == pytest.approx(0.05)


def test_a_verdict_says_what_moved() -> None:
    verdict = ruling(gate(), "110010", "101110")
    assert verdict.movement.fixed == ("t2", "t3")
    assert verdict.movement.broken == ("t1",)
    assert verdict.movement.unchanged == 3
    assert (verdict.before, verdict.after, verdict.best) == (0.5, 0.666667, 0.5)
    assert verdict.interval[0] < verdict.delta < verdict.interval[1]
    assert verdict.reason == "4 of 6 against 3: higher"
    assert (verdict.evaluated, verdict.total, verdict.upper_bound) == (6, 6, False)


def test_graded_scores_are_shown_as_means() -> None:
    verdict = decide(gate(), scores(0.5, 0.25), scores(0.5, 0.5), scores(0.5, 0.25))
    assert verdict.reason == "0.5000 against 0.3750: higher"


# -- what could not be measured


@pytest.mark.parametrize("policy", ["strict", "paired", "off"])
def test_a_task_that_failed_to_run_counts_neither_way(policy: str) -> None:
    setting = gate(policy, min_coverage=0.5, alpha=0.3)
    assert ruling(setting, "11000", "11e11").accepted
    assert ruling(setting, "11000", "e1011").accepted, "a lost success is not a failure"
    if policy != "off":
        assert ruling(setting, "11000", "11ee0").action == "reject", "nor is it a success"


def test_a_task_the_current_skill_was_not_measured_on_says_nothing() -> None:
    verdict = ruling(gate(), "110e", "1101")
    assert verdict.action == "reject"
    assert verdict.after == verdict.before == 0.666667


def test_scores_are_compared_on_the_tasks_both_have() -> None:
    verdict = ruling(gate(min_coverage=0.5), "0011", "01e1")
    assert verdict.accepted
    assert (verdict.before, verdict.after, verdict.evaluated) == (0.333333, 0.666667, 3)
    assert verdict.movement.unchanged == 2


def test_a_task_that_is_missing_altogether_was_not_measured() -> None:
    current = read("110")
    candidate = Scores(read("11").items)
    assert decide(gate(), current, candidate, current).action == "undecided"


@pytest.mark.parametrize("policy", ["strict", "no_regression", "off"])
def test_too_little_coverage_is_undecided(policy: str) -> None:
    verdict = ruling(gate(policy), "1100000000", "111111ee11")
    assert verdict.action == "undecided"
    assert verdict.reason == "only 80% of the tasks could be measured"
    assert not verdict.accepted


def test_coverage_is_counted_on_the_whole_split() -> None:
    assert ruling(gate(min_coverage=0.9), "1100000000", "111111111e").action == "accept_new_best"


def test_errors_that_cannot_matter_do_not_hold_a_reject_up() -> None:
    assert ruling(gate(), "1110000000", "000000000e").action == "reject"


def test_errors_alone_decide_nothing() -> None:
    assert ruling(gate(), "1111", "eeee").action == "undecided"
    assert not EarlyStop(gate(), read("1111"), 4).settled(read("ee11").items[:2])


def test_fewer_tasks_than_min_items_accept_nothing() -> None:
    setting = GateSettings(min_coverage=0.1)
    assert ruling(setting, "0000", "1111").action == "undecided"
    assert ruling(setting, "0000e", "11111").action == "undecided"
    assert ruling(setting, "00000", "11111").action == "accept_new_best"


def test_an_incomplete_evaluation_is_never_accepted() -> None:
    for policy in POLICIES:
        verdict = ruling(gate(policy, alpha=0.49), "0000", "11--")
        assert (verdict.action, verdict.upper_bound) == ("undecided", False)
        assert verdict.reason == "only 2 of 4 tasks were run"


def test_a_stopped_evaluation_shows_bounds() -> None:
    verdict = ruling(gate(), "1110", "00--")
    assert verdict.action == "reject"
    assert verdict.upper_bound
    assert verdict.reason == "at most 2 of 4 against 3: lower"
    assert (verdict.before, verdict.after, verdict.delta) == (0.75, 0.5, -0.25)
    assert (verdict.evaluated, verdict.total) == (2, 4)
    whole = [ruling(gate(), "1110", f"00{rest}").interval for rest in ("00", "01", "10", "11")]
    assert all(verdict.interval[0] <= low and high <= verdict.interval[1] for low, high in whole)


# -- the other policies


def test_no_regression_refuses_a_gain_that_breaks_a_task() -> None:
    assert ruling(gate("no_regression"), "1000", "1110").action == "accept_new_best"
    verdict = ruling(gate("no_regression"), "10000", "01110")
    assert verdict.action == "reject"
    assert verdict.reason == "3 of 5 against 1: broke t0"
    assert ruling(gate("no_regression"), "1000", "1000").action == "reject"


def test_no_regression_cannot_be_shown_without_measuring() -> None:
    verdict = ruling(gate("no_regression", min_coverage=0.5), "1100", "e111")
    assert verdict.action == "undecided"
    assert "could not be measured: t0" in verdict.reason


def test_paired_wants_more_than_chance() -> None:
    setting = gate("paired", alpha=0.03)
    assert ruling(setting, "0" * 3 + "1" * 6, "1" * 9).action == "reject"
    verdict = ruling(setting, "0" * 5 + "1" * 4, "1" * 9)
    assert verdict.action == "accept_new_best"
    assert verdict.p_value == pytest.approx(sign_test(5, 0, 9))
    assert verdict.level == 0.03
    assert verdict.reason == "9 of 9 against 4: p = 0.011, within 0.03"


def test_paired_spends_its_alpha_over_the_looks() -> None:
    setting = gate("paired", alpha=0.05)
    current, candidate = scores(0.2, *[0.0] * 8), scores(*[1.0] * 9)  # graded: 1/512

    def accepted(**looks: Any) -> bool:
        return decide(setting, current, candidate, current, **looks).accepted

    assert accepted(look=4, looks=40)
    assert not accepted(look=10, looks=40)
    assert accepted(look=10, looks=40, spent=0.0)
    assert not accepted(look=10, looks=40, spent=0.04)


def test_paired_tests_graded_scores_by_permutation() -> None:
    current, candidate = scores(*[0.5] * 6), scores(0.6, 0.7, 0.8, 0.9, 1.0, 0.4)
    verdict = decide(gate("paired", metric="soft"), current, candidate, current)
    assert verdict.p_value == pytest.approx(3 / 64)
    assert verdict.accepted


def test_paired_weighs_repeats_exactly() -> None:
    current, candidate = scores(0.0, 0.5, 0.5, samples=2), scores(1.0, 1.0, 1.0, samples=2)
    assert decide(gate("paired"), current, candidate, current).p_value == pytest.approx(1 / 6 * 1 / 2 * 1 / 2)


def test_off_accepts_all_and_keeps_the_best() -> None:
    assert ruling(gate("off"), "1111", "0000").action == "accept"
    assert ruling(gate("off"), "0011", "0000").action == "accept"
    assert ruling(gate("off"), "0011", "1110").action == "accept_new_best"


@pytest.mark.parametrize("policy", POLICIES)
@given(case=st.one_of(evaluations(BINARY), evaluations(GRADED)), data=st.data())
def test_policies_are_monotone(policy: str, case: tuple[Scores, Scores], data: st.DataObject) -> None:
    current, candidate = case
    setting = gate(policy, alpha=0.4, min_coverage=0.01)
    place = data.draw(st.integers(0, len(candidate.items) - 1))
    better = list(candidate.items)
    if better[place].scored:
        better[place] = item(better[place].task_id, 1.0)
    if decide(setting, current, candidate, current).accepted:
        assert decide(setting, current, Scores(tuple(better)), current).accepted


# -- early stop


def run(setting: GateSettings, current: Scores, candidate: Scores, **looks: float) -> Scores:
    """Evaluate in order and stop like a rollout does: the rest is not run, and errors in hand are measured again."""
    by_id = {found.task_id: found for found in candidate.items}
    queue = [by_id[task_id] for task_id in order(current, setting.policy)]
    stop = EarlyStop(setting, current, len(queue), **looks)  # type: ignore[arg-type]
    end = next((n for n in range(1, len(queue)) if stop.settled(queue[:n])), len(queue))
    done = {found.task_id for found in queue[:end]}
    return Scores(tuple(found if found.task_id in done else item(found.task_id, "-") for found in candidate.items))


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=150)
@given(case=st.one_of(evaluations(BINARY), evaluations(GRADED)), coverage=st.sampled_from([0.01, 0.7, 1.0]))
def test_the_verdict_is_the_same_with_the_early_stop(policy: str, case: tuple[Scores, Scores], coverage: float) -> None:
    current, candidate = case
    setting = gate(policy, metric="mixed", alpha=0.3, min_items=2, min_coverage=coverage)
    full = decide(setting, current, candidate, current)
    stopped = decide(setting, current, run(setting, current, candidate), current)
    assert stopped.action == full.action
    if stopped.upper_bound:
        assert stopped.after >= full.after or candidate.coverage < 1
        assert stopped.before == pytest.approx(current.value("mixed"), abs=1e-6)
    else:
        assert stopped == full


@pytest.mark.parametrize("policy", ["strict", "no_regression", "paired"])
def test_every_binary_outcome_of_small_splits(policy: str) -> None:
    setting = gate(policy, alpha=0.2, min_coverage=0.6)
    saved = 0
    for before in product("10", repeat=4):
        for after in product("10e", repeat=4):
            current, candidate = read("".join(before)), read("".join(after))
            partly = run(setting, current, candidate)
            assert (
                decide(setting, current, partly, current).action == decide(setting, current, candidate, current).action
            )
            saved += sum(found.status == "not_run" for found in partly.items)
    assert saved > 500


@given(case=evaluations(BINARY), data=st.data())
def test_an_error_in_hand_may_still_turn_into_a_score(case: tuple[Scores, Scores], data: st.DataObject) -> None:
    current, candidate = case
    setting = gate(min_coverage=0.01)
    partly = run(setting, current, candidate)
    again = tuple(
        item(found.task_id, data.draw(BINARY)) if found.status == "error" else found for found in candidate.items
    )
    if any(found.status == "not_run" for found in partly.items):
        assert decide(setting, current, Scores(again), current).action == "reject"


@pytest.mark.parametrize("policy", POLICIES)
def test_the_last_task_settles_nothing(policy: str) -> None:
    current, candidate = read("1111"), read("0000")
    assert not EarlyStop(gate(policy), current, 4).settled(candidate.items)


def test_tasks_that_can_settle_a_reject_come_first() -> None:
    current = scores(1.0, 0.0, 0.5, None)
    assert order(current) == order(current, "paired") == ("t1", "t3", "t2", "t0")
    assert order(current, "no_regression") == ("t0", "t2", "t1", "t3")


def test_the_early_stop_knows_the_level_of_the_look() -> None:
    current, prefix = read("0" * 12 + "1" * 12), read("1" * 6 + "0" * 4).items
    setting = gate("paired")
    assert not EarlyStop(setting, current, 24).settled(prefix)
    assert EarlyStop(setting, current, 24, look=40, looks=40).settled(prefix)
    assert not EarlyStop(setting, current, 24, look=40, looks=40, spent=0.0).settled(prefix)
    assert EarlyStop(setting, current, 24, look=40, looks=40, spent=0.05).settled(prefix[:1]), "alpha is spent"


@settings(max_examples=60)
@given(data=st.data())
def test_the_verdict_is_the_same_with_repeats_on_either_side(data: st.DataObject) -> None:
    n, m = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    size = data.draw(st.integers(1, 8))

    def drawn(samples: int) -> Scores:
        marks = st.one_of(st.integers(0, samples).map(lambda hits: hits / samples), st.none())
        return scores(*data.draw(st.lists(marks, min_size=size, max_size=size)), samples=samples)

    current, candidate = drawn(n), drawn(m)
    setting = gate("paired", alpha=0.25, min_coverage=0.5)
    full = decide(setting, current, candidate, current)
    assert decide(setting, current, run(setting, current, candidate), current).action == full.action


def test_off_never_stops() -> None:
    stop = EarlyStop(gate("off"), read("1111"), 4)
    assert not any(stop.settled(read("0000").items[:n]) for n in range(5))


def test_a_prefix_settles_as_soon_as_the_rest_cannot_win() -> None:
    stop = EarlyStop(gate(), read("111100"), 6)
    lost = read("000000").items
    assert [stop.settled(lost[:n]) for n in range(1, 4)] == [False, True, True]
    assert not stop.settled(read("0e0000").items[:2]), "an error is no loss"


# -- records


@pytest.mark.parametrize("policy", POLICIES)
@given(case=evaluations(GRADED))
def test_a_verdict_survives_json_and_yaml(policy: str, case: tuple[Scores, Scores]) -> None:
    verdict = decide(gate(policy), *case, case[0])
    assert Verdict.from_dict(json.loads(json.dumps(verdict.as_dict()))) == verdict
    assert Verdict.from_dict(yaml.safe_load(json.dumps(verdict.as_dict()))) == verdict


@pytest.mark.parametrize(
    ("policy", "current", "certain"),
    [
        ("strict", "1111", True),
        ("strict", "1110", False),
        ("no_regression", "1111", True),
        ("paired", "1111", True),
        ("paired", "1100", True),
        ("off", "1111", False),
    ],
)
def test_nothing_is_run_where_no_candidate_can_win(policy: str, current: str, certain: bool) -> None:
    """Two fixed tasks of four are p = 1/4, above any level; a perfect skill cannot be beaten."""
    setting, now = gate(policy), read(current)
    assert EarlyStop(setting, now, 4).settled([]) is certain
    unseen = Scores(tuple(Item(item.task_id, "not_run") for item in now.items))
    assert (decide(setting, now, unseen, now).action == "reject") is certain
