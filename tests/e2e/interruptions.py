"""Runs of ``killed.py``, and what must not depend on how often a run was interrupted."""

from __future__ import annotations

import multiprocessing
import os
import signal
from functools import cache
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from skillgit.git.fsck import check
from skillgit.git.repo import Repo
from tests import world
from tests.e2e import killed
from tests.repos import git, make_repo

FILES = ("record.yaml", "config.yaml", "candidate.md", "patch.yaml", "meta.md", "scores.jsonl")
JOURNAL = "refs/skillgit/demo/journal"
ENTRIES = 8
forked = multiprocessing.get_context("forkserver" if os.name != "nt" else "spawn")
"""Every process is a new one, forked from one that has imported everything and done nothing."""
forked.set_forkserver_preload([killed.__name__])


def make(folder: Path) -> Path:
    return make_repo(folder, "demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks())


def start(root: Path, log: Path, **kill: object) -> BaseProcess:
    """A process that trains; what it says goes to the log's name with ``.err``."""
    env = {**os.environ, **{name.upper(): str(value) for name, value in kill.items()}}
    process = forked.Process(target=killed.child, args=(env, log.with_suffix(".err"), str(root), log))
    process.start()
    return process


def end(process: BaseProcess, log: Path, ends: tuple[int, ...]) -> int:
    """Wait for the exit code, which must be one of ``ends``."""
    process.join(120)
    if process.exitcode is None:
        process.kill()
    assert process.exitcode in ends, log.with_suffix(".err").read_text(encoding="utf-8")
    return process.exitcode


def train(root: Path, log: Path, ends: tuple[int, ...] = (0, -signal.SIGKILL), **kill: object) -> int:
    """The exit code of one process."""
    return end(start(root, log, **kill), log, ends)


def entries(root: Path) -> list[str]:
    return git(root, "rev-list", JOURNAL, "--", check=False).split()


def outcome(root: Path, files: tuple[str, ...] = FILES) -> dict[str, Any]:
    """All that must not depend on interruptions; spend and times may. The clock and the people are fixed."""
    return {
        "branch": git(root, "rev-parse", "skill/demo"),
        "best": git(root, "rev-parse", "refs/skillgit/demo/best"),
        "epochs": git(root, "for-each-ref", "--format=%(refname) %(objectname)", "refs/skillgit/demo/epochs"),
        "notes": git(root, "for-each-ref", "--format=%(refname) %(tree)", "refs/notes"),
        "journal": [[git(root, "show", f"{entry}:{name}") for name in files] for entry in entries(root)],
    }


def sound(root: Path) -> None:
    """Both checks find nothing, and nothing is left locked."""
    said = git(root, "fsck", "--strict")
    assert "error" not in said
    assert "missing" not in said
    with Repo.discover(root) as repo:
        if repo.ref(JOURNAL):
            assert list(check(repo, "demo")) == []


def ended(log: Path) -> list[str]:
    """What was answered, call by call, in all processes."""
    return [line.split()[1] for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("end")]


def paid_twice(log: Path) -> int:
    return len(ended(log)) - len(set(ended(log)))


@cache
def uninterrupted() -> tuple[dict[str, Any], list[str]]:
    """The outcome of a run that nothing disturbs, and its calls."""
    with TemporaryDirectory() as folder:
        root, log = make(Path(folder) / "r"), Path(folder) / "log"
        assert train(root, log) == 0
        sound(root)
        assert paid_twice(log) == 0
        return outcome(root), ended(log)
