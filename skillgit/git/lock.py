"""One writer a skill: a lock in the common git directory, and beside it a note of who holds it.

The operating system drops the lock when its holder dies, however it dies; the note then tells the next one that a run
ended abruptly.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from skillgit.errors import LockedError
from skillgit.git import intent

if TYPE_CHECKING:
    from filelock import BaseFileLock

    from skillgit.git.repo import Repo


@dataclass(frozen=True, slots=True)
class Owner:
    """A process that holds, or held, a lock. ``started`` is local time with its zone."""

    pid: int
    host: str
    started: str
    command: str

    @classmethod
    def me(cls) -> Owner:
        """This process."""
        started = datetime.now().astimezone().isoformat(timespec="seconds")
        return cls(os.getpid(), socket.gethostname(), started, " ".join(sys.argv)[:200])

    def gone(self) -> bool:
        """Whether it ran on this host and does not run any more."""
        return self.host == socket.gethostname() and not _alive(self.pid)

    def __str__(self) -> str:
        return f"pid {self.pid} on host {self.host} since {self.started} ({self.command})"


class SkillLock:
    """Hold the lock of a skill for a run, and complete a step that a killed holder left half published.

    ``abandoned`` is the holder that died without releasing it, if one did. Raises LockedError, which names the holder.
    """

    def __init__(self, repo: Repo, name: str) -> None:
        self._repo = repo
        self._name = name
        self._lock: BaseFileLock | None = None
        self.abandoned: Owner | None = None

    def __enter__(self) -> SkillLock:
        from filelock import FileLock, Timeout

        folder = self._repo.state_dir
        self._lock = FileLock(folder / f"{self._name}.lock", timeout=0)
        try:
            self._lock.acquire()
        except Timeout:
            raise self._refusal() from None
        self.abandoned = self._owner()
        try:
            self._note.write_text(json.dumps(asdict(Owner.me())), encoding="utf-8")
            intent.recover(self._repo, self._name)
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    @property
    def _note(self) -> Path:
        return self._repo.state_dir / f"{self._name}.owner.json"

    def _release(self) -> None:
        self._note.unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.release()

    def _owner(self) -> Owner | None:
        try:
            return Owner(**json.loads(self._note.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def _refusal(self) -> LockedError:
        owner = self._owner()
        if owner is None:
            return LockedError(
                f"skill '{self._name}' is being trained by another process", hint="try again in a moment"
            )
        if owner.gone():
            return LockedError(
                f"skill '{self._name}' is locked: {owner} is gone, but a process it started still holds the lock",
                hint=f"end that process, or: rm '{self._repo.state_dir / self._name}.lock'",
            )
        return LockedError(f"skill '{self._name}' is being trained by {owner}", hint="wait for it, or end it")


def holder(repo: Repo, name: str) -> str:
    """Who trains this skill right now, "" if nobody does."""
    from filelock import FileLock, Timeout

    path = repo.state_dir / f"{name}.lock"
    if not path.exists():
        return ""
    try:
        with FileLock(path, timeout=0):
            return ""
    except Timeout:
        owner = SkillLock(repo, name)._owner()
        return str(owner) if owner else "another process"


def _alive(pid: int) -> bool:
    if os.name == "nt":  # there os.kill(pid, 0) would end the process; the lock itself tells enough
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
