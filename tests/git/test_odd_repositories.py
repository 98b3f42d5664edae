"""The whole round - start, steps, an epoch, reading back - in every kind of repository."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.git import worktree
from skillgit.git.lock import SkillLock
from skillgit.git.notes import Notes
from tests.git.training import Trainer
from tests.repos import git
from tests.snapshots import snapshot

Factory = Callable[..., Path]
Kind = Callable[[Factory, Path], Path]


def plain(repo: Factory, tmp: Path) -> Path:
    return repo()


def sha256(repo: Factory, tmp: Path) -> Path:
    return repo(object_format="sha256")


def bare(repo: Factory, tmp: Path) -> Path:
    git(tmp, "clone", "-q", "--bare", str(repo()), "bare.git")
    return tmp / "bare.git"


def shallow(repo: Factory, tmp: Path) -> Path:
    folder = repo()
    git(folder, "commit", "-q", "--allow-empty", "-m", "Second")
    git(tmp, "clone", "-q", "--depth=1", folder.as_uri(), "shallow")
    return tmp / "shallow"


def linked(repo: Factory, tmp: Path) -> Path:
    git(repo(), "worktree", "add", "-q", str(tmp / "linked"))
    return tmp / "linked"


def detached(repo: Factory, tmp: Path) -> Path:
    folder = repo()
    git(folder, "switch", "-q", "--detach")
    return folder


def spaces_and_other_scripts(repo: Factory, tmp: Path) -> Path:
    return repo(folder="ein Ordner/日本 \"quoted\" 'x' $HOME")


def hooks(repo: Factory, tmp: Path) -> Path:
    folder = repo()
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-checkout", "post-rewrite"):
        hook = folder / ".git" / "hooks" / name
        hook.write_text("#!/bin/sh\necho ran >> .git/ran\nexit 1\n", encoding="utf-8")
        hook.chmod(0o755)
    return folder


def separate_git_dir(repo: Factory, tmp: Path) -> Path:
    git(tmp, "init", "-q", "--separate-git-dir", str(tmp / "elsewhere"), str(repo()))
    return tmp / "repo"


def submodule(repo: Factory, tmp: Path) -> Path:
    outer = repo(folder="outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo(folder="inner")), "sub")
    return outer / "sub"


def packed(repo: Factory, tmp: Path) -> Path:
    folder = repo()
    git(folder, "gc", "-q")
    return folder


def alternates(repo: Factory, tmp: Path) -> Path:
    git(tmp, "clone", "-q", "--shared", str(repo()), "shared")
    return tmp / "shared"


def partial_clone(repo: Factory, tmp: Path) -> Path:
    folder = repo()
    git(folder, "config", "uploadpack.allowFilter", "true")
    git(tmp, "clone", "-q", "--filter=blob:none", "--no-checkout", folder.as_uri(), "partial")
    return tmp / "partial"


def sparse(repo: Factory, tmp: Path) -> Path:
    folder = repo()
    git(folder, "sparse-checkout", "set", "nothing")
    return folder


def odd_settings(repo: Factory, tmp: Path) -> Path:
    folder = repo()
    settings = {
        "core.autocrlf": "true",
        "core.logAllRefUpdates": "false",
        "core.quotePath": "true",
        "core.ignoreCase": "true",
        "core.fsync": "all",
        "core.compression": "9",
        "core.sharedRepository": "group",
        "core.abbrev": "4",
        "i18n.commitEncoding": "ISO-8859-1",
        "i18n.logOutputEncoding": "ISO-8859-1",
        "log.showSignature": "true",
        "log.date": "relative",
        "log.follow": "true",
        "format.pretty": "oneline",
        "color.ui": "always",
        "gc.auto": "1",
        "receive.denyCurrentBranch": "refuse",
        "transfer.fsckObjects": "true",
        "user.useConfigOnly": "true",
        "status.short": "false",
        "status.showUntrackedFiles": "all",
        "notes.rewriteRef": "refs/notes/*",
        "core.notesRef": "refs/notes/other",
        "merge.ff": "false",
        "core.pager": "false",
        "commit.template": "nowhere",
    }
    for key, value in settings.items():
        git(folder, "config", key, value)
    return folder


KINDS: list[Kind] = [
    plain,
    sha256,
    bare,
    shallow,
    linked,
    detached,
    spaces_and_other_scripts,
    hooks,
    separate_git_dir,
    submodule,
    packed,
    alternates,
    partial_clone,
    sparse,
    odd_settings,
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_whole_round(kind: Kind, repo: Factory, tmp_path: Path) -> None:
    folder = kind(repo, tmp_path)
    before = snapshot(folder)
    trainer = Trainer(folder)
    with SkillLock(trainer.repo, "demo"):
        worktree.check_movable(trainer.repo, trainer.history.branch)
        trainer.step("- one", "- zwei ü", hard=0.6)
        trainer.step("- worse", hard=0.4)
        trainer.end_epoch(trainer.history.text(trainer.tip) + "more\n", hard=0.8)
    history = trainer.history
    assert [entry.subject for entry in history.log()] == [
        "demo: epoch 1 meta-update (squash merge)",
        "demo: Say - zwei ü",
        "demo: Say - one",
    ]
    assert history.resolve("demo@base") == git(folder, "rev-parse", "HEAD")
    assert history.resolve("demo@step-2") == history.resolve("demo@skill/demo~1")
    assert history.resolve("demo@best") == history.tip() == trainer.tip
    assert Notes(trainer.repo, "rejected").get(history.resolve("demo@step-1"))
    assert [entry.kind for entry in history.journal.entries()] == ["epoch", "step", "step", "baseline"]
    trainer.repo.close()
    assert snapshot(folder) == before
    assert git(folder, "fsck", "--strict", "--no-dangling") == ""
    assert not list(tmp_path.rglob("ran"))
