"""Tasks, splits and batches."""

from __future__ import annotations

import random
import unicodedata
from collections import Counter
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import TaskError
from skillgit.splits import (
    SPLITS,
    Splits,
    Task,
    assign,
    epoch_order,
    minibatches,
    shuffled,
    step_batches,
    steps_per_epoch,
)

RATIO = (2.0, 1.0, 7.0)


def normal(text: str) -> str:
    """How far two inputs may differ and still ask the same."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


IDS = st.lists(st.text(min_size=1, max_size=8), unique_by=normal, max_size=60)


def tasks(*ids: str, split: str = "") -> list[Task]:
    return [Task(task_id, f"question {task_id}", split=split) for task_id in ids]


def numbered(count: int) -> list[Task]:
    return tasks(*(f"t{i}" for i in range(count)))


def named(task_id: str, split: str, text: str = "") -> Task:
    return Task(task_id, text or f"question {task_id}", split=split)


def where(splits: Splits) -> dict[str, str]:
    return {task.id: name for name in SPLITS for task in getattr(splits, name)}


def base() -> list[Task]:
    """Enough named tasks for every split to have its minimum."""
    return [named(f"base {name}", name) for name in SPLITS]


# -- assignment


def test_the_ratio_is_kept_on_average() -> None:
    counts = Counter(where(assign(numbered(5000), RATIO, 42, min_selection=5)).values())
    assert counts["train"] == pytest.approx(1000, abs=120)
    assert counts["selection"] == pytest.approx(500, abs=90)
    assert counts["test"] == pytest.approx(3500, abs=150)


def test_assignment_is_the_same_on_every_machine() -> None:
    splits = assign(numbered(30), (1, 1, 1), 42)
    assert [task.id for task in splits.selection] == ["t3", "t4", "t6", "t16", "t20", "t21", "t26", "t27", "t28", "t29"]


def test_the_seed_changes_the_assignment() -> None:
    one, other = (where(assign(numbered(200), RATIO, seed)) for seed in (1, 2))
    assert one != other


def test_a_task_that_names_its_split_is_put_there() -> None:
    many = [named(f"t{i}", SPLITS[i % 3]) for i in range(60)]
    assert where(assign(many, RATIO, 42)) == {task.id: task.split for task in many}


@given(IDS, IDS, st.randoms(use_true_random=False), st.integers())
def test_adding_and_reordering_tasks_moves_no_other(
    ids: list[str], more: list[str], chance: random.Random, seed: int
) -> None:
    old = [Task(f"x{i}", f"old {i}") for i in ids]
    before = where(assign([*base(), *old], RATIO, seed))
    new = [*base(), *old, *(Task(f"y{i}", f"new {i}") for i in more)]
    chance.shuffle(new)
    after = where(assign(new, RATIO, seed))
    assert {task_id: after[task_id] for task_id in before} == before
    assert len(after) == len(new)


def test_splits_keep_the_order_of_the_file() -> None:
    many = numbered(100)
    splits = assign(many, (1, 1, 1), 42)
    for name in SPLITS:
        part = getattr(splits, name)
        assert list(part) == [task for task in many if task in part]


# -- refusals


def test_duplicate_ids_are_named() -> None:
    with pytest.raises(TaskError, match="2 task ids occur more than once: a, b"):
        assign([*tasks("a", "b", "c"), *tasks("b", "a")], RATIO, 42)


def test_many_duplicates_are_counted() -> None:
    twice = numbered(9)
    with pytest.raises(TaskError, match=r"9 task ids.*t0, t1, t2, t3, t4 and 4 more"):
        assign([*twice, *twice], RATIO, 42)


def test_an_unknown_split_is_named_with_those_allowed() -> None:
    with pytest.raises(TaskError, match="'a' names the split 'val'; allowed are train, selection, test"):
        assign([named("a", "val")], RATIO, 42)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is 2 + 2?", "what  is 2 + 2?\n"),
        ("STRASSE", "straße"),
        ("no break\u00a0space", "no break space"),
        ("ﬁnd", "find"),
    ],
)
def test_the_same_question_in_two_splits_is_refused(one: str, other: str) -> None:
    overlapping = [*base(), named("a", "train", one), named("b", "test", other)]
    with pytest.raises(TaskError, match=r"'b' \(test\) asks the same as 'a' \(train\)") as caught:
        assign(overlapping, RATIO, 42)
    assert "split" in caught.value.hint


def test_the_same_question_with_another_reference_answer_still_overlaps() -> None:
    one, other = Task("a", "same", answer="1", split="train"), Task("b", "same", answer="2", split="selection")
    with pytest.raises(TaskError, match="overlap"):
        assign([*base(), one, other], RATIO, 42)


def test_the_same_question_twice_in_one_split_is_allowed() -> None:
    assign([*base(), named("a", "train", "same"), named("b", "train", "same")], RATIO, 42)


def test_tasks_that_differ_in_a_field_do_not_overlap() -> None:
    one = Task("a", "What is shown?", split="train", fields={"image": "1.png"})
    other = Task("b", "What is shown?", split="test", fields={"image": "2.png"})
    assign([*base(), one, other], RATIO, 42)


def test_fields_are_compared_normalised() -> None:
    one = Task("a", "Pick one", split="train", fields={"choices": ["Red", "Blue "]})
    other = Task("b", "pick one", split="test", fields={"choices": ["red", "blue"]})
    with pytest.raises(TaskError, match="overlap"):
        assign([*base(), one, other], RATIO, 42)


def test_too_few_tasks_are_refused_with_the_number_that_is_needed() -> None:
    with pytest.raises(TaskError, match=r"3 tasks are too few: .*selection \d \(at least 5\)") as caught:
        assign(numbered(3), RATIO, 42, min_selection=5)
    needed = int("".join(c for c in caught.value.hint.partition("tasks")[0] if c.isdigit()))
    fitting = sum(_fits(needed, seed) for seed in range(100))
    assert fitting >= 90, "the number named is enough for nearly every seed"


def _fits(count: int, seed: int) -> bool:
    try:
        assign(numbered(count), RATIO, seed, min_selection=5)
    except TaskError:
        return False
    return True


@pytest.mark.parametrize("missing", SPLITS)
def test_no_split_is_ever_filled_from_another(missing: str) -> None:
    some = [named(f"{name}{i}", name) for name in SPLITS if name != missing for i in range(50)]
    with pytest.raises(TaskError, match=rf"{missing} 0 \(at least 1\)"):
        assign(some, RATIO, 42)


def test_no_tasks_at_all_are_refused() -> None:
    with pytest.raises(TaskError, match="0 tasks are too few"):
        assign([], RATIO, 42)


# -- content addresses


def test_a_digest_covers_what_is_asked_and_expected() -> None:
    task = Task("a", "q", "1", "sum", "train", {"n": 1})
    same = Task("b", "q", "1", "sum", "test", {"n": 1})
    others = [
        Task("a", "r", "1", "sum", fields={"n": 1}),
        Task("a", "q", "2", "sum", fields={"n": 1}),
        Task("a", "q", "1", "sum", fields={"n": 2}),
        Task("a", "q", "1", "sum", fields={"m": 1}),
    ]
    assert task.digest() == same.digest()
    assert len({task.digest(), *(other.digest() for other in others)}) == 5
    assert len(task.digest()) == 12


def test_a_digest_does_not_depend_on_the_order_of_fields_or_sets() -> None:
    one = Task("a", "q", fields={"x": 1, "y": {"b", "a", "c"}, "day": date(2026, 1, 2), "price": Decimal("1.50")})
    other = Task("a", "q", fields={"price": Decimal("1.50"), "day": date(2026, 1, 2), "y": {"c", "a", "b"}, "x": 1})
    assert one.digest() == other.digest()


@pytest.mark.parametrize("value", [object(), {1: "a", "b": 2}])
def test_a_field_without_one_written_form_is_refused(value: object) -> None:
    with pytest.raises(TaskError, match="task 'a' cannot be written as JSON"):
        Task("a", "q", fields={"thing": value}).digest()


# -- batches


@given(st.lists(st.integers()), st.integers(), st.text())
def test_shuffling_keeps_every_item(items: list[int], seed: int, name: str) -> None:
    assert sorted(shuffled(items, seed, name)) == sorted(items)
    assert shuffled(items, seed, name) == shuffled(items, seed, name)


def test_shuffling_is_the_same_on_every_machine() -> None:
    assert shuffled("abcdefgh", 42, "x") == tuple("gcebfhad")
    assert shuffled("abcdefgh", 43, "x") != tuple("gcebfhad")


def test_every_place_is_reached() -> None:
    firsts = Counter(shuffled("abcd", seed)[0] for seed in range(2000))
    assert all(400 < count < 600 for count in firsts.values())


@given(st.integers(1, 90), st.integers(1, 20), st.integers(1, 4), st.integers(0, 5))
def test_an_epoch_visits_each_task_once(count: int, batch_size: int, accumulation: int, epoch: int) -> None:
    many = numbered(count)
    batches = step_batches(many, batch_size=batch_size, accumulation=accumulation, seed=42, epoch=epoch)
    assert len(batches) == steps_per_epoch(count, batch_size, accumulation)
    assert {len(batch) for batch in batches[:-1]} <= {batch_size * accumulation}
    visited = [task for batch in batches for task in batch]
    assert sorted(task.id for task in visited) == sorted(task.id for task in many)
    assert tuple(visited) == epoch_order(many, 42, epoch)


def test_epochs_and_seeds_differ() -> None:
    many = numbered(40)
    orders = {tuple(t.id for t in epoch_order(many, seed, epoch)) for seed in (1, 2) for epoch in (1, 2)}
    assert len(orders) == 4


def test_an_epoch_does_not_depend_on_the_order_of_the_file() -> None:
    many = numbered(40)
    assert epoch_order(many[::-1], 42, 1) == epoch_order(many, 42, 1)


def test_minibatches_are_cut_from_a_shuffle() -> None:
    groups = minibatches(range(20), 8, (42, "failures"))
    assert [len(group) for group in groups] == [8, 8, 4]
    assert sorted(n for group in groups for n in group) == list(range(20))
    assert groups != minibatches(range(20), 8, (43, "failures"))
    assert minibatches([], 8, (42,)) == ()
