from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from skillgit.errors import LockedError
from skillgit.git.lock import Owner, SkillLock
from skillgit.git.repo import Repo
from tests.repos import git

HOLD = """
import sys
from skillgit.git.lock import SkillLock
from skillgit.git.repo import Repo
with Repo.discover(sys.argv[1]) as repo, SkillLock(repo, "demo"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def opened(repo: Callable[..., Path]) -> Iterator[Repo]:
    with Repo.discover(repo()) as made:
        yield made


def holder(repo: Repo) -> subprocess.Popen[str]:
    args = [sys.executable, "-c", HOLD, str(repo.git_dir.parent)]
    root = Path(__file__).parents[2]
    process = subprocess.Popen(args, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_the_message_names_the_holder(opened: Repo) -> None:
    process = holder(opened)
    expected = rf"skill 'demo' is being trained by pid {process.pid} on host {socket.gethostname()} since 20\d\d-"
    with pytest.raises(LockedError, match=expected), SkillLock(opened, "demo"):
        pass
    process.communicate()
    with SkillLock(opened, "demo") as lock:
        assert lock.abandoned is None


def test_killed_holders_lose_the_lock_and_are_known(opened: Repo) -> None:
    process = holder(opened)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    with SkillLock(opened, "demo") as lock:
        assert lock.abandoned is not None
        assert lock.abandoned.pid == process.pid
        assert lock.abandoned.gone()
    with SkillLock(opened, "demo") as lock:
        assert lock.abandoned is None


def test_other_skills_and_linked_worktrees(opened: Repo, tmp_path: Path) -> None:
    assert opened.work_tree is not None
    git(opened.work_tree, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    with (
        Repo.discover(tmp_path / "linked") as linked,
        SkillLock(opened, "demo"),
        SkillLock(linked, "other"),
        pytest.raises(LockedError, match="skill 'demo' is being trained"),
    ):
        SkillLock(linked, "demo").__enter__()


def test_a_lock_held_by_a_child_of_a_dead_holder(opened: Repo) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    with SkillLock(opened, "demo"):
        note = opened.state_dir / "demo.owner.json"
        note.write_text(json.dumps({**asdict(Owner.me()), "pid": dead.pid}), encoding="utf-8")
        with pytest.raises(LockedError, match=f"pid {dead.pid} on .* is gone, but a process it started") as caught:
            SkillLock(opened, "demo").__enter__()
        assert "demo.lock" in caught.value.hint


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": 1}'])
def test_an_unreadable_note_of_the_holder(opened: Repo, content: str) -> None:
    with SkillLock(opened, "demo"):
        (opened.state_dir / "demo.owner.json").write_text(content, encoding="utf-8")
        with pytest.raises(LockedError, match="skill 'demo' is being trained by another process"):
            SkillLock(opened, "demo").__enter__()


def test_processes_of_other_hosts_cannot_be_judged() -> None:
    assert not Owner(2**22 + 1, "elsewhere", "", "").gone()
    assert not Owner.me().gone()


def test_the_lock_goes_when_recovery_fails(opened: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(repo: Repo, name: str) -> None:
        raise RuntimeError

    monkeypatch.setattr("skillgit.git.intent.recover", fail)
    with pytest.raises(RuntimeError), SkillLock(opened, "demo"):
        pass
    monkeypatch.undo()
    with SkillLock(opened, "demo"):
        pass
