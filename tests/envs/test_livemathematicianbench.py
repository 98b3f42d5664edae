from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from skillgit import env, judges
from skillgit.errors import TaskError
from skillgit.models.base import Request
from skillgit.preparing import prepare
from skillgit.sources import Source
from skillgit.splits import Task
from tests.envs.bench import BENCHDATA, LESSON, cases, made, module, needs_benchdata, train

NAME = "livemathematicianbench"
live: Any = module(NAME)
OPTIONS = {"A": "foo", "B": "bar", "C": "baz"}


@needs_benchdata
def test_the_papers_labels_are_met() -> None:
    settings = env.load(env.bundled()[NAME]).settings.answer
    data = cases(NAME)
    options = {choice["label"]: choice["text"] for choice in data["choices"]}
    for case in data["cases"]:
        answer, _ = judges.extract(settings, case["response"])
        label = live.reference_label(answer, options)
        assert label == case["predicted_label"], case
        task = Task("t", "?", case["correct"], fields={"options": options, "weaker": ""})
        assert live.reference(task, answer).hard == case["em"]


@pytest.mark.parametrize(
    ("text", "reference", "lenient"),
    [
        ("A", "A", "A"),
        ("(b)", "(B", "B"),
        ("Option B", "OPTION B", "B"),
        ("**B**", "**B**", "B"),
        ("\\boxed{B}", "\\BOXED{B}", "B"),
        ("$\\boxed{\\text{B}}$", "$\\BOXED{\\TEXT{B}}$", "B"),
        ("The answer is B.", "THE ANSWER IS B", "B"),
        ("The final answer is option (C): baz", "THE FINAL ANSWER IS OPTION (C): BAZ", "C"),
        ("A and B", "A", ""),
        ("A, B", "A, B", ""),
        ("A, as A is sharp", "A, AS A IS SHARP", "A"),
        ("bar", "B", "B"),
        ("A constant function", "A", ""),
        ("B because of C", "B", "B"),
        ("C - baz", "C", "C"),
        ("b/c", "B/C", ""),
        ("Because it holds", "BECAUSE IT HOLDS", ""),
        ("D", "D", ""),
        ("", "", ""),
    ],
)
def test_two_readings_of_a_label(text: str, reference: str, lenient: str) -> None:
    assert live.reference_label(text, OPTIONS) == reference
    assert live.lenient_label(text, OPTIONS) == lenient


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("B", "expected 'A' (foo), got 'B' (bar), which is true, but weaker"),
        ("C", "expected 'A' (foo), got 'C' (baz)"),
        ("(A)", "expected 'A' (foo), got '(A)', which means the right option, but is no label"),
        ("none", "expected 'A' (foo), got 'none', which is no label"),
    ],
)
def test_a_failure_says_what_was_taken_for_what(answer: str, reason: str) -> None:
    task = Task("t", "?", "A", fields={"options": OPTIONS, "weaker": "B"})
    assert live.reference(task, answer).reason == reason


def test_options_are_shuffled_by_seed_and_id_and_the_answer_follows() -> None:
    tasks = env.load(env.bundled()[NAME]).tasks()
    assert len({task.answer for task in tasks}) > 1
    first = tasks[0]
    assert first.fields["options"][first.answer] == "It is divisible by 6 for every n."
    assert first.fields["options"][first.fields["weaker"]] == "It is divisible by 2 for every n."
    assert f"\n{first.answer}. It is divisible by 6 for every n." in first.input
    plain = env.load(env.bundled()[NAME], ["options.shuffle_choices=false"]).tasks()
    assert {task.answer for task in plain} == {"A"}
    other = env.load(env.bundled()[NAME], ["options.shuffle_seed=7"]).tasks()
    assert [task.answer for task in other] != [task.answer for task in tasks]


def test_the_fixed_option_can_be_dropped() -> None:
    kept = env.load(env.bundled()[NAME], ["options.drop_meta_option=true"]).tasks()
    assert len(kept) == 16 and not any(live.META in task.input for task in kept)


@pytest.mark.parametrize("fields", [{}, {"choices": ["a"]}, {"choices": [{"label": "B", "text": "x"}]}])
def test_a_task_without_its_options_is_named(tmp_path: Path, fields: dict[str, Any]) -> None:
    folder = made(NAME, tmp_path / "repo")
    (folder / "tasks.jsonl").write_text(
        json.dumps({"id": "q1", "input": "?", "answer": "A", **fields}), encoding="utf-8"
    )
    with pytest.raises(TaskError, match="task 'q1' needs choices"):
        env.load(folder).tasks()


@needs_benchdata
def test_months_and_normalised_items_give_the_same_tasks(tmp_path: Path) -> None:
    for name, path in (("raw", BENCHDATA / NAME / "raw"), ("items", BENCHDATA / NAME)):
        prepare(env.bundled()[NAME], Source(path, tmp_path / name), None if name == "items" else BENCHDATA / NAME)
    raw, items = (
        {row["id"]: {**row, "weaker": ""} for row in map(json.loads, (tmp_path / name / "data/tasks.jsonl").read_text(
            encoding="utf-8").splitlines())}
        for name in ("raw", "items")
    )  # fmt: skip
    assert raw == items
    assert Counter(row["split"] for row in raw.values()) == {"train": 19, "selection": 12, "test": 27}
    assert sum(row["choices"][0]["text"] == live.META for row in raw.values()) == 22
    folder = made(NAME, tmp_path / "repo", BENCHDATA / NAME)
    assert len(env.load(folder, ["tasks=data/tasks.jsonl", "options.drop_meta_option=true"]).tasks()) == 58 - 22


@needs_benchdata
def test_a_training_on_real_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the lesson the target names the right option in words that are no label."""
    right = set(_right_texts())

    def target(request: Request) -> str:
        options = re.findall(
            r"^([A-E])\. (.*?)(?=^[B-F]\. |\Z)", request.messages[-1].content, re.MULTILINE | re.DOTALL
        )
        label = next(label for label, text in options if text.strip() in right)
        return (
            f"<answer>{label}</answer>" if LESSON in request.messages[0].content else f"<answer>Option {label}</answer>"
        )

    trained = train(NAME, tmp_path, monkeypatch, target, BENCHDATA / NAME)
    [step] = trained.training.records("step")
    assert step["action"] == "accept_new_best"
    assert re.search(
        r"expected '[A-E]' \(.*\), got 'Option [A-E]', which means the right option, but is no label", trained.shown
    )
    assert "type: Existence" in trained.shown and "differ in" not in trained.world.target.asked[0].messages[0].content


def _right_texts() -> list[str]:
    rows = [
        row for path in BENCHDATA.glob(f"{NAME}/*/items.json") for row in json.loads(path.read_text(encoding="utf-8"))
    ]
    return [row["correct_choice"]["text"].strip() for row in rows]


def test_the_sample_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    golds = {task.input: task.answer for task in env.load(env.bundled()[NAME]).tasks()}

    def target(request: Request) -> str:
        gold = golds[request.messages[-1].content]
        wrong = next(label for label in "AB" if label != gold)
        return f"so\n{gold}." if LESSON in request.messages[0].content else f"<answer>{wrong}</answer>"

    trained = train(NAME, tmp_path, monkeypatch, target)
    assert [step["action"] for step in trained.training.records("step")] == ["accept_new_best"]
    assert "which of several statements about a theorem" in trained.shown
