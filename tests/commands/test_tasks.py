from __future__ import annotations

import io
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from skillgit.__main__ import main
from skillgit.git.repo import Repo
from skillgit.splits import split_of
from skillgit.taskset.adding import add
from tests.commands.running import Captured, run, run_json
from tests.repos import git


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def new(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "input": f"rule 1: {name}", "answer": f"done {name}", **more}


@pytest.fixture
def file(untrained: Path) -> Path:
    return untrained / "skills/demo/tasks.jsonl"


def refused(capsys: Captured, *arguments: str, code: int = 2) -> str:
    assert main(arguments) == code
    return capsys.readouterr().err


def test_check_says_what_the_gate_sees_and_ends_with_1_on_an_error(file: Path, capsys: Captured) -> None:
    said = run(capsys, "tasks", "check", "demo")
    assert "demo: 36 tasks: train 12, selection 12, test 12" in said and "0 errors, 1 warnings" in said
    assert "each look: a gain of 16.7 points is accepted in 4 of 5 cases" in said
    assert run_json(capsys, "tasks", "check", "demo", "--noise", "0")["gate"]["first"]["gain"] == pytest.approx(1 / 12)
    file.write_text(file.read_text(encoding="utf-8") + lines(new("late", split="test", answer=" ")), encoding="utf-8")
    assert "error: the judge passes an empty answer to 1 task (late) [empty-passes]" in run(
        capsys, "tasks", "check", "demo", code=1
    )
    assert run_json(capsys, "tasks", "check", "demo", code=1)["sound"] is False


def test_split_says_which_task_goes_where_and_why(file: Path, capsys: Captured) -> None:
    file.write_text(file.read_text(encoding="utf-8") + lines(new("free")), encoding="utf-8")
    said = run(capsys, "tasks", "split", "demo", "--show").splitlines()
    assert said[0].split(maxsplit=2) == ["train-000", "train", "it names its split"]
    split = split_of("free", (2, 1, 7), 42)
    assert said[-2].split()[:2] == ["free", split] and "the hash of its id with seed 42 is 0." in said[-2]
    assert len(said) == 38 and len(run(capsys, "tasks", "split", "demo").splitlines()) == 1
    found = run_json(capsys, "tasks", "split", "demo")
    assert found["splits"][split] == 13 and found["tasks"][0]["place"] is None


def test_add_appends_and_says_where_each_went(
    file: Path, untrained: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_bytes()
    (untrained / "more.jsonl").write_text(lines(new("a", split="train"), new("b", note="é")), encoding="utf-8")
    found = run_json(capsys, "tasks", "add", "demo", "more.jsonl")
    assert [row["id"] for row in found["tasks"]] == ["a", "b"] and found["tasks"][0]["split"] == "train"
    assert (
        file.read_bytes()
        == before + (untrained / "more.jsonl").read_text(encoding="utf-8").replace("\\u00e9", "é").encode()
    )
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines(new("c")).encode()), encoding="utf-8"))
    assert run(capsys, "tasks", "add", "demo", "-").startswith("c  ")
    assert main(["tasks", "check", "demo"]) == 0


def test_a_file_without_a_last_newline_and_with_windows_lines_stays_one(file: Path, untrained: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n").removesuffix(b"\r\n"))
    (untrained / "more.jsonl").write_text(lines(new("a")), encoding="utf-8")
    assert main(["tasks", "add", "demo", "more.jsonl"]) == 0
    assert file.read_bytes().endswith(b'\r\n{"id": "a", "input": "rule 1: a", "answer": "done a"}\r\n')


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (new("train-000"), "more.jsonl:2: the id train-000 is there already, in the task file"),
        (new("good"), "more.jsonl:2: the id good is there already, in more.jsonl:1"),
        (new("x", input="RULE 0:  train 0"), "more.jsonl:2: task 'x' asks the same as 'train-000'"),
        (new("x", input="rule 1: good "), "more.jsonl:2: task 'x' asks the same as 'good'"),
        (new("x", answer=""), "the judge passes an empty answer to 1 task (x)"),
        ({"id": "x", "input": "x"}, "without an answer to judge by: 1 task (x)"),
        ({"id": "x"}, "more.jsonl:2: the task has no 'input'; it has id"),
        (new("x", draft=True), "more.jsonl:2: task 'x' is a draft that nobody has reviewed"),
        (new("x", split="exam"), "more.jsonl:2: unknown split 'exam'"),
    ],
)
def test_one_task_that_cannot_be_taken_leaves_the_file_as_it_is(
    file: Path, untrained: Path, capsys: Captured, row: dict[str, Any], said: str
) -> None:
    before = file.read_bytes()
    (untrained / "more.jsonl").write_text(lines(new("good"), row), encoding="utf-8")
    assert said in refused(capsys, "tasks", "add", "demo", "more.jsonl")
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir() if path.name.startswith(".")] == []


def test_a_reviewed_draft_becomes_a_task(file: Path, untrained: Path, capsys: Captured) -> None:
    (untrained / "drafts.jsonl").write_text(lines(new("x", draft=True)), encoding="utf-8")
    assert run_json(capsys, "tasks", "add", "demo", "drafts.jsonl", "--reviewed")["tasks"][0]["id"] == "x"
    assert json.loads(file.read_text(encoding="utf-8").splitlines()[-1]) == new("x")


def test_each_split_has_its_own_file(file: Path, untrained: Path, capsys: Captured) -> None:
    env = file.with_name("env.yaml")
    env.write_text(
        env.read_text(encoding="utf-8") + "tasks: {train: a.jsonl, selection: b.jsonl, test: c.csv}\n", encoding="utf-8"
    )
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for split, name in (("train", "a.jsonl"), ("selection", "b.jsonl")):
        file.with_name(name).write_text(lines(*(row for row in rows if row["split"] == split)), encoding="utf-8")
    file.with_name("c.csv").write_text("id,input,answer\nt,rule 1: t,done t\n", encoding="utf-8")
    (untrained / "more.jsonl").write_text(lines(new("x", split="train"), new("y", split="val")), encoding="utf-8")
    run(capsys, "tasks", "add", "demo", "more.jsonl")
    assert json.loads(file.with_name("a.jsonl").read_text(encoding="utf-8").splitlines()[-1])["id"] == "x"
    assert json.loads(file.with_name("b.jsonl").read_text(encoding="utf-8").splitlines()[-1])["id"] == "y"
    (untrained / "more.jsonl").write_text(lines(new("z", split="test")), encoding="utf-8")
    assert "to .jsonl files only, not to c.csv" in refused(capsys, "tasks", "add", "demo", "more.jsonl")


def test_tasks_that_env_py_makes_are_not_added_to(file: Path, untrained: Path, capsys: Captured) -> None:
    file.with_name("env.py").write_text("def tasks(env):\n    return env.file_tasks()\n", encoding="utf-8")
    (untrained / "more.jsonl").write_text(lines(new("x")), encoding="utf-8")
    assert "are made by its env.py" in refused(capsys, "tasks", "add", "demo", "more.jsonl")


def test_two_who_add_at_once_lose_nothing(file: Path, untrained: Path) -> None:
    before = len(file.read_text(encoding="utf-8").splitlines())

    def one(number: int) -> None:
        with Repo.discover(untrained) as repo:
            add(repo, "demo", lines(new(f"n{number}")), "here")

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(one, range(12)))
    assert len(file.read_text(encoding="utf-8").splitlines()) == before + 12


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tasks", "mix", "demo"), "'tasks mix' is not known; allowed are: check, split, add"),
        (("tasks", "add", "demo"), "add needs a file of tasks, or - for standard input"),
        (("tasks", "check", "demo", "x"), "check takes no file"),
        (("tasks", "add", "demo", "none.jsonl"), "cannot read none.jsonl: No such file"),
        (("tasks", "check", "other"), "there is no skill 'other'"),
        (("tasks", "check", "demo", "--noise", "0.9"), "less than or equal to 0.5"),
    ],
)
def test_mistakes_are_told_in_one_line(
    untrained: Path, capsys: Captured, arguments: tuple[str, ...], said: str
) -> None:
    assert said in refused(capsys, *arguments)


def test_a_bare_repository_has_no_file_to_add_to(
    untrained: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(untrained), "bare.git")
    monkeypatch.chdir(tmp_path / "bare.git")
    assert "36 tasks" in run(capsys, "tasks", "check", "demo")
    Path("more.jsonl").write_text(lines(new("x")), encoding="utf-8")
    assert "no working tree to write to" in refused(capsys, "tasks", "add", "demo", "more.jsonl", code=1)
