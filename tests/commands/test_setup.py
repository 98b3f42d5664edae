from __future__ import annotations

from pathlib import Path

from tests.commands.running import Captured, run, run_json


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
