"""What a publication was about to do, so that one that was cut in two can be completed.

A ref transaction is all or nothing for whoever reads afterwards, but git's file backend renames one ref after the
other: a kill of git itself, or of the machine, between two renames leaves some moved and others locked. The journal is
the first, so: journal moved, the rest is moved too; journal not moved, nothing was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from skillgit.git.transaction import LockedRefError, Move, Transaction

if TYPE_CHECKING:
    from skillgit.git.repo import Repo


@contextmanager
def recorded(repo: Repo, name: str, moves: Sequence[Move]) -> Iterator[None]:
    """Note down the moves while they are made. After an error the note stays: recover finds nothing to do then."""
    path = _path(repo, name)
    path.write_text(json.dumps([asdict(move) for move in moves]), encoding="utf-8")
    yield
    path.unlink(missing_ok=True)


def recover(repo: Repo, name: str) -> bool:
    """Complete the publication that was cut in two, if one was. To be called by the holder of the skill's lock.

    Returns whether refs had to be moved. Notes that moved on since are left alone: they are an index over the journal.
    """
    path = _path(repo, name)
    moves = _read(path)
    now = {move.ref: repo.ref(move.ref) for move in moves}
    published = bool(moves) and now[moves[0].ref] == moves[0].new
    transaction = Transaction(repo)
    for move in moves:
        unmoved = now[move.ref] == move.old
        transaction.set(move.ref, move.new if published and unmoved else now[move.ref], now[move.ref])
    try:
        transaction.commit("skillgit: complete an interrupted step")
    except LockedRefError:  # after a wait of seconds: left by the git that was killed
        for move in moves:
            (repo.git_dir / f"{move.ref}.lock").unlink(missing_ok=True)
        transaction.commit("skillgit: complete an interrupted step")
    path.unlink(missing_ok=True)
    return any(move.new != move.old for move in transaction.moves)


def _path(repo: Repo, name: str) -> Path:
    return repo.state_dir / f"{name}.intent"


def _read(path: Path) -> list[Move]:
    try:
        return [Move(**row) for row in json.loads(path.read_text(encoding="utf-8"))]
    except (FileNotFoundError, ValueError, TypeError):  # never written, or cut off: then git was not started
        return []
