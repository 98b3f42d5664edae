"""Checkouts of the skill branch. They follow the branch when they are clean, and are never written to otherwise."""

from __future__ import annotations

import shlex
from itertools import islice
from typing import TYPE_CHECKING

from skillgit.errors import RepositoryError
from skillgit.git.log import log

if TYPE_CHECKING:
    from skillgit.git.repo import Repo, Worktree

LOOK_BACK = 64


def check_movable(repo: Repo, branch: str) -> None:
    """Before a run: RepositoryError if a checkout of branch has changes. One left behind by a kill is moved along."""
    for worktree in _checkouts(repo, branch):
        changes = repo.git_in(worktree.path, "status", "--porcelain", "--untracked-files=no").text.splitlines()
        files_equal_index = all(line[1] == " " for line in changes)
        if changes and not (files_equal_index and _caught_up(repo, worktree)):
            raise _dirty(worktree)


def _caught_up(repo: Repo, worktree: Worktree) -> bool:
    """A kill between transaction and move leaves index and files at an older commit of the branch: move them now."""
    for entry in islice(log(repo, worktree.head or ""), LOOK_BACK):
        differs = repo.git_in(worktree.path, "diff-index", "--cached", "--quiet", entry.oid, "--", check=False)
        if not differs.returncode:
            _refresh(repo, worktree)
            repo.git_in(worktree.path, "read-tree", "-m", "-u", entry.oid, "HEAD")
            return True
    return False


def followers(repo: Repo, branch: str, old: str, new: str) -> list[Worktree]:
    """The checkouts that must follow branch; RepositoryError if one has changes that following would lose."""
    found = _checkouts(repo, branch)
    for worktree in found:
        if not _can_follow(repo, worktree, old, new):
            _refresh(repo, worktree)
            if not _can_follow(repo, worktree, old, new):
                raise _dirty(worktree)
    return found


def _can_follow(repo: Repo, worktree: Worktree, old: str, new: str) -> bool:
    return repo.git_in(worktree.path, "read-tree", "-m", "-u", "-n", old, new, check=False).returncode == 0


def _refresh(repo: Repo, worktree: Worktree) -> None:
    """For read-tree a file with a new time stamp is a changed one, until the index has looked at it."""
    repo.git_in(worktree.path, "update-index", "-q", "--refresh", check=False)


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
