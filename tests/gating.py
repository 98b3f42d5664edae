"""Short ways to write evaluations down."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from skillgit.config import GateSettings
from skillgit.gate import Item, Scores

Mark = float | None | str
"""A score, None for an error, "-" for a task that was not run."""


def gate(policy: str = "strict", **settings: Any) -> GateSettings:
    """Settings that let small evaluations be judged."""
    return GateSettings.model_validate({"policy": policy, "min_items": 1, **settings})


def item(task_id: str, mark: Mark, samples: int = 1) -> Item:
    if mark is None:
        return Item(task_id, "error")
    if isinstance(mark, str):
        return Item(task_id, "not_run")
    return Item(task_id, "scored", mark, mark, samples)


def scores(*marks: Mark, samples: int = 1) -> Scores:
    """Tasks t0, t1, ..., hard and soft alike."""
    return Scores(tuple(item(f"t{i}", mark, samples) for i, mark in enumerate(marks)))


def read(text: str) -> Scores:
    """From one letter a task: 1 solved, 0 failed, e error, - not run."""
    marks: dict[str, Mark] = {"1": 1.0, "0": 0.0, "e": None, "-": "-"}
    return scores(*(marks[letter] for letter in text))


BINARY: st.SearchStrategy[Mark] = st.sampled_from([0.0, 1.0])
GRADED: st.SearchStrategy[Mark] = st.sampled_from([0.0, 0.1, 0.2, 0.25, 1 / 3, 0.5, 2 / 3, 0.7, 0.9, 1.0])


@st.composite
def evaluations(draw: st.DrawFn, values: st.SearchStrategy[Mark], most: int = 14) -> tuple[Scores, Scores]:
    """Two evaluations of the same tasks, with errors among them."""
    size = draw(st.integers(1, most))
    marks = st.lists(st.one_of(values, values, values, st.none()), min_size=size, max_size=size)
    return scores(*draw(marks)), scores(*draw(marks))
