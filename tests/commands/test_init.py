from __future__ import annotations

from pathlib import Path

from tests.commands.running import Captured, run_json


def test_init_never_overwrites_and_every_key_is_in_the_file(untrained: Path, capsys: Captured) -> None:
    made = run_json(capsys, "init", "fresh")
    assert made["written"] == ["skills/fresh/SKILL.md", "skills/fresh/env.yaml", "skills/fresh/tasks.jsonl"]
    (untrained / "skills/fresh/SKILL.md").write_text("mine", encoding="utf-8")
    again = run_json(capsys, "init", "fresh")
    assert (again["written"], len(again["kept"])) == ([], 3)
    assert (untrained / "skills/fresh/SKILL.md").read_text(encoding="utf-8") == "mine"
    text = (untrained / "skills/fresh/env.yaml").read_text(encoding="utf-8")
    keys = {
        row["key"].split(".")[-1] for row in run_json(capsys, "config", "demo") if not row["key"].startswith("models")
    }
    assert [key for key in keys - {"all", "train", "selection", "test", "kind"} if f"{key}:" not in text] == []
