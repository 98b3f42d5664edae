"""Ctrl-C and SIGTERM end a run in good order; a clone goes on where the original stands."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e.interruptions import entries, make, outcome, paid_twice, sound, train, uninterrupted
from tests.repos import git
from tests.snapshots import snapshot

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs signals")
INTERRUPTED = 130


@pytest.mark.parametrize("send", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_a_run_in_good_order(tmp_path: Path, send: str) -> None:
    """In a call, and while git works: the step is whole or not there, and the same command goes on."""
    root, log = make(tmp_path / "r"), tmp_path / "log"
    before = snapshot(root)
    moments = {"at_call": 20, "before_refs": 2, "after_refs": 2}
    for moment, nth in moments.items():
        assert train(root, log, ends=(INTERRUPTED,), send=send, **{f"kill_{moment}": nth}) == INTERRUPTED
        sound(root)
        assert not (root / ".git/skillgit/demo.owner.json").exists()
    assert train(root, log) == 0
    assert outcome(root) == uninterrupted()[0]
    assert paid_twice(log) <= len(moments)  # the one in flight
    assert snapshot(root) == before


def test_a_clone_without_notes_goes_on_to_the_same_skill(tmp_path: Path) -> None:
    """All that a run needs to go on is in the journal; the notes are an index over it, the memo a cache."""
    root, log, clone = make(tmp_path / "r"), tmp_path / "log", tmp_path / "clone"
    for _ in range(5):
        train(root, log, kill_after_entry=1)
    git(tmp_path, "clone", "--quiet", str(root), str(clone))
    git(clone, "fetch", "--quiet", "origin", "refs/skillgit/*:refs/skillgit/*", "skill/demo:skill/demo")
    assert len(entries(clone)) == 5
    assert train(clone, tmp_path / "clone.log") == 0
    want = uninterrupted()[0]
    found = outcome(clone)
    assert (found["branch"], found["best"], found["journal"]) == (want["branch"], want["best"], want["journal"])
