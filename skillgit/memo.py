"""The memo: every paid model call, kept so that nothing is paid twice.

It is only a cache (an SQLite file under ``.git/skillgit/``) and may be deleted at any time. What is needed to
resume is in the journal; the memo makes the resumed step cheap. Any error of the file is a warning, never the end
of a run.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from skillgit.models.base import NO_USAGE, Usage

T = TypeVar("T")
_VERSION = 1
_SCHEMA = """
create table answers (kind text, key text, value text not null, primary key (kind, key)) without rowid;
create table ledger (skill text, since text, stage text, role text, input integer, output integer, cached integer,
                     usd real, calls integer);
create index ledger_since on ledger (skill, since);
"""


def _silent(_: str) -> None: ...


class Memo:
    """Answers by key, and a ledger of what was spent since a journal entry.

    ``path`` None keeps everything in memory. ``warn`` gets one line when the file is unusable, and how often it was of use.
    """

    def __init__(self, path: Path | None, warn: Callable[[str], None] = _silent) -> None:
        self._warn = warn
        self._path = path
        self.hits = 0
        self._db: sqlite3.Connection | None = None
        try:
            self._db = _open(path)
        except sqlite3.Error as error:
            self._db = self._afresh(path, error)

    def _afresh(self, path: Path | None, error: Exception) -> sqlite3.Connection | None:
        assert path is not None
        self._warn(f"the memo {path} cannot be read ({error}); moved aside, calls will be paid again")
        with suppress(OSError):
            for suffix in ("-wal", "-shm"):
                Path(f"{path}{suffix}").unlink(missing_ok=True)
            path.replace(path.with_suffix(".corrupt"))
        try:
            return _open(path)
        except sqlite3.Error:
            return None

    def get(self, kind: str, key: str) -> str | None:
        """The stored answer, or None."""
        rows = self._run("select value from answers where kind = ? and key = ?", (kind, key))
        return str(rows[0][0]) if rows else None

    def load(self, kind: str, key: str, read: Callable[[str], T]) -> T | None:
        """The stored answer as ``read`` makes it, counted as a hit; one that it cannot read is dropped with a warning."""
        stored = self.get(kind, key)
        if stored is None:
            return None
        try:
            value = read(stored)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            self._warn(f"an answer in the memo cannot be read ({type(error).__name__}: {error}); it is asked for again")
            self._run("delete from answers where kind = ? and key = ?", (kind, key))
            return None
        self.hits += 1
        return value

    def put(self, kind: str, key: str, value: str) -> None:
        """Store an answer; the first one for a key stays."""
        self._run("insert or ignore into answers values (?, ?, ?)", (kind, key, value))

    def spend(self, skill: str, since: str, stage: str, role: str, usage: Usage) -> None:
        """Note a paid call made after journal entry ``since``."""
        row = (skill, since, stage, role, usage.input_tokens, usage.output_tokens, usage.cached_tokens)
        self._run("insert into ledger values (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, usage.usd, usage.calls))

    def spent(self, skill: str, since: str) -> dict[tuple[str, str], Usage]:
        """Usage by (stage, role) noted after journal entry ``since``."""
        rows = self._run(
            "select stage, role, input, output, cached, usd, calls from ledger where skill = ? and since = ?",
            (skill, since),
        )
        total: dict[tuple[str, str], Usage] = {}
        for stage, role, *numbers in rows:
            total[stage, role] = total.get((stage, role), NO_USAGE) + Usage(*numbers)
        return total

    def close(self) -> None:
        """Close the file, and say how much of it was used."""
        if self._db is not None:
            self._db.close()
            self._db = None
        if self.hits:
            known = "1 result was" if self.hits == 1 else f"{self.hits} results were"
            self._warn(f"{known} known already and cost nothing: {self._path}")
            self.hits = 0

    def _run(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        if self._db is None:
            return []
        try:
            return self._db.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            self._warn(f"the memo cannot be used ({error}); going on without it, calls may be paid again")
            self._db.close()
            self._db = None
            return []


def _open(path: Path | None) -> sqlite3.Connection:
    db = sqlite3.connect(path or ":memory:", timeout=30, isolation_level=None)
    try:
        db.execute("pragma journal_mode = wal")
        db.execute("pragma synchronous = normal")  # survives a killed process, which is what it is for
        if db.execute("pragma user_version").fetchone()[0] != _VERSION:
            _create(db)
        db.execute("select count(*) from ledger where skill = ''")
    except sqlite3.Error:
        db.close()
        raise
    return db


def _create(db: sqlite3.Connection) -> None:
    db.execute("begin immediate")
    if db.execute("pragma user_version").fetchone()[0] != _VERSION:  # another process may have been faster
        for table in ("answers", "ledger"):
            db.execute(f"drop table if exists {table}")
        for statement in filter(str.strip, _SCHEMA.split(";")):
            db.execute(statement)
        db.execute(f"pragma user_version = {_VERSION}")
    db.execute("commit")
