"""Checkouts of the skill branch. They follow the branch when they are clean, and are never written to otherwise."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from skillgit.errors import RepositoryError
from skillgit.git.log import log

if TYPE_CHECKING:
    from skillgit.git.repo import Repo, Worktree

LOOK_BACK = 64


def check_movable(repo: Repo, branch: str) -> None:
    """Before a run: RepositoryError if a checkout of branch has changes. One left behind by a kill is moved along."""
    for worktree in _checkouts(repo, branch):
        _heal(repo, worktree)
        status = repo.git_in(worktree.path, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=none")
        if status.stdout.strip():
            raise _dirty(worktree)


def followers(repo: Repo, branch: str, old: str, new: str) -> list[Worktree]:
    """The checkouts that must follow branch; RepositoryError if one has changes that following would lose."""
    found = _checkouts(repo, branch)
    for worktree in found:
        if repo.git_in(worktree.path, "read-tree", "-m", "-u", "-n", old, new, check=False).returncode:
            raise _dirty(worktree)
    return found


def follow(repo: Repo, checkouts: list[Worktree], old: str, new: str) -> None:
    """After the branch moved: bring the index and files of its checkouts from old to new."""
    for worktree in checkouts:
        repo.git_in(worktree.path, "read-tree", "-m", "-u", old, new)


def move_along(repo: Repo, branch: str, old: str, new: str) -> None:
    """Check and follow in one, for a branch that was moved already."""
    follow(repo, followers(repo, branch, old, new), old, new)


def _checkouts(repo: Repo, branch: str) -> list[Worktree]:
    return [worktree for worktree in repo.worktrees() if worktree.branch == branch]


def _dirty(worktree: Worktree) -> RepositoryError:
    place = shlex.quote(str(worktree.path))
    return RepositoryError(
        f"{worktree.branch} is checked out in {worktree.path} with uncommitted changes",
        hint=f"git -C {place} stash, or git -C {place} commit -a, or git -C {place} switch --detach",
    )


def _heal(repo: Repo, worktree: Worktree) -> None:
    """A kill between transaction and move leaves index and files at an older commit of the branch: move them now."""

    def differs(*args: str) -> bool:
        return repo.git_in(worktree.path, *args, check=False).returncode != 0

    if worktree.head is None or not differs("diff-index", "--cached", "--quiet", "HEAD", "--"):
        return
    if differs("diff-files", "--quiet", "--"):
        return
    for number, entry in enumerate(log(repo, worktree.head)):
        if number > LOOK_BACK:
            return
        if not differs("diff-index", "--cached", "--quiet", entry.oid, "--"):
            repo.git_in(worktree.path, "read-tree", "-m", "-u", entry.oid, "HEAD")
            return
