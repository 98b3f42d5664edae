"""The edit budget, against the reference values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.schedule import edit_budget

KINDS = ["constant", "linear", "cosine", "autonomous"]


def budgets(kind: str, total: int, maximum: int, minimum: int) -> list[int | None]:
    return [edit_budget(kind, step, total, maximum, minimum) for step in range(total)]


@pytest.mark.parametrize(
    ("kind", "maximum", "minimum", "expected"),
    [
        ("cosine", 4, 2, [4, 4, 3, 3, 3, 2, 2, 2]),
        ("linear", 4, 2, [4, 4, 3, 3, 3, 2, 2, 2]),
        ("cosine", 16, 2, [16, 15, 13, 11, 9, 7, 5, 3, 2, 2]),
        ("linear", 16, 2, [15, 13, 12, 10, 9, 8, 6, 5, 3, 2]),
        ("constant", 4, 2, [4, 4, 4]),
        ("autonomous", 4, 2, [4, 4, 4]),
        ("none", 4, 2, [None, None, None]),
    ],
)
def test_reference_values(kind: str, maximum: int, minimum: int, expected: list[int | None]) -> None:
    assert budgets(kind, len(expected), maximum, minimum) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_one_step_in_all_gets_the_maximum(kind: str) -> None:
    assert edit_budget(kind, 0, 1, 7, 2) == 7


@given(
    st.sampled_from(["linear", "cosine"]),
    st.integers(1, 300),
    st.integers(1, 40).flatmap(lambda low: st.tuples(st.just(low), st.integers(low, 60))),
)
def test_a_falling_budget_never_rises_and_stays_in_its_range(kind: str, total: int, bounds: tuple[int, int]) -> None:
    minimum, maximum = bounds
    values = [value for value in budgets(kind, total, maximum, minimum) if value is not None]
    assert len(values) == total
    assert values == sorted(values, reverse=True)
    assert all(minimum <= value <= maximum for value in values)
    assert total == 1 or values[-1] == minimum


def test_an_unknown_kind_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(KeyError):
        edit_budget("exponential", 0, 8, 4, 2)
