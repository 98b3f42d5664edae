"""Each thing that is wrong with tasks is found, by its rule, in real files of a real repository."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit import env as environments
from skillgit.errors import TaskError
from skillgit.splits import SPLITS
from skillgit.taskset.check import TasksReport, check
from tests import world

Rows = list[dict[str, Any]]


def rows(train: int = 12, selection: int = 12, test: int = 30) -> Rows:
    return world.tasks(train, selection, test)


def checked(folder: Path, tasks: Sequence[Mapping[str, Any]], noise: float = 0.1, **options: Any) -> TasksReport:
    folder.mkdir(exist_ok=True)
    (folder / "env.yaml").write_text(yaml.safe_dump({**world.ENV, **options}), encoding="utf-8")
    (folder / "SKILL.md").write_text(world.SKILL, encoding="utf-8")
    (folder / "tasks.jsonl").write_text("".join(json.dumps(dict(task)) + "\n" for task in tasks), encoding="utf-8")
    return check(environments.load(folder), noise=noise)


def rules(report: TasksReport, severity: str = "error") -> list[str]:
    return [finding.rule for finding in report.findings if finding.severity == severity]


def test_sound_tasks_have_no_findings(tmp_path: Path) -> None:
    report = checked(tmp_path / "demo", rows())
    assert report.findings == () and report.sound
    assert report.splits == {"train": 12, "selection": 12, "test": 30}
    assert report.judge == {"kind": "exact", "checked": 54, "skipped": ""}
    assert report.gate["first"]["gain"] == pytest.approx(2 / 12, abs=0.1)
    assert report.test_margin == pytest.approx(0.1789)
    assert report.as_dict()["sound"] is True


LONG = "There are eleven tall brown trees beside the old mill and someone has painted four of them white since May"


@pytest.mark.parametrize(
    ("change", "severity", "rule", "named"),
    [
        (lambda t: t[-1].update(id="train-000"), "error", "same-id", ["train-000"]),
        (lambda t: t[-1].update(input=t[0]["input"].upper(), answer=t[0]["answer"]), "error", "overlap", None),
        (lambda t: t[1].update(input=t[0]["input"]), "error", "contradiction", ["train-000", "train-001"]),
        (
            lambda t: t[1].update(input=t[0]["input"], answer=t[0]["answer"]),
            "warning",
            "duplicate",
            ["train-000", "train-001"],
        ),
        (
            lambda t: (t[0].update(input=LONG), t[-1].update(input=LONG + " or June")),
            "warning",
            "near-overlap",
            ["train-000", "test-029"],
        ),
        (lambda t: t[0].pop("answer"), "error", "no-answer", ["train-000"]),
        (lambda t: t[0].update(answer=" "), "error", "empty-passes", ["train-000"]),
        (lambda t: [r.update(answer="yes") for r in t[12:24]], "error", "one-answer", None),
        (lambda t: [r.update(answer="yes") for r in t[12:23]], "warning", "lopsided", None),
        (lambda t: [r.update(type="b" if r is t[13] else "a") for r in t], "warning", "unseen-type", ["selection-001"]),
        (
            lambda t: [r.update(answer="maybe" if r is t[13] else f"a{n % 3}") for n, r in enumerate(t)],
            "warning",
            "unseen-answer",
            ["selection-001"],
        ),
        (lambda t: t.__delitem__(slice(12, 22)), "error", "too-few", []),
        (lambda t: t.pop(), "warning", "small-test", []),
    ],
)
def test_what_is_wrong_is_found(tmp_path: Path, change: Any, severity: str, rule: str, named: list[str] | None) -> None:
    tasks = rows()
    change(tasks)
    report = checked(tmp_path / "demo", tasks)
    assert rule in rules(report, severity)
    assert report.sound == (not rules(report))
    if named is not None:
        [found] = [finding for finding in report.findings if finding.rule == rule]
        assert list(found.tasks) == named


@pytest.mark.parametrize(
    ("judge", "severity", "rule"),
    [
        ({"kind": "regex", "pattern": "done|qxzv"}, "error", "wrong-passes"),
        ({"kind": "regex", "pattern": "x?"}, "error", "empty-passes"),
        ({"kind": "regex", "pattern": "done .* 1"}, "error", "reference-fails"),
        ({"kind": "regex", "pattern": "done"}, "error", "other-passes"),
        ({"kind": "json"}, "error", "judge-breaks"),
        ({"kind": "choice", "choices": ["a"]}, "error", "judge-breaks"),
    ],
)
def test_a_judge_that_does_not_judge_is_found(tmp_path: Path, judge: Any, severity: str, rule: str) -> None:
    assert rule in rules(checked(tmp_path / "demo", rows(), judge=judge), severity)


def test_another_answer_that_holds_the_right_one_is_worth_a_word(tmp_path: Path) -> None:
    """'done train 1' is in 'done train 10': with contains, the longer answer passes."""
    tasks = [*rows(), {"id": "x", "split": "train", "input": "rule 1: x", "answer": "done test 2"}]
    report = checked(
        tmp_path / "demo", [tasks[-1], tasks[44], *tasks[:-1]][:1] + tasks[:-1][::-1], judge={"kind": "contains"}
    )
    assert "other-passes" in rules(report, "warning") and report.sound


def test_soft_credit_for_junk_is_worth_a_word(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "env.py").write_text(
        "def score(task, answer):\n    return float(answer == task.answer), max(0.3 * bool(answer), answer == task.answer)\n",
        encoding="utf-8",
    )
    assert rules(checked(folder, rows()), "warning") == ["generous"]


def test_a_judge_that_costs_is_tried_on_one_task_and_a_model_on_none(tmp_path: Path) -> None:
    report = checked(tmp_path / "demo", rows(), judge={"kind": "command", "command": "grep -q done answer.txt"})
    assert report.sound and report.judge["checked"] == 1 and "one task stood for all" in report.judge["skipped"]
    assert rules(checked(tmp_path / "demo", rows(), judge={"kind": "command", "command": "true"})) == ["judge-breaks"]
    models = {**world.ENV["models"], "judge": "openai:judge"}
    criteria = [{"name": "kind", "description": "is kind"}]
    report = checked(tmp_path / "demo", rows(), judge={"kind": "rubric", "criteria": criteria}, models=models)
    assert report.sound and report.judge["checked"] == 0 and "is a model" in report.judge["skipped"]


def test_a_prompt_that_does_not_fit_the_tasks_is_found(tmp_path: Path) -> None:
    assert rules(checked(tmp_path / "demo", rows(), prompt={"user": "{question}"})) == ["prompt"]


def test_a_gate_that_can_accept_nothing_is_found(tmp_path: Path) -> None:
    blind = {"gate": {"policy": "paired", "alpha": 1e-8}}
    report = checked(tmp_path / "demo", rows(), **blind)
    assert rules(report) == ["blind-gate"] * 2 and report.gate["last"]["level"] < report.gate["first"]["level"]
    noisy = checked(tmp_path / "demo", rows(), noise=0.4, gate={"policy": "no_regression"})
    assert noisy.sound and "blind-gate" in rules(noisy, "warning")
    assert rules(checked(tmp_path / "demo", rows(), gate={"policy": "off"}), "warning") == ["open-gate"]
    assert "coarse-gate" in rules(checked(tmp_path / "demo", rows(selection=5), noise=0.2), "warning")


def test_a_draft_is_no_task(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"tasks.jsonl:55: task 'x' is a draft that nobody has reviewed"):
        checked(tmp_path / "demo", [*rows(), {"id": "x", "input": "new", "answer": "a", "draft": True}])
    accepted = {"id": "x", "input": "rule 1: new", "answer": "a", "split": "train", "draft": False}
    assert checked(tmp_path / "demo", [*rows(), accepted]).sound


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(54)))
def test_the_order_of_the_file_changes_no_finding(tmp_path_factory: Any, order: list[int]) -> None:
    tasks = rows()
    tasks[-1].update(input=tasks[0]["input"])
    tasks[20].pop("answer")
    report = checked(tmp_path_factory.mktemp("check") / "demo", [tasks[n] for n in order])
    assert sorted(rules(report)) == ["contradiction", "no-answer", "overlap"]
    assert sum(report.splits[name] for name in SPLITS) == report.tasks
