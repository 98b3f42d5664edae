"""A training touches nothing of the user's: working tree, index, HEAD, stash, config and hooks stay as they are."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.errors import ConfigError, FatalModelError, LimitReached, RepositoryError, SkillgitError
from tests import world
from tests.e2e.training import Training
from tests.repos import git
from tests.snapshots import snapshot
from tests.world import World

DOCUMENT = "skills/demo/SKILL.md"
Make = Callable[..., Path]


@pytest.fixture
def root(repo: Make) -> Path:
    return repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks())


@pytest.fixture
def training(root: Path, monkeypatch: pytest.MonkeyPatch) -> Training:
    return Training(root, monkeypatch)


def untidy(root: Path) -> None:
    """Work of every kind that is not committed."""
    for name in ("kept", "deleted", "renamed"):
        (root / name).write_text(f"{name}\n", encoding="utf-8")
    (root / ".gitignore").write_text("*.log\n", encoding="utf-8")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "Some files")
    (root / "kept").write_text("stashed\n", encoding="utf-8")
    git(root, "stash", "push", "--quiet")
    (root / "kept").write_text("staged\n", encoding="utf-8")
    git(root, "add", "kept")
    (root / "kept").write_text("staged, and changed again\n", encoding="utf-8")
    (root / DOCUMENT).write_text("half an edit", encoding="utf-8")
    (root / "deleted").unlink()
    git(root, "mv", "renamed", "to")
    (root / "announced").write_text("later\n", encoding="utf-8")
    git(root, "add", "--intent-to-add", "announced")
    for name in ("untracked", "a.log", "skills/demo/draft.md"):
        (root / name).write_text("mine\n", encoding="utf-8")
    (root / "empty").mkdir()
    git(root, "config", "core.hooksPath", ".git/hooks")


def refusing(root: Path) -> None:
    """Hooks that let nothing through."""
    for name in ("pre-commit", "commit-msg", "reference-transaction", "post-checkout", "post-index-change"):
        hook = root / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch '{root.parent}/ran'\nexit 1\n", encoding="utf-8")
        hook.chmod(0o755)


def test_a_training_from_beginning_to_end(training: Training) -> None:
    untidy(training.root)
    refusing(training.root)
    before = snapshot(training.root)
    assert not training.run("train.epochs=1").unchanged
    assert snapshot(training.root) == before
    assert not (training.root.parent / "ran").exists()


@pytest.mark.parametrize("end", ["cap", "settings", "model", "bug"])
def test_a_training_that_fails(training: Training, end: str) -> None:
    untidy(training.root)
    before = snapshot(training.root)
    with pytest.raises(LimitReached):
        training.run("limits.calls=75")
    assert snapshot(training.root) == before
    if end == "settings":
        with pytest.raises(ConfigError):
            training.run("train.seed=1")
    elif end != "cap":
        broken = World()
        broken.target.answer = lambda request: FatalModelError("401") if end == "model" else RuntimeError("a bug")
        with pytest.raises((SkillgitError, RuntimeError)):
            training.run(world=broken)
    assert snapshot(training.root) == before
    assert training.run().finished
    assert snapshot(training.root) == before


@pytest.mark.parametrize("kind", ["bare", "detached", "sha256", "linked", "shallow", "packed", "umlaut"])
def test_every_kind_of_repository(
    root: Path, repo: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    there = tmp_path / ("ein Örtchen" if kind == "umlaut" else "there")
    if kind == "sha256":
        there = repo(
            "demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks(), object_format="sha256", folder=there.name
        )
    elif kind in ("bare", "shallow", "umlaut"):
        git(root, "commit", "--quiet", "--allow-empty", "-m", "Another")
        options = {"bare": ["--bare"], "shallow": ["--depth=1"]}.get(kind, [])
        git(root, "clone", "--quiet", *options, root.as_uri(), str(there))
    elif kind == "linked":
        git(root, "worktree", "add", "--quiet", str(there))
    else:
        there = root
        git(root, *(("checkout", "--quiet", "--detach") if kind == "detached" else ("gc", "--quiet")))
    others = [place for place in (root, there) if place.exists()]
    before = [snapshot(place) for place in others]
    training = Training(there, monkeypatch)
    assert not training.run("train.epochs=1").unchanged
    assert [snapshot(place) for place in others] == before
    assert training.git("fsck", "--strict").count("error") == 0


def test_a_clean_checkout_of_the_branch_moves_along(training: Training, tmp_path: Path) -> None:
    """Every other checkout stays as it is; so does what git does not track in this one."""
    linked = tmp_path / "linked"
    training.run("train.max_steps=1")
    training.git("worktree", "add", "--quiet", str(linked), "skill/demo")
    (linked / "untracked").write_text("mine", encoding="utf-8")
    untidy(training.root)
    before = snapshot(training.root)
    assert not training.run(new_run=True).unchanged
    assert snapshot(training.root) == before
    assert git(linked, "status", "--porcelain") == "?? untracked"
    assert git(linked, "rev-parse", "HEAD") == training.git("rev-parse", "skill/demo")
    assert (linked / DOCUMENT).read_text(encoding="utf-8") == training.git("show", f"skill/demo:{DOCUMENT}") + "\n"


@pytest.mark.parametrize("change", ["unstaged", "staged", "deleted"])
def test_a_dirty_checkout_of_the_branch_refuses_before_anything_is_spent(training: Training, change: str) -> None:
    training.run("train.max_steps=1")
    training.git("checkout", "--quiet", "skill/demo")
    path = training.root / DOCUMENT
    path.unlink() if change == "deleted" else path.write_text("mine", encoding="utf-8")
    if change == "staged":
        training.git("add", DOCUMENT)
    before, refs, fresh = snapshot(training.root), training.git("for-each-ref"), World()
    with pytest.raises(RepositoryError, match=r"is checked out in .* with uncommitted changes") as refusal:
        training.run(new_run=True, world=fresh)
    assert "stash" in refusal.value.hint
    assert fresh.calls == 0
    assert (snapshot(training.root), training.git("for-each-ref")) == (before, refs)


def test_a_repository_without_a_commit_is_refused(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unborn = tmp_path / "unborn"
    git(root, "clone", "--quiet", str(root), str(unborn))
    git(unborn, "checkout", "--quiet", "--orphan", "nothing")
    git(unborn, "branch", "--quiet", "-D", "main")
    before, fresh = snapshot(unborn), World()
    with pytest.raises(RepositoryError):
        Training(unborn, monkeypatch).run(world=fresh)
    assert fresh.calls == 0
    assert snapshot(unborn) == before


def test_without_an_identity_commits_are_skillgits(training: Training, monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        for part in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{role}_{part}")
    training.git("config", "user.useConfigOnly", "true")
    training.run("train.epochs=1")
    assert training.git("log", "-1", "--format=%an <%ae> %cn", "skill/demo") == "skillgit <skillgit@localhost> skillgit"


@pytest.mark.skipif(os.name == "nt", reason="POSIX file modes")
def test_line_endings_and_mode_are_kept(repo: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repo("demo", skill=world.SKILL.replace("\n", "\r\n").encode(), env=world.ENV, tasks=world.tasks())
    (root / DOCUMENT).chmod(0o755)
    git(root, "commit", "--quiet", "-am", "Executable")
    git(root, "config", "core.autocrlf", "true")
    training = Training(root, monkeypatch)
    before = snapshot(root)
    assert not training.run().unchanged
    assert snapshot(root) == before
    assert training.git("ls-tree", "skill/demo", DOCUMENT).startswith("100755 ")
    text = training.git("cat-file", "blob", f"skill/demo:{DOCUMENT}")
    assert text.count("\n") == text.count("\r\n")


def test_a_signer_that_fails_refuses_before_anything_is_spent(training: Training) -> None:
    training.git("config", "commit.gpgSign", "true")
    training.git("config", "gpg.program", "false")
    before, fresh = snapshot(training.root), World()
    with pytest.raises(RepositoryError, match="sign"):
        training.run(world=fresh)
    assert fresh.calls == 0
    assert training.run("git.sign=never", "train.max_steps=1").finished
    assert snapshot(training.root) == before
