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


def test_rejects_use_alpha_up_early_looks_more() -> None:
    found = levels(["reject"] * 40)
    assert sum(found) == pytest.approx(0.05)
    assert found == sorted(found, reverse=True)
    assert found[3] == pytest.approx(found[0] / 2)


@pytest.mark.parametrize("action", ["accept", "accept_new_best", "undecided", "skip"])
def test_what_risked_nothing_is_given_back(action: str) -> None:
    later = levels([action, *["reject"] * 10])[-10:]
    assert sum(later) == pytest.approx(0.05)
    assert all(more > less for more, less in zip(later, levels(["reject"] * 11)[1:], strict=True))


@given(ACTIONS, st.floats(0.001, 0.4))
def test_rejects_never_use_more_than_alpha(actions: list[str], alpha: float) -> None:
    kept = [action for action in actions if action != "skip"]
    found = levels(actions, alpha)
    certain = [level(alpha, look, len(actions)) for look, action in enumerate(actions, start=1) if action != "skip"]
    assert sum(size for size, action in zip(found, kept, strict=True) if action == "reject") <= alpha * (1 + 1e-9)
    assert all(size >= least * (1 - 1e-9) for size, least in zip(found, certain, strict=True))


def test_without_a_history_each_look_has_its_certain_part() -> None:
    parts = [level(0.05, look, 40) for look in range(1, 41)]
    assert sum(parts) == pytest.approx(0.05)
    assert parts == pytest.approx(levels(["reject"] * 40))


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
