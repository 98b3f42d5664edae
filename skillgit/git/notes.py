"""Notes of one namespace, read and written as trees, so that a step writes many at the price of one commit.

Git stores a note in a tree under the hexadecimal id of what it is on: flat (``abcdef...``) or fanned out
(``ab/cdef...``, ``ab/cd/ef...``), changing between the two as it likes. All are read here; a new note is written as
``ab/cdef...``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from skillgit.errors import RepositoryError
from skillgit.git.objects import FILE, TREE, TreeEntry

if TYPE_CHECKING:
    from skillgit.git.repo import Repo

NAMESPACES = ("rejected", "scores", "meta", "worth")
PREFIX = "refs/notes/skillgit/"


@dataclass(slots=True)
class _Folder:
    """A tree that is being changed: only the folders on the way to a changed note are opened."""

    entries: dict[str, TreeEntry] = field(default_factory=dict)
    opened: dict[str, _Folder] = field(default_factory=dict)


class Notes:
    """The notes under refs/notes/skillgit/NAMESPACE."""

    def __init__(self, repo: Repo, namespace: str, at: str | None = None) -> None:
        if namespace not in NAMESPACES:
            raise ValueError(f"no such notes: {namespace}")
        self._repo = repo
        self._at = at
        self.ref = PREFIX + namespace

    def tip(self) -> str | None:
        """The commit that the ref is at, or the one these notes were asked for ``at``."""
        return self._at or self._repo.ref(self.ref)

    def get(self, oid: str) -> str:
        """The note on an object, "" if it has none."""
        tip = self.tip()
        return self._read(self._repo.tree_of(tip), oid, oid) if tip else ""

    def many(self, oids: Iterable[str]) -> dict[str, str]:
        """The notes on several objects; those without one are left out."""
        tip = self.tip()
        root = self._repo.tree_of(tip) if tip else None
        found = ((oid, self._read(root, oid, oid)) for oid in oids) if root else ()
        return {oid: text for oid, text in found if text}

    def all(self) -> Iterator[tuple[str, str]]:
        """(object id, note) of every note."""
        if tip := self.tip():
            yield from self._walk(self._repo.tree_of(tip), "")

    def stage(self, additions: Mapping[str, str]) -> tuple[str, str | None]:
        """Append a text to the note of each object: (new notes commit, the one it was made from).

        Text that a note already holds is not added again, so that staging twice is staging once. Only objects are
        written; the caller moves :attr:`ref` in its transaction.
        """
        tip = self.tip()
        root = self._folder(self._repo.tree_of(tip)) if tip else _Folder()
        for oid, text in additions.items():
            self._append(root, oid, text)
        tree = self._write(root)
        if tip and tree == self._repo.tree_of(tip):
            return tip, tip
        message = f"Notes added by skillgit on {len(additions)} object{'s'[: len(additions) > 1]}\n"
        return self._repo.write_commit(tree, [tip] if tip else [], message), tip

    def _read(self, tree: str, rest: str, oid: str) -> str:
        entries = {entry.name: entry for entry in self._repo.objects.tree(tree)}
        if (note := entries.get(rest)) and note.mode != TREE:
            return self._text(note.oid)
        deeper = entries.get(rest[:2])
        return self._read(deeper.oid, rest[2:], oid) if deeper and deeper.mode == TREE and len(rest) > 2 else ""

    def _walk(self, tree: str, prefix: str) -> Iterator[tuple[str, str]]:
        for entry in self._repo.objects.tree(tree):
            name = prefix + entry.name
            if entry.mode == TREE and len(entry.name) == 2:
                yield from self._walk(entry.oid, name)
            elif entry.mode != TREE and self._repo.objects.is_oid(name):
                yield name, self._text(entry.oid)

    def _text(self, blob: str) -> str:
        return self._repo.read_blob(blob).decode("utf-8", "replace")

    def _folder(self, tree: str) -> _Folder:
        return _Folder({entry.name: entry for entry in self._repo.objects.tree(tree)})

    def _append(self, folder: _Folder, oid: str, text: str) -> None:
        if not self._repo.objects.is_oid(oid):
            raise RepositoryError(f"'{oid}' is not an object id of this {self._repo.object_format} repository")
        rest = oid
        while True:
            note = folder.entries.get(rest)
            if note is not None or (rest != oid and rest[:2] not in folder.entries) or len(rest) <= 2:
                break
            folder, rest = self._open(folder, rest[:2]), rest[2:]
        old = self._text(note.oid) if note else ""
        blob = self._repo.write_blob(_joined(old, text).encode("utf-8", "replace"))
        folder.entries[rest] = replace(note, oid=blob) if note else TreeEntry(FILE, rest, blob)

    def _open(self, folder: _Folder, name: str) -> _Folder:
        if name not in folder.opened:
            entry = folder.entries.get(name)
            folder.opened[name] = self._folder(entry.oid) if entry else _Folder()
        return folder.opened[name]

    def _write(self, folder: _Folder) -> str:
        for name, inner in folder.opened.items():
            folder.entries[name] = TreeEntry(TREE, name, self._write(inner))
        return self._repo.write_tree(folder.entries.values())


def _joined(old: str, text: str) -> str:
    text = text if text.endswith("\n") else text + "\n"
    if not old or old.endswith("\n"):
        return old if text in old else old + text
    return _joined(old + "\n", text)
