"""Several refs moved in one step, each from an expected old value, or none of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillgit.errors import RaceError, RepositoryError
from skillgit.git.process import complaint

if TYPE_CHECKING:
    from skillgit.git.repo import Repo

REF = re.compile(r"cannot lock ref '(?P<ref>[^']+)'")
MOVED = re.compile(r"is at [0-9a-f]+ but expected|reference already exists|unable to resolve reference '[^']+'$")
LOCKED = re.compile(r"Unable to create '(?P<file>[^']+\.lock)'")
LOCK_TIMEOUT = 5000  # ms; two skills share the notes refs: wait for the other one, git itself gives up after 100


class LockedRefError(RepositoryError):
    """A ref's lock file is in the way."""


@dataclass(frozen=True, slots=True)
class Move:
    """``old`` None: the ref must not exist yet. ``new`` None: delete it."""

    ref: str
    new: str | None
    old: str | None


class Transaction:
    """Collect moves, then :meth:`commit` them with one ``git update-ref``.

    The refs are written in the order in which they were set, so put first the one that tells what the others should be.
    """

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self.moves: list[Move] = []

    def set(self, ref: str, new: str | None, old: str | None) -> None:
        """Move ref from old to new. A move to where it is already still checks that it is there."""
        if any(move.ref == ref for move in self.moves):
            raise ValueError(f"{ref} is set twice")
        self.moves.append(Move(ref, new, old))

    def commit(self, message: str) -> None:
        """Store all objects written so far, then move the refs; message goes to their reflogs.

        Nothing is moved when it raises RaceError (names the ref that was not at its old value), LockedRefError
        (another git holds a ref, or was killed while it did) or RepositoryError (anything else).
        """
        if not self.moves:
            return
        zero = "0" * (2 * self._repo.objects.width)
        feed = "start\0" + "".join(_line(move, zero) for move in self.moves) + "prepare\0commit\0"
        reason = " ".join(message.split())
        args = ("-c", f"core.filesRefLockTimeout={LOCK_TIMEOUT}", "update-ref", "-m", reason, "--stdin", "-z")
        who = self._repo.identity().environment()
        answer = self._repo.git(*args, input=feed.encode(), check=False, env=who)
        if answer.returncode:
            raise _explain(complaint(answer.stderr))


def _line(move: Move, zero: str) -> str:
    if move.new == move.old:
        return f"verify {move.ref}\0{move.old or zero}\0"
    return f"update {move.ref}\0{move.new or zero}\0{move.old or zero}\0"


def _explain(said: str) -> RepositoryError:
    match = REF.search(said)
    ref = match["ref"] if match else "a ref"
    if locked := LOCKED.search(said):
        return LockedRefError(
            f"{ref} is locked by another git process, or by one that was killed",
            hint=f"if no git is running: rm '{locked['file']}'",
        )
    if MOVED.search(said):
        return RaceError(f"{ref} was moved by somebody else; nothing was written", hint="run the command again")
    return RepositoryError(f"git did not move {ref}: {said}")
