from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.__main__ import main
from tests import world
from tests.repos import git
from tests.world import World

HOOK = Path(__file__).parents[2] / "hooks" / "pre-push"


@pytest.fixture
def pushing(repo: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks())
    World().install(monkeypatch)
    monkeypatch.chdir(root)
    assert main(["train", "demo", "--quiet"]) == 0
    git(root, "init", "--quiet", "--bare", str(tmp_path / "remote.git"))
    git(root, "remote", "add", "origin", str(tmp_path / "remote.git"))
    shutil.copy(HOOK, root / ".git" / "hooks" / "pre-push")
    program = tmp_path / "bin" / "skillgit"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m skillgit "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(HOOK.parents[1]))
    return root


@pytest.mark.skipif(os.name == "nt", reason="the hook is a shell script")
def test_a_clean_history_is_pushed_and_a_damaged_one_is_not(pushing: Path) -> None:
    git(pushing, "push", "--quiet", "origin", "skill/demo", "main")
    tip = git(pushing, "rev-parse", "skill/demo")
    message = git(pushing, "log", "-1", "--format=%B", tip)
    forged = git(pushing, "commit-tree", "-p", f"{tip}~1", "-m", message, f"{tip}~1^{{tree}}")
    git(pushing, "update-ref", "refs/heads/skill/demo", forged)
    with pytest.raises(AssertionError, match="error"):
        git(pushing, "push", "--quiet", "--force", "origin", "skill/demo")
    assert git(pushing, "ls-remote", "origin", "skill/demo").split()[0] == tip
    git(pushing, "push", "--quiet", "origin", "main:other", ":skill/demo")
