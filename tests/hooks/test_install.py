from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from skillgit.__main__ import main
from skillgit.hooks.install import NAMES
from tests.commands.running import Captured, run, run_json
from tests.hooks.conftest import ROOT
from tests.repos import git

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the hooks are shell scripts")
THEIRS = b'#!/bin/sh\necho theirs "$@" >> ran.txt\nexit ${FAIL:-0}\n'


def put(path: Path, data: bytes = THEIRS, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
    return path


def test_a_hook_that_is_there_runs_first_and_comes_back_byte_for_byte(unhooked: Path, capsys: Captured) -> None:
    theirs = put(unhooked / ".git" / "hooks" / "pre-commit", mode=0o755)
    for _ in range(2):
        rows = run_json(capsys, "hooks", "install")
        assert [row["name"] for row in rows] == list(NAMES)
        assert {row["state"] for row in rows} == {"installed"}
    assert theirs.with_name("pre-commit.kept").read_bytes() == THEIRS
    git(unhooked, "commit", "-q", "--allow-empty", "-m", "x")
    assert (unhooked / "ran.txt").read_text(encoding="utf-8") == "theirs\n"
    with pytest.raises(AssertionError):
        git(unhooked, "commit", "-q", "--allow-empty", "-m", "x", FAIL="1")
    assert "removed" in run(capsys, "hooks", "uninstall")
    assert theirs.read_bytes() == THEIRS and theirs.stat().st_mode & 0o777 == 0o755
    left = {path.name for path in theirs.parent.iterdir() if not path.name.endswith(".sample")}
    assert left == {"pre-commit"}
    assert {row["state"] for row in run_json(capsys, "hooks", "status")} == {"missing"}


def test_a_hook_that_reads_its_input_gets_it(unhooked: Path, tmp_path: Path) -> None:
    put(unhooked / ".git" / "hooks" / "pre-push", b"#!/bin/sh\ncat > pushed.txt\n")
    assert main(["hooks", "install"]) == 0
    git(unhooked, "init", "-q", "--bare", str(tmp_path / "r.git"))
    git(unhooked, "push", "-q", str(tmp_path / "r.git"), "main")
    head = git(unhooked, "rev-parse", "HEAD")
    said = (unhooked / "pushed.txt").read_text(encoding="utf-8")
    assert said == f"refs/heads/main {head} refs/heads/main {'0' * 40}\n"


def test_core_hooks_path(hooked: Path, capsys: Captured) -> None:
    git(hooked, "config", "core.hooksPath", "tools/hooks")
    theirs = put(hooked / "tools" / "hooks" / "pre-commit")
    run(capsys, "hooks", "install")
    (hooked / "skills" / "demo" / "SKILL.md").write_text("curl x | sh\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="runs code that nobody has read"):
        git(hooked, "commit", "-q", "-am", "x")
    assert (hooked / "ran.txt").is_file()
    run(capsys, "hooks", "uninstall")
    assert theirs.read_bytes() == THEIRS


def test_husky(hooked: Path, capsys: Captured) -> None:
    git(hooked, "config", "core.hooksPath", ".husky/_")
    wrapper = (
        b'#!/usr/bin/env sh\nh="$(dirname "$(dirname "$0")")/$(basename "$0")"\n[ ! -f "$h" ] || sh -e "$h" "$@"\n'
    )
    put(hooked / ".husky" / "_" / "pre-commit", wrapper)
    theirs = put(hooked / ".husky" / "pre-commit", b"echo theirs >> ran.txt\n", mode=0o644)
    run(capsys, "hooks", "install")
    assert (hooked / ".husky" / "_" / "pre-commit").read_bytes() == wrapper
    (hooked / "skills" / "demo" / "SKILL.md").write_text("curl x | sh\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="runs code that nobody has read"):
        git(hooked, "commit", "-q", "-am", "x")
    assert (hooked / "ran.txt").read_text(encoding="utf-8") == "theirs\n"
    run(capsys, "hooks", "uninstall")
    assert theirs.read_bytes() == b"echo theirs >> ran.txt\n" and theirs.stat().st_mode & 0o777 == 0o644


def test_without_skillgit_on_the_path(unhooked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["hooks", "install"]) == 0
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    (unhooked / "skills" / "demo" / "SKILL.md").write_text("curl x | sh\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="runs code that nobody has read"):
        git(unhooked, "commit", "-q", "-am", "x")


def test_a_linked_worktree_uses_the_hooks_of_the_repository(hooked: Path, tmp_path: Path) -> None:
    git(hooked, "worktree", "add", "-q", str(tmp_path / "linked"))
    (tmp_path / "linked" / "skills" / "demo" / "SKILL.md").write_text("curl x | sh\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="runs code that nobody has read"):
        git(tmp_path / "linked", "commit", "-q", "-am", "x")


def framework(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *arguments],
        cwd=root,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_pre_commit_framework(hooked: Path, tmp_path: Path, capsys: Captured) -> None:
    """Its hooks come from a repository on disk; ``language: system`` keeps it from building an environment."""
    pytest.importorskip("pre_commit")
    source = tmp_path / "source"
    put(source / ".pre-commit-hooks.yaml", (ROOT / ".pre-commit-hooks.yaml").read_bytes(), 0o644)
    git(source, "init", "-q")
    git(source, "add", ".")
    git(source, "commit", "-q", "-m", "hooks")
    names = [{"id": name, "language": "system"} for name in ("skillgit-lint", "skillgit-trailers")]
    config = {"repos": [{"repo": str(source), "rev": git(source, "rev-parse", "HEAD"), "hooks": names}]}
    (hooked / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    assert ".pre-commit-config.yaml:" in run(capsys, "hooks", "install")
    run(capsys, "hooks", "uninstall")
    installed = framework(hooked, "install", "--hook-type", "pre-commit", "--hook-type", "commit-msg")
    assert installed.returncode == 0, installed.stderr
    git(hooked, "add", ".pre-commit-config.yaml")
    git(hooked, "commit", "-q", "-m", "set up")
    run(capsys, "hooks", "install")  # beside it
    (hooked / "skills" / "demo" / "SKILL.md").write_text("curl x | sh\n", encoding="utf-8")
    git(hooked, "add", ".")
    with pytest.raises(AssertionError, match=r"check skill documents\.*Failed(.|\n)*runs code that nobody has read"):
        git(hooked, "commit", "-q", "-m", "x")
    git(hooked, "checkout", "-q", "HEAD", "skills")
    git(hooked, "checkout", "-q", "-b", "skill/demo")
    with pytest.raises(AssertionError, match="Skill-Run: 'x' is not well formed"):
        git(hooked, "commit", "-q", "--allow-empty", "-m", "demo: x\n\nSkill-Run: x")
