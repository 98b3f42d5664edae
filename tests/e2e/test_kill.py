"""A run that is killed and started again ends as one that was not, and pays for nothing twice."""

from __future__ import annotations

import os
import random
from itertools import cycle
from pathlib import Path

import pytest

from tests.e2e.interruptions import ENTRIES, FILES, entries, make, outcome, paid_twice, sound, train, uninterrupted
from tests.repos import git
from tests.snapshots import snapshot

STAGES = (
    "preflight",
    "baseline",
    "rollout",
    "reflect",
    "aggregate",
    "select",
    "gate",
    "slow update",
    "epoch gate",
    "meta",
    "compare",
    "test",
)
"""In the order in which they come first in a run."""
pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "r")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def test_killed_after_every_entry(root: Path, log: Path) -> None:
    before = snapshot(root)
    for n in range(ENTRIES):
        assert train(root, log, kill_after_entry=1) < 0
        sound(root)
        assert len(entries(root)) == n + 1
    assert train(root, log, kill_after_entry=1) == 0  # nothing was left to do
    assert outcome(root) == uninterrupted()[0]
    assert paid_twice(log) == 0
    assert snapshot(root) == before


def test_killed_while_an_entry_is_published(root: Path, log: Path, tmp_path: Path) -> None:
    """Each process publishes one entry and is killed at the next: before it, before its refs move, or before the checkout
    of the branch follows. The first transaction of a process looks for a publication that was cut in two.
    """
    linked, moments = tmp_path / "linked", cycle([("before_entry", 2), ("before_refs", 3), ("after_refs", 3)])
    while True:
        moment, nth = next(moments)
        done = train(root, log, **{f"kill_{moment}": nth}) == 0
        sound(root)
        if done:
            break
        if not linked.exists():
            git(root, "worktree", "add", "--quiet", str(linked), "skill/demo")
    assert outcome(root) == uninterrupted()[0]
    assert paid_twice(log) == 0
    assert git(linked, "status", "--porcelain") == ""
    assert git(linked, "rev-parse", "HEAD") == uninterrupted()[0]["branch"]


def test_killed_in_every_stage(root: Path, log: Path) -> None:
    """At the first call of a stage that is not in the memo: the stages before it are not paid again."""
    for stage in STAGES:
        assert train(root, log, kill_in_stage=stage) < 0, stage
        sound(root)
    assert train(root, log) == 0
    assert outcome(root) == uninterrupted()[0]
    assert paid_twice(log) == 0


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_random_calls(root: Path, log: Path, seed: int) -> None:
    """A call that is in flight at the kill has not been answered, as calls run one by one here."""
    chance, kills, calls = random.Random(seed), 0, len(uninterrupted()[1])
    while train(root, log, kill_at_call=chance.randint(1, calls // 4) if kills < 6 else 0):
        kills += 1
        sound(root)
    assert kills > 2
    assert outcome(root) == uninterrupted()[0]
    assert paid_twice(log) == 0


def test_killed_with_many_calls_in_flight(root: Path, log: Path) -> None:
    """Answers come in another order in each process; only those on their way at a kill are paid again."""
    chance, kills, at_once, calls = random.Random(3), 0, 6, len(uninterrupted()[1])
    options = f"models.target.concurrency={at_once} models.optimizer.concurrency={at_once}"
    while train(root, log, kill_at_call=chance.randint(1, calls // 3) if kills < 5 else 0, jitter=1, options=options):
        kills += 1
        sound(root)
    assert kills > 1
    assert paid_twice(log) <= kills * at_once
    files = tuple(name for name in FILES if name != "config.yaml")
    want = uninterrupted()[0]
    without = [
        [text for name, text in zip(FILES, entry, strict=True) if name != "config.yaml"] for entry in want["journal"]
    ]
    assert outcome(root, files) == {**want, "journal": without}
