"""A trained repository with a remote, and skillgit on the path as its hooks call it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.__main__ import main
from tests import world
from tests.repos import git
from tests.world import World

ROOT = Path(__file__).parents[2]


@pytest.fixture
def unhooked(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    root = repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks())
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def hooked(unhooked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "bin" / "skillgit"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m skillgit "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    assert main(["hooks", "install"]) == 0
    return unhooked


@pytest.fixture
def pushing(hooked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    World().install(monkeypatch)
    assert main(["train", "demo", "--quiet"]) == 0
    git(hooked, "init", "--quiet", "--bare", str(tmp_path / "remote.git"))
    git(hooked, "remote", "add", "origin", str(tmp_path / "remote.git"))
    return hooked
