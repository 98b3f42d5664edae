"""Trains in this process: what the end-to-end tests share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from skillgit.git.fsck import check
from skillgit.git.history import SkillHistory
from skillgit.git.repo import Repo
from skillgit.report import Silent
from skillgit.run import Summary
from skillgit.session import run_training
from tests.repos import git
from tests.world import World

SUBJECTS = [
    "demo: run 1 baseline",
    "demo: run 1 step 1 reject",
    "demo: run 1 step 2 reject",
    "demo: run 1 epoch 1 accept_new_best",
    "demo: run 1 step 3 reject",
    "demo: run 1 step 4 accept_new_best",
    "demo: run 1 epoch 2 skip",
    "demo: run 1 final",
]
"""The journal of a whole run."""


class Training:
    """A repository with the world's skill, and what a test does with it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self._monkeypatch = monkeypatch

    def run(
        self,
        *options: str,
        world: World | None = None,
        new_run: bool = False,
        name: str = "demo",
        proven: bool = True,
    ) -> Summary:
        """One ``train`` with a world of its own; its history is ``proven`` afterwards."""
        (world or World()).install(self._monkeypatch)
        with Repo.discover(self.root) as repo:
            summary = run_training(repo, name, Silent(), overrides=options, new_run=new_run)
            found = [str(finding) for finding in check(repo, name)] if proven else []
            assert found == [], found
        return summary

    def git(self, *arguments: str) -> str:
        return git(self.root, *arguments)

    def records(self, *kinds: str) -> list[dict[str, Any]]:
        """The journal's records, oldest first, of these kinds or all."""
        with Repo.discover(self.root) as repo:
            entries = SkillHistory(repo, "demo").journal.entries()
            return [entry.record for entry in entries if not kinds or entry.kind in kinds][::-1]

    def subjects(self, ref: str = "refs/skillgit/demo/journal") -> Sequence[str]:
        return self.git("log", "--reverse", "--format=%s", ref).splitlines()

    def commit_by_hand(self, old: str, new: str) -> str:
        """A person's commit on the skill branch; the checkout stays on main."""
        text = self.git("show", "skill/demo:skills/demo/SKILL.md").replace(old, new) + "\n"
        path = self.root / "skills/demo/SKILL.md"
        before = path.read_bytes()
        path.write_text(text, encoding="utf-8")
        self.git("symbolic-ref", "HEAD", "refs/heads/skill/demo")
        self.git("commit", "--quiet", "-am", "By hand")
        self.git("symbolic-ref", "HEAD", "refs/heads/main")
        path.write_bytes(before)
        self.git("reset", "--quiet")
        return self.git("rev-parse", "skill/demo")
