from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgit.__main__ import main
from tests.commands.running import Captured, run, run_json
from tests.repos import git


def test_config_says_where_a_value_is_from(untrained: Path, capsys: Captured) -> None:
    rows = {row["key"]: row for row in run_json(capsys, "config", "demo", "-o", "train.seed=7")}
    assert (rows["train.epochs"]["value"], rows["train.epochs"]["origin"]) == (2, "env.yaml")
    assert (rows["train.seed"]["value"], rows["train.seed"]["origin"]) == (7, "command line")
    assert rows["gate.policy"]["origin"] == "default"
    plain, explained = (run(capsys, "config", "demo", *more).splitlines() for more in ([], ["--explain"]))
    assert len(plain) == len(rows)
    assert explained[: 2 * len(plain) : 2] == plain
    assert all(line.startswith("    ") for line in explained[1::2])


def test_models_and_environments_are_listed(capsys: Captured) -> None:
    out = run(capsys, "models").splitlines()
    assert [line.split()[0] for line in out[1:6]] == [
        "local:qwen2.5-coder-0.5b",
        "builtin:induce",
        "openai:gpt-5.5",
        "openai-compatible:NAME",
        "anthropic:claude-opus-4-8",
    ]
    assert out[3].split(maxsplit=3)[1:] == ["both", "no", "set OPENAI_API_KEY"]
    assert out[0].index("needs") == out[3].index("set OPENAI")
    assert "skillgit models pull qwen2.5-coder-0.5b" in out[-2]
    assert {row["name"] for row in run_json(capsys, "envs")} >= {"commit-type", "dates"}
    assert "a house format that no model can guess" in run(capsys, "envs")


def test_doctor_fails_for_a_skill_whose_models_do_not_answer(untrained: Path, capsys: Captured) -> None:
    rows = {row["what"]: row for row in run_json(capsys, "doctor", "demo")}
    assert (rows["target"]["state"], rows["optimizer"]["state"]) == ("ok", "ok")
    (untrained / "skills/demo/tasks.jsonl").write_text("{\n", encoding="utf-8")
    out = run(capsys, "doctor", "demo", code=1)
    assert "failed   skill demo     " in out
    assert "tasks.jsonl" in out


def test_a_benchmark_is_prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    git(tmp_path, "init", "-q")
    monkeypatch.chdir(tmp_path)
    run(capsys, "init", "quiz", "--env", "searchqa")
    rows = [{"key": f"k{n}", "question": f"q {n}", "answers": ["a"], "context": None} for n in range(70)]
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    prepare = ("envs", "prepare", "searchqa", "rows.json", "--skill", "quiz", "--revision", "r1")
    out = run(capsys, *prepare).splitlines()
    assert out[0] == "made skills/quiz/data/tasks.jsonl: train 14, selection 7, test 49 (split by 2:1:7 with seed 42)"
    assert out[1] == "the paper has train 400, selection 200, test 1400"
    assert out[-1] == "next: set tasks: data/tasks.jsonl in skills/quiz/env.yaml"
    again = run_json(capsys, *prepare)
    assert (again["fresh"], again["revision"], again["sizes"]["test"]) == (False, "r1", 49)
    status = git(tmp_path, "status", "--porcelain", "--untracked-files=all")
    assert [line for line in status.splitlines() if "/data/" in line] == ["?? skills/quiz/data/prepared.json"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("mend", "dates"), "'envs mend' is not known"),
        (("prepare",), "'envs prepare' is not known"),
        (("prepare", "searchqa"), "your own download or --hub, one of the two"),
        (("prepare", "searchqa", "x", "--hub"), "your own download or --hub, one of the two"),
        (("prepare", "demo", "x", "--skill", "demo"), "there is no bundled environment 'demo'"),
        (("prepare", "dates", "x", "--skill", "demo"), "brings its tasks along"),
        (("prepare", "searchqa", "x"), "there is no skill 'searchqa'"),
    ],
)
def test_what_envs_cannot_do_is_said(untrained: Path, capsys: Captured, arguments: tuple[str, ...], said: str) -> None:
    assert main(["envs", *arguments]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
