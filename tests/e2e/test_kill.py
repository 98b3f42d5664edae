"""A run that is killed and started again ends as one that was not, and pays for nothing twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgit.git.fsck import check
from skillgit.git.repo import Repo
from tests import world
from tests.repos import git, make_repo
from tests.snapshots import snapshot

ROOT = Path(__file__).parents[2]
FILES = ("record.yaml", "config.yaml", "candidate.md", "patch.yaml", "meta.md", "scores.jsonl")
ENTRIES = 8
pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")


def train(root: Path, log: Path, **kill: int) -> int:
    env = {**os.environ, "PYTHONPATH": str(ROOT), **{name.upper(): str(value) for name, value in kill.items()}}
    command = [sys.executable, "-m", "tests.e2e.killed", str(root), str(log)]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


def outcome(root: Path) -> dict[str, Any]:
    """All that must not depend on interruptions; spend and times may. The clock and the people are fixed."""
    entries = git(root, "log", "--format=%H", "refs/skillgit/demo/journal").split()
    return {
        "branch": git(root, "rev-parse", "skill/demo"),
        "best": git(root, "rev-parse", "refs/skillgit/demo/best"),
        "epochs": git(root, "for-each-ref", "--format=%(refname) %(objectname)", "refs/skillgit/demo/epochs"),
        "notes": [git(root, "rev-parse", f"refs/notes/skillgit/{n}^{{tree}}") for n in ("scores", "rejected", "meta")],
        "journal": [[git(root, "show", f"{entry}:{name}") for name in FILES] for entry in entries],
    }


def sound(root: Path) -> None:
    assert "error" not in git(root, "fsck", "--strict")
    with Repo.discover(root) as repo:
        if repo.ref("refs/skillgit/demo/journal"):
            assert list(check(repo, "demo")) == []


def paid_twice(log: Path) -> int:
    ended = [line.split()[1] for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("end")]
    return len(ended) - len(set(ended))


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    def make(name: str) -> Path:
        return make_repo(
            tmp_path_factory.mktemp(name) / "r", "demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks()
        )

    return make


@pytest.fixture
def uninterrupted(fresh: Callable[[str], Path], tmp_path: Path) -> tuple[dict[str, Any], int]:
    root, log = fresh("whole"), tmp_path / "whole.log"
    assert train(root, log) == 0
    sound(root)
    assert paid_twice(log) == 0
    return outcome(root), log.read_text(encoding="utf-8").count("start")


def test_killed_after_every_entry(
    fresh: Callable[[str], Path], uninterrupted: tuple[dict[str, Any], int], tmp_path: Path
) -> None:
    root, log = fresh("entries"), tmp_path / "log"
    before = snapshot(root)
    for _ in range(ENTRIES):
        assert train(root, log, kill_after_entry=1) == -signal.SIGKILL
        sound(root)
    assert train(root, log, kill_after_entry=1) == 0  # nothing was left to do
    assert outcome(root) == uninterrupted[0]
    assert paid_twice(log) == 0
    assert snapshot(root) == before


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_random_calls(
    fresh: Callable[[str], Path], uninterrupted: tuple[dict[str, Any], int], tmp_path: Path, seed: int
) -> None:
    """One call may be in flight at each kill, since calls run one by one here."""
    root, log = fresh(f"random{seed}"), tmp_path / "log"
    want, calls = uninterrupted
    chance, kills = random.Random(seed), 0
    while train(root, log, kill_at_call=chance.randint(1, calls // 4) if kills < 6 else 0):
        kills += 1
        sound(root)
    assert kills > 2
    assert outcome(root) == want
    assert paid_twice(log) <= kills
