from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skillgit.errors import RepositoryError
from skillgit.git import worktree
from skillgit.git.trailers import CommitMessage
from tests.git.training import Trainer
from tests.repos import git
from tests.snapshots import snapshot

SKILL = "skills/demo/SKILL.md"


@pytest.fixture
def trained(repo: Callable[..., Path]) -> Iterator[Trainer]:
    trainer = Trainer(repo(folder="the repo"))
    trainer.step("- one", hard=0.6)
    yield trainer
    trainer.repo.close()


def top(trainer: Trainer) -> Path:
    assert trainer.repo.work_tree is not None
    return trainer.repo.work_tree


def test_a_clean_checkout_follows(trained: Trainer) -> None:
    folder = top(trained)
    git(folder, "switch", "-q", "skill/demo")
    (folder / "untracked").write_text("x", encoding="utf-8")
    worktree.check_movable(trained.repo, trained.history.branch)
    trained.step("- two", "- three", hard=0.7)
    assert (folder / SKILL).read_text(encoding="utf-8") == trained.history.text(trained.tip)
    assert git(folder, "status", "--porcelain") == "?? untracked"


def test_a_linked_checkout_follows_and_the_main_one_stays(trained: Trainer, tmp_path: Path) -> None:
    folder, linked = top(trained), tmp_path / "linked one"
    git(folder, "worktree", "add", "-q", str(linked), "skill/demo")
    before = snapshot(folder)
    worktree.check_movable(trained.repo, trained.history.branch)
    trained.step("- two", hard=0.7)
    assert (linked / SKILL).read_text(encoding="utf-8") == trained.history.text(trained.tip)
    assert git(linked, "status", "--porcelain") == ""
    assert snapshot(folder) == before


@pytest.mark.parametrize("stage", [False, True])
@pytest.mark.parametrize("path", [SKILL, "skills/demo/env.yaml"])
def test_a_checkout_with_changes_is_refused_before_the_run(trained: Trainer, path: str, stage: bool) -> None:
    folder = top(trained)
    git(folder, "switch", "-q", "skill/demo")
    (folder / path).write_text("mine\n", encoding="utf-8")
    if stage:
        git(folder, "add", ".")
    before = snapshot(folder)
    with pytest.raises(RepositoryError, match=r"refs/heads/skill/demo is checked out in .*the repo with unc") as caught:
        worktree.check_movable(trained.repo, trained.history.branch)
    assert f"git -C '{folder}' stash" in caught.value.hint
    assert snapshot(folder) == before


def test_changes_made_during_the_run_stop_the_step_before_anything_moves(trained: Trainer) -> None:
    folder = top(trained)
    git(folder, "switch", "-q", "skill/demo")
    (folder / SKILL).write_text("mine\n", encoding="utf-8")
    before, tip = snapshot(folder), trained.repo.ref(trained.history.branch)
    with pytest.raises(RepositoryError, match="with uncommitted changes"):
        trained.step("- two", hard=0.7)
    assert snapshot(folder) == before
    assert trained.repo.ref(trained.history.branch) == tip


def test_changes_elsewhere_made_during_the_run_are_kept(trained: Trainer) -> None:
    folder = top(trained)
    git(folder, "switch", "-q", "skill/demo")
    (folder / "skills/demo/env.yaml").write_text("mine\n", encoding="utf-8")
    trained.step("- two", hard=0.7)
    assert (folder / "skills/demo/env.yaml").read_text(encoding="utf-8") == "mine\n"
    assert git(folder, "status", "--porcelain") == " M skills/demo/env.yaml"


def test_a_rejected_step_does_not_look_at_checkouts(trained: Trainer) -> None:
    folder = top(trained)
    git(folder, "switch", "-q", "skill/demo")
    (folder / SKILL).write_text("mine\n", encoding="utf-8")
    trained.step("- bad", hard=0.1)
    assert (folder / SKILL).read_text(encoding="utf-8") == "mine\n"


def test_the_same_branch_in_no_checkout(trained: Trainer) -> None:
    before = snapshot(top(trained))
    (top(trained) / SKILL).write_text("mine\n", encoding="utf-8")
    worktree.check_movable(trained.repo, trained.history.branch)
    (top(trained) / SKILL).write_bytes(trained.repo.read_file(trained.history.base(), SKILL) or b"")
    assert snapshot(top(trained)) == before


def left_behind(trained: Trainer, steps: int = 1) -> Path:
    """A checkout whose branch moved on without it: what a kill between transaction and checkout leaves."""
    folder = top(trained)
    git(folder, "switch", "-q", "skill/demo")
    for n in range(steps):
        texts = [f"{trained.history.text(trained.tip)}- later {n}\n"]
        (commit,) = trained.history.edit_commits(trained.tip, texts, [CommitMessage("later")])
        trained.repo.git("update-ref", trained.history.branch, commit, trained.tip)
        trained.tip = commit
    assert git(folder, "status", "--porcelain") == f"M  {SKILL}"
    return folder


@pytest.mark.parametrize("steps", [1, 3])
def test_a_checkout_left_behind_by_a_kill_is_moved_along(trained: Trainer, steps: int) -> None:
    folder = left_behind(trained, steps)
    worktree.check_movable(trained.repo, trained.history.branch)
    assert git(folder, "status", "--porcelain") == ""
    assert (folder / SKILL).read_text(encoding="utf-8") == trained.history.text(trained.tip)


def test_a_checkout_left_behind_and_then_changed_is_refused(trained: Trainer) -> None:
    folder = left_behind(trained)
    (folder / SKILL).write_text("mine\n", encoding="utf-8")
    before = snapshot(folder)
    with pytest.raises(RepositoryError, match="with uncommitted changes"):
        worktree.check_movable(trained.repo, trained.history.branch)
    assert snapshot(folder) == before


def test_move_along(trained: Trainer) -> None:
    old = trained.tip
    folder = left_behind(trained)
    worktree.move_along(trained.repo, trained.history.branch, old, trained.tip)
    assert git(folder, "status", "--porcelain") == ""


def test_hooks_and_line_endings_of_a_checkout(trained: Trainer) -> None:
    """The checkout gets the line endings the user asked for; the commits keep theirs."""
    folder = top(trained)
    git(folder, "switch", "-q", "skill/demo")
    git(folder, "config", "core.autocrlf", "true")
    hook = folder / ".git" / "hooks" / "post-checkout"
    hook.write_text("#!/bin/sh\ntouch ran\n", encoding="utf-8")
    hook.chmod(0o755)
    trained.step("- two", hard=0.7)
    assert (folder / SKILL).read_bytes().endswith(b"- two\r\n")
    assert trained.history.text(trained.tip).endswith("- one\n- two\n")
    assert git(folder, "status", "--porcelain") == ""


def test_a_touched_file_is_not_a_changed_one(trained: Trainer) -> None:
    folder = top(trained)
    git(folder, "switch", "-q", "skill/demo")
    os.utime(folder / SKILL, (1, 1))
    worktree.check_movable(trained.repo, trained.history.branch)
    trained.step("- two", hard=0.7)
    assert git(folder, "status", "--porcelain") == ""


def test_a_touched_checkout_left_behind_is_moved_along(trained: Trainer) -> None:
    folder = left_behind(trained)
    os.utime(folder / SKILL, (1, 1))
    worktree.check_movable(trained.repo, trained.history.branch)
    assert git(folder, "status", "--porcelain") == ""
