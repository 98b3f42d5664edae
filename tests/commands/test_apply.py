from __future__ import annotations

import io
from pathlib import Path

import pytest

from skillgit.__main__ import main
from tests.commands.running import Captured, run_json
from tests.repos import git


def test_a_persons_patch_passes_the_same_gate(trained: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def patch(line: str) -> None:
        old = git(trained, "show", "skill/demo:skills/demo/SKILL.md") + "\n"
        (trained / "skills/demo/SKILL.md").write_text(old, encoding="utf-8")
        git(trained, "add", "skills")
        new = old.replace("# Rules\n", f"# Rules\n\n{line}\n")
        (trained / "skills/demo/SKILL.md").write_text(new, encoding="utf-8")
        monkeypatch.setattr("sys.stdin", io.StringIO(git(trained, "diff", "--", "skills/demo/SKILL.md") + "\n"))

    tip = git(trained, "rev-parse", "skill/demo")
    patch("- POISON 0 holds.")
    assert run_json(capsys, "apply", "demo", "-", code=1)["action"] == "reject"
    assert git(trained, "rev-parse", "skill/demo") == tip
    assert run_json(capsys, "status", "demo")["finished"]
    assert [row["finished"] for row in run_json(capsys, "runs", "demo")] == [True]
    patch("- RULE 2 holds.\n- RULE 3 holds.\n- RULE 4 holds.")
    result = run_json(capsys, "apply", "demo", "-")
    assert result["action"] == "accept_new_best"
    assert result["commit"] == git(trained, "rev-parse", "skill/demo")
    assert "Skill-Kind: patch" in git(trained, "log", "-1", "--format=%B", "skill/demo")
    assert run_json(capsys, "show", "demo")["entry"]["kind"] == "patch"
    assert run_json(capsys, "log", "demo")[0]["kind"] == "patch"
    assert not run_json(capsys, "status", "demo")["finished"]
    assert run_json(capsys, "fsck", "demo") == []
    patch("x")
    monkeypatch.setattr("sys.stdin", io.StringIO("--- a/other.md\n+++ b/other.md\n@@ -1 +1 @@\n-a\n+b\n"))
    assert main(["apply", "demo", "-"]) in (1, 2)
