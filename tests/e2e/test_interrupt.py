"""Ctrl-C, SIGTERM and a closed terminal end a run in good order; a clone goes on where the original stands."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e.interruptions import entries, make, outcome, paid_twice, sound, train, uninterrupted
from tests.e2e.killed import ONE_BY_ONE
from tests.repos import git
from tests.snapshots import snapshot

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs signals")
INTERRUPTED = 130


@pytest.mark.parametrize("send", ["SIGINT", "SIGTERM", "SIGHUP"])
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


@pytest.mark.parametrize(("moment", "nth", "again"), [("at_call", 2, " --new-run"), ("before_refs", 3, "")])
def test_the_command_that_goes_on_is_said(tmp_path: Path, moment: str, nth: int, again: str) -> None:
    """With the settings that were given; a new run that has begun is gone on with, one that has not is begun again."""
    root, log = make(tmp_path / "r"), tmp_path / "log"
    options = f"{ONE_BY_ONE} train.epochs=1"
    train(root, log, options=options)
    train(root, log, ends=(INTERRUPTED,), send="SIGTERM", options=options, more="--new-run", **{f"kill_{moment}": nth})
    said = log.with_suffix(".err").read_text(encoding="utf-8")
    assert f"skillgit train demo -o {options.replace(' ', ' -o ')}{again}\n" in said


GUIDED, UNGUIDED = "", " slow_update.enabled=false meta_skill.enabled=false"


@pytest.mark.parametrize(("options", "published"), [(GUIDED, 5), (UNGUIDED, 4)])
def test_a_clone_without_notes_goes_on_to_the_same_skill(tmp_path: Path, options: str, published: int) -> None:
    """All that a run needs to go on is in the journal; the notes are an index over it, the memo a cache.

    Without guidance the second epoch begins on a text on which the first one's edits were rejected.
    """
    options = ONE_BY_ONE + options
    root, clone, log = make(tmp_path / "r"), tmp_path / "clone", tmp_path / "log"
    train(root, log, kill_after_entry=published, options=options)
    git(tmp_path, "clone", "--quiet", str(root), str(clone))
    git(clone, "fetch", "--quiet", "origin", "refs/skillgit/*:refs/skillgit/*", "skill/demo:skill/demo")
    assert len(entries(clone)) == published
    for one in (root, clone):
        assert train(one, log, options=options) == 0
    found, want = outcome(clone), outcome(root)
    assert found["journal"] == want["journal"]
    assert (found["branch"], found["best"], found["epochs"]) == (want["branch"], want["best"], want["epochs"])
