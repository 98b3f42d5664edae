"""Which parts of a rejected candidate are tried."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.gate import decide
from skillgit.salvage import best_part, salvage_plan, share
from tests.gating import gate, read


@pytest.mark.parametrize(
    ("n_edits", "budget", "parts"),
    [
        (4, 9, ((0, 1), (2, 3), (0,), (1,), (2,), (3,))),
        (5, 4, ((0, 1, 2), (3, 4), (0,), (1,))),
        (3, 9, ((0, 1), (2,), (0,), (1,))),
        (2, 9, ((0,), (1,))),
        (4, 1, ((0, 1),)),
        (1, 9, ()),
        (0, 9, ()),
        (4, 0, ()),
    ],
)
def test_halves_come_first_then_single_edits(n_edits: int, budget: int, parts: tuple[tuple[int, ...], ...]) -> None:
    assert salvage_plan(n_edits, budget) == parts


@given(st.integers(0, 12), st.integers(0, 20))
def test_parts_are_proper_and_tried_once(n_edits: int, budget: int) -> None:
    parts = salvage_plan(n_edits, budget)
    assert len(parts) == len(set(parts)) <= budget
    assert all(0 < len(part) < n_edits and set(part) <= set(range(n_edits)) for part in parts)
    whole, each = share(len(parts))
    assert whole + each * len(parts) == pytest.approx(1)


def test_a_part_gets_its_share_of_the_level() -> None:
    setting, current = gate("paired", alpha=0.04), read("0" * 5)
    verdict = decide(setting, current, read("1" * 5), current, share=0.25)
    assert verdict.level == pytest.approx(0.01)


def test_the_best_part_is_the_one_that_gained_most() -> None:
    current = read("0011")
    parts = [decide(gate(), current, read(text), current) for text in ("0011", "1011", "1111", "0000", "1111")]
    assert best_part(parts) == 2
    assert best_part(parts[:1]) is None
    assert best_part([]) is None
