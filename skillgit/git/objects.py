"""Git's object database: ids are computed here, objects are read from one long-lived ``git cat-file --batch``.

A new object waits in memory until :meth:`Objects.flush`, which stores all that wait at once (see ``loose.py``). So a
step starts no process for its objects, however many there are.
"""

from __future__ import annotations

import hashlib
import select
import subprocess
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from skillgit.errors import RepositoryError
from skillgit.git.process import TIMEOUT, kill

Kind = Literal["commit", "tree", "blob", "tag"]
REMEMBERED = 512
TREE, FILE, EXECUTABLE, SYMLINK, SUBMODULE = "40000", "100644", "100755", "120000", "160000"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A name in a tree. ``mode`` is octal text as git stores it: 40000, 100644, 100755, 120000 or 160000."""

    mode: str
    name: str
    oid: str


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A revision that could mean several objects."""


def encode_tree(entries: Iterable[TreeEntry]) -> bytes:
    """The bytes of a tree, in git's order (a folder sorts as if its name ended in a slash)."""
    rows = [(entry.name.encode("utf-8", "surrogateescape"), entry) for entry in entries]
    rows.sort(key=lambda row: row[0] + (b"/" if row[1].mode == TREE else b""))
    return b"".join(entry.mode.encode() + b" " + name + b"\0" + bytes.fromhex(entry.oid) for name, entry in rows)


def decode_tree(data: bytes, width: int) -> tuple[TreeEntry, ...]:
    """The entries of a tree; ``width`` is the length of a raw id (20 or 32)."""
    entries, at = [], 0
    while at < len(data):
        space = data.index(b" ", at)
        end = data.index(b"\0", space)
        name = data[space + 1 : end].decode("utf-8", "surrogateescape")
        entries.append(TreeEntry(data[at:space].decode(), name, data[end + 1 : end + 1 + width].hex()))
        at = end + 1 + width
    return tuple(entries)


def encode_commit(tree: str, parents: Sequence[str], author: str, committer: str, message: str) -> bytes:
    """The bytes of a commit; author and committer are ``Name <mail> seconds zone``."""
    head = [f"tree {tree}", *(f"parent {parent}" for parent in parents), f"author {author}", f"committer {committer}"]
    return ("\n".join(head) + "\n\n" + message).encode("utf-8", "replace")


def _framed(kind: Kind, data: bytes) -> bytes:
    return f"{kind} {len(data)}\0".encode() + data


class Batch:
    """A long-lived ``git cat-file --batch``, started when first asked and again if it died."""

    def __init__(self, start: Callable[..., subprocess.Popen[bytes]]) -> None:
        self._start = start
        self._process: subprocess.Popen[bytes] | None = None
        self._finalizer: weakref.finalize[[subprocess.Popen[bytes]], Batch] | None = None
        self._lock = threading.Lock()

    def ask(self, name: str) -> tuple[str, str, bytes] | Ambiguous | None:
        """(id, kind, content) of what a revision names, None if there is no such object."""
        if "\n" in name or "\0" in name:
            return None
        with self._lock:
            answer = self._ask(name)
            if answer is None:  # the process is gone: killed from outside, or the repository moved
                self.close()
                answer = self._ask(name)
        if answer is None:
            raise RepositoryError(f"git cat-file ended while it was asked for '{name}'", hint="git fsck")
        header, content = answer
        if header.endswith(b" ambiguous"):
            return Ambiguous()
        if header.endswith(b" missing"):
            return None
        oid, kind, _ = header.decode().split(" ")
        return oid, kind, content

    def _ask(self, name: str) -> tuple[bytes, bytes] | None:
        process = self._open()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(name.encode("utf-8", "surrogateescape") + b"\n")
            process.stdin.flush()
        except OSError:
            return None
        self._await(process, name)
        header = process.stdout.readline()
        if not header.endswith(b"\n"):
            return None
        header = header[:-1]
        if header.endswith((b" missing", b" ambiguous")):
            return header, b""
        size = int(header.rsplit(b" ", 1)[1])
        content = process.stdout.read(size + 1)
        return (header, content[:-1]) if len(content) == size + 1 else None

    def _await(self, process: subprocess.Popen[bytes], name: str) -> None:
        """A partial clone may go to the network for an object: that must end, too. (No select on pipes on Windows.)"""
        if hasattr(select, "poll"):
            poller = select.poll()
            poller.register(process.stdout, select.POLLIN)  # type: ignore[arg-type]
            if not poller.poll(TIMEOUT * 1000):
                self.close()
                raise RepositoryError(f"git did not find '{name}' within {TIMEOUT:g} s")

    def _open(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = self._start("cat-file", "--batch", stdin=subprocess.PIPE, quiet=True)
            self._finalizer = weakref.finalize(self, kill, self._process)
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._finalizer is not None:
            self._finalizer()
        self._process = self._finalizer = None


class Objects:
    """Read and write objects of one repository.

    ``store`` is given id -> ``kind size NUL content`` and makes the objects durable; it raises RepositoryError.
    """

    def __init__(self, algorithm: str, batch: Batch, store: Callable[[Mapping[str, bytes]], None]) -> None:
        self.algorithm = algorithm
        self.width = hashlib.new(algorithm).digest_size
        self._batch = batch
        self._store = store
        self._pending: dict[str, tuple[Kind, bytes]] = {}
        self._trees: dict[str, tuple[TreeEntry, ...]] = {}

    def is_oid(self, text: str) -> bool:
        """Whether text is a full object id of this repository."""
        return len(text) == 2 * self.width and all(c in "0123456789abcdef" for c in text)

    def name(self, kind: Kind, data: bytes) -> str:
        """The id that an object has, or would have."""
        return hashlib.new(self.algorithm, _framed(kind, data)).hexdigest()

    def write(self, kind: Kind, data: bytes) -> str:
        """The id of a new object, which reaches the disk with the next flush."""
        oid = self.name(kind, data)
        self._pending.setdefault(oid, (kind, data))
        return oid

    def flush(self) -> None:
        """Store all that was written, durably; nothing to do costs nothing."""
        if self._pending:
            self._store({oid: _framed(*waiting) for oid, waiting in self._pending.items()})
            self._pending.clear()

    def find(self, name: str) -> tuple[str, str, bytes] | Ambiguous | None:
        """(id, kind, content) of what an id or any revision names."""
        if waiting := self._pending.get(name):
            return name, *waiting
        return self._batch.ask(name)

    def read(self, oid: str, kind: Kind) -> bytes:
        """The content of an object, RepositoryError if it is missing or of another kind."""
        found = self.find(oid)
        if not isinstance(found, tuple):
            raise RepositoryError(f"{kind} {oid} is missing from the repository", hint="git fsck; git fetch")
        if found[1] != kind:
            raise RepositoryError(f"{oid} is a {found[1]}, not a {kind}")
        return found[2]

    def tree(self, oid: str) -> tuple[TreeEntry, ...]:
        """The entries of a tree; some hundred trees are remembered, as most of them stay the same over a history."""
        if oid not in self._trees:
            if len(self._trees) >= REMEMBERED:
                self._trees.clear()
            self._trees[oid] = decode_tree(self.read(oid, "tree"), self.width)
        return self._trees[oid]
