"""A stretch of history from one ``git log`` process, commit by commit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from skillgit.git.process import Result, failure, kill, records
from skillgit.git.trailers import parse_message

if TYPE_CHECKING:
    from skillgit.git.repo import Repo

FORMAT = "--format=%H%n%T%n%P%n%cd%n%an%n%B"


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A commit with its message taken apart. ``when`` is the committer's date in the committer's time zone."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    when: datetime
    author: str
    subject: str
    body: str
    trailers: dict[str, str]


def log(repo: Repo, *revisions: str) -> Iterator[LogEntry]:
    """Commits along first parents, newest first, for revisions as git takes them (``tip``, ``base..tip``)."""
    repo.objects.flush()
    args = ("log", "-z", "--first-parent", "--no-show-signature", "--encoding=UTF-8", "--date=raw", FORMAT, *revisions)
    process = repo.start(*args, "--")
    try:
        for record in records(process):
            yield _entry(record)
        _, err = process.communicate()
        if process.returncode:
            raise failure(args, Result(process.returncode, b"", err))
    finally:
        kill(process)


def read(repo: Repo, commit: str) -> LogEntry:
    """One commit, without a process of its own."""
    head, _, message = repo.objects.read(commit, "commit").decode("utf-8", "replace").partition("\n\n")
    lines = [line.partition(" ") for line in head.split("\n")]
    fields = {key: value for key, _, value in reversed(lines)}
    date = " ".join(fields["committer"].rsplit(" ", 2)[1:])
    author = fields["author"].rpartition(" <")[0]
    return _made(commit, fields["tree"], [value for key, _, value in lines if key == "parent"], date, author, message)


def _entry(record: bytes) -> LogEntry:
    oid, tree, parents, date, author, message = record.decode("utf-8", "replace").split("\n", 5)
    return _made(oid, tree, parents.split(), date, author, message)


def _made(oid: str, tree: str, parents: Sequence[str], date: str, author: str, message: str) -> LogEntry:
    parsed = parse_message(message)
    return LogEntry(oid, tree, tuple(parents), parse_date(date), author, parsed.subject, parsed.body, parsed.trailers)


def parse_date(stamp: str) -> datetime:
    """``seconds zone`` as git stores it."""
    seconds, _, zone = stamp.partition(" ")
    minutes = int(zone[-4:-2]) * 60 + int(zone[-2:])
    offset = timedelta(minutes=-minutes if zone.startswith("-") else minutes)
    return datetime.fromtimestamp(int(seconds), timezone(offset))
