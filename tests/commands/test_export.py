from __future__ import annotations

from pathlib import Path

from skillgit.__main__ import main
from tests.commands.running import Captured, run
from tests.repos import git


def test_an_export_is_the_best_document_without_markers_when_asked(trained: Path, capsys: Captured) -> None:
    def exported(*arguments: str) -> str:
        return run(capsys, "export", *arguments)

    best = git(trained, "show", "refs/skillgit/demo/best:skills/demo/SKILL.md") + "\n"
    assert exported("demo") == best
    assert "SLOW_UPDATE" in best
    assert "SLOW_UPDATE" not in exported("demo", "--plain")
    patch = exported("demo", "--patch")
    (trained / "p.patch").write_text(patch, encoding="utf-8")
    git(trained, "apply", "--check", "p.patch")
    assert main(["export", "demo", "-o", "out.md"]) == 0
    assert (trained / "out.md").read_bytes().decode() == best
    assert main(["export", "demo", "-o", "no/such/folder/out.md"]) == 2
