"""How a run's alpha is spent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.looks import level, spent

ACTIONS = st.lists(st.sampled_from(["reject", "accept", "accept_new_best", "undecided", "skip"]), max_size=60)


def levels(actions: list[str], alpha: float = 0.05) -> list[float]:
    """The levels of a run whose steps end so."""
    verdicts: list[dict[str, object]] = []
    found = []
    for look, action in enumerate(actions, start=1):
        if action != "skip":
            found.append(level(alpha, look, len(actions), spent(verdicts)))
            verdicts.append({"action": action, "level": found[-1]})
    return found


def test_rejects_share_alpha_evenly() -> None:
    assert levels(["reject"] * 40) == pytest.approx([0.05 / 40] * 40)


@pytest.mark.parametrize("action", ["accept", "accept_new_best", "undecided", "skip"])
def test_what_risked_nothing_is_given_back(action: str) -> None:
    assert levels([action, *["reject"] * 10])[-10:] == pytest.approx([0.005] * 10)


@given(ACTIONS, st.floats(0.001, 0.4))
def test_rejects_never_use_more_than_alpha(actions: list[str], alpha: float) -> None:
    used = [
        size
        for size, action in zip(levels(actions, alpha), [a for a in actions if a != "skip"], strict=True)
        if action == "reject"
    ]
    assert sum(used) <= alpha * (1 + 1e-9)
    assert all(size >= alpha / len(actions) * (1 - 1e-9) for size in levels(actions, alpha))


def test_without_a_history_each_look_has_its_certain_share() -> None:
    assert {level(0.05, look, 40) for look in range(1, 41)} == {0.05 / 40}


def test_a_purse_that_is_empty_has_no_level() -> None:
    assert level(0.05, 3, 4, spent=0.06) == 0


@pytest.mark.parametrize(("look", "looks"), [(0, 4), (5, 4)])
def test_a_look_outside_the_run_is_a_mistake(look: int, looks: int) -> None:
    with pytest.raises(ValueError, match="look"):
        level(0.05, look, looks)


def test_verdicts_of_other_policies_spend_nothing() -> None:
    assert (
        spent([{"action": "reject", "level": None}, {"action": "reject"}, {"action": "reject", "level": 0.01}]) == 0.01
    )
