"""One repository: where it is, what it holds, and new objects for it. Nothing here moves a ref."""

from __future__ import annotations

import os
import subprocess
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType

from skillgit.errors import RepositoryError
from skillgit.git import identity, process, signing
from skillgit.git.identity import Identity
from skillgit.git.loose import LooseStore, syncs
from skillgit.git.objects import (
    EXECUTABLE,
    FILE,
    TREE,
    Ambiguous,
    Batch,
    Objects,
    TreeEntry,
    encode_commit,
    encode_tree,
)
from skillgit.git.process import TIMEOUT, Result

QUESTIONS = (
    "--path-format=absolute",
    "--is-bare-repository",
    "--is-shallow-repository",
    "--show-object-format",
    "--absolute-git-dir",
    "--git-common-dir",
    "--show-toplevel",  # last: fails in a bare repository, after the others were answered
)
REFUSED = {"120000": "a symbolic link", "160000": "a submodule", TREE: "a folder"}


@dataclass(frozen=True, slots=True)
class Worktree:
    """A checkout. ``branch`` is a full ref name, or None when HEAD is detached."""

    path: Path
    branch: str | None
    head: str | None


class Repo:
    """Questions to a git repository, and objects written to it.

    ``git_dir`` is the common directory, ``worktree_dir`` the one of this checkout (they differ in a linked worktree),
    ``work_tree`` is None in a bare repository. Use it as a context manager, or call :meth:`close`.
    """

    def __init__(self, answers: list[str]) -> None:
        bare, shallow, object_format, own, common, *top = answers
        self.bare = bare == "true"
        self.shallow = shallow == "true"
        self.object_format = object_format
        self.worktree_dir = Path(own)
        self.git_dir = Path(common)
        self.work_tree = Path(top[0]) if top else None
        self._cwd = self.work_tree or self.git_dir
        self._batch = Batch(self.start)
        self.objects = Objects(object_format, self._batch, self._store)

    @classmethod
    def discover(cls, path: Path | str = ".") -> Repo:
        """The repository that holds path. Only for the current folder GIT_DIR is heeded, as git itself does.

        Raises RepositoryError: not a repository, owned by somebody else (safe.directory), no git.
        """
        here = str(path) == "."
        env = process.environment(keep=("GIT_DIR", "GIT_WORK_TREE") if here else ())
        asked = ("-C", str(path), "rev-parse", *QUESTIONS)
        answer = process.run(asked, cwd=".", env=env, check=False)
        lines = answer.text.splitlines()
        if len(lines) in (5, 6):
            return cls(lines)
        said = process.complaint(answer.stderr) or "its path holds a line break"
        if "dubious ownership" in said:
            raise RepositoryError(
                f"git refuses {path}: the repository belongs to another user",
                hint=f"git config --global --add safe.directory '{Path(path).resolve()}'",
            )
        if "not a git repository" in said:
            raise RepositoryError(f"{Path(path).resolve()} is not in a git repository", hint="git init")
        raise RepositoryError(f"cannot use the repository at {path}: {said}")

    def __enter__(self) -> Repo:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the reading process. The repository can still be used; it starts a new one."""
        self._batch.close()

    @property
    def state_dir(self) -> Path:
        """``skillgit/`` in the common git directory, for caches and locks; made when asked for."""
        folder = self.git_dir / "skillgit"
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise RepositoryError(f"cannot write in {self.git_dir}: {error.strerror}") from None
        return folder

    # -- running git

    def git(
        self,
        *args: str,
        input: bytes | None = None,
        check: bool = True,
        env: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT,
    ) -> Result:
        """Run git on this repository, without prompts, hooks and pager. Objects written before are stored first."""
        self.objects.flush()
        return self._ask(*args, input=input, check=check, env=env, timeout=timeout)

    def start(self, *args: str, stdin: int = subprocess.DEVNULL, quiet: bool = False) -> subprocess.Popen[bytes]:
        """Start git on this repository, to read its output while it runs. End it with ``process.kill``."""
        return process.start(args, cwd=self._cwd, env=self._environment({}), stdin=stdin, quiet=quiet)

    def git_in(self, worktree: Path, *args: str, check: bool = True) -> Result:
        """Run git in a checkout, on its own HEAD and index."""
        self.objects.flush()
        return process.run(args, cwd=worktree, env=process.environment(), check=check)

    def _ask(
        self,
        *args: str,
        input: bytes | None = None,
        check: bool = True,
        env: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT,
    ) -> Result:
        """Like git(), for what needs no objects that are still to be stored."""
        where = self._environment(env or {})
        return process.run(args, cwd=self._cwd, env=where, input=input, check=check, timeout=timeout)

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        return process.environment(GIT_DIR=str(self.worktree_dir), **more)

    def _store(self, objects: Mapping[str, bytes]) -> None:
        LooseStore(self.git_dir / "objects", sync=syncs(self.config)).store(objects)

    @cached_property
    def config(self) -> dict[str, str]:
        """git's configuration, keys in lower case but for subsections, the last value of each; "" for a bare key."""
        listed = self._ask("config", "--list", "-z")
        pairs = (line.partition("\n") for line in os.fsdecode(listed.stdout).split("\0") if line)
        return {key: value if newline else "true" for key, newline, value in pairs}

    def identity(self) -> Identity:
        """Author and committer for training commits."""
        return self._identity

    @cached_property
    def _identity(self) -> Identity:
        return identity.ask(self._ask)

    # -- refs and revisions

    @property
    def head(self) -> str | None:
        """The commit that HEAD is at, None when nothing was committed yet."""
        return self.resolve("HEAD")

    def resolve(self, rev: str) -> str | None:
        """The id of what a revision names (tags peeled), None if there is none; RepositoryError if it is ambiguous."""
        found = self.objects.find(rev)
        if isinstance(found, tuple) and found[1] == "tag":
            found = self.objects.find(f"{found[0]}^{{}}")
        if found is None:
            return None
        if isinstance(found, Ambiguous):
            raise RepositoryError(f"'{rev}' is ambiguous: several objects begin with it", hint="give more digits")
        return found[0]

    def ref(self, name: str) -> str | None:
        """The commit a full ref name points to, None if there is no such ref; RepositoryError if it is damaged."""
        commit, oid = self.resolve(name), None
        if commit is None and (oid := self.refs(name).get(name)):
            commit = self.resolve(oid)  # another process may have made the ref between the two questions
        if commit is None and oid:
            raise RepositoryError(f"{name} points to {oid}, which is missing from the repository", hint="git fsck")
        return commit

    def refs(self, prefix: str) -> dict[str, str]:
        """Full name -> id of every ref below prefix (or prefix itself); RepositoryError if one is damaged."""
        answer = self._ask("for-each-ref", "--format=%(objectname) %(refname)", prefix)
        if b"broken ref" in answer.stderr:
            name = process.complaint(answer.stderr).split()[-1]
            raise RepositoryError(f"the ref {name} is damaged", hint=f"git update-ref {name} COMMIT")
        rows = (line.partition(" ") for line in answer.text.splitlines())
        return {name: oid for oid, _, name in rows}

    def worktrees(self) -> list[Worktree]:
        """Every checkout that exists on disk."""
        blocks = self._ask("worktree", "list", "--porcelain").text.split("\n\n")
        found = []
        for block in filter(None, blocks):
            fields = {key: value for key, _, value in (line.partition(" ") for line in block.splitlines())}
            path = Path(fields["worktree"])
            if "bare" not in fields and path.is_dir():
                found.append(Worktree(path, fields.get("branch"), fields.get("HEAD")))
        return found

    # -- reading

    def parents(self, commit: str) -> tuple[str, ...]:
        """The parent ids of a commit."""
        return tuple(line[7:] for line in self._header(commit) if line.startswith("parent "))

    def message(self, commit: str) -> str:
        """The message of a commit."""
        return self.objects.read(commit, "commit").partition(b"\n\n")[2].decode("utf-8", "replace")

    def tree_of(self, commit: str) -> str:
        """The id of a commit's tree."""
        return self._header(commit)[0].removeprefix("tree ")

    def _header(self, commit: str) -> list[str]:
        return self.objects.read(commit, "commit").partition(b"\n\n")[0].decode("utf-8", "replace").split("\n")

    def entry(self, commit: str, path: str) -> TreeEntry | None:
        """The regular file at path, None if there is none.

        RepositoryError for a symbolic link, a folder or a submodule at it or on the way to it, for a path out of the
        repository, and for names that differ in case or Unicode form only (one of them could not be checked out).
        """
        oid, parts = self.tree_of(commit), _parts(path)
        for depth, part in enumerate(parts):
            entry = _child(self.objects.tree(oid), part, "/".join(parts[: depth + 1]))
            if entry is None:
                return None
            _refuse(entry, "/".join(parts[: depth + 1]), last=depth == len(parts) - 1)
            oid = entry.oid
        return entry

    def blob_of(self, commit: str, path: str) -> str | None:
        """The id of the file at path."""
        entry = self.entry(commit, path)
        return entry.oid if entry else None

    def file_mode(self, commit: str, path: str) -> str:
        """100644 or 100755; 100644 for a file that is not there yet."""
        entry = self.entry(commit, path)
        return entry.mode if entry else FILE

    def read_file(self, commit: str, path: str) -> bytes | None:
        """The bytes of the file at path, as committed: no line ending or filter is applied."""
        oid = self.blob_of(commit, path)
        return None if oid is None else self.read_blob(oid)

    def read_blob(self, oid: str) -> bytes:
        """The bytes of a blob."""
        return self.objects.read(oid, "blob")

    # -- writing objects

    def write_blob(self, data: bytes) -> str:
        """The id of a blob with these bytes."""
        return self.objects.write("blob", data)

    def write_tree(self, entries: Iterable[TreeEntry]) -> str:
        """The id of a tree with these entries, in any order."""
        return self.objects.write("tree", encode_tree(entries))

    def replace_file(self, commit: str, path: str, blob: str, mode: str | None = None) -> str:
        """The id of commit's tree with the file at path replaced (or added); mode None keeps the file's own."""
        self.entry(commit, path)
        return self._replaced(self.tree_of(commit), _parts(path), blob, mode)

    def _replaced(self, tree: str | None, parts: list[str], blob: str, mode: str | None) -> str:
        entries = {entry.name: entry for entry in self.objects.tree(tree)} if tree else {}
        name, *rest = parts
        old = entries.get(name)
        if rest:
            inner = self._replaced(old.oid if old else None, rest, blob, mode)
            entries[name] = TreeEntry(TREE, name, inner)
        else:
            entries[name] = TreeEntry(mode or (old.mode if old else FILE), name, blob)
        return self.write_tree(entries.values())

    def write_commit(
        self, tree: str, parents: Iterable[str], message: str, *, when: datetime | None = None, sign: bool = False
    ) -> str:
        """The id of a new commit; the message is stored as UTF-8, byte for byte (NUL removed).

        With ``sign`` git makes and signs it; RepositoryError when the signer fails or does not end.
        """
        who, message = self.identity(), message.replace("\0", "")
        if sign:
            return signing.signed_commit(self, tree, list(parents), message, when)
        author, committer = who.author.line(when), who.committer.line(when)
        return self.objects.write("commit", encode_commit(tree, list(parents), author, committer, message))


def _parts(path: str) -> list[str]:
    parts = path.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" or "\0" in part for part in parts):
        raise RepositoryError(f"'{path}' is not a path inside the repository")
    return parts


def _child(entries: Iterable[TreeEntry], name: str, path: str) -> TreeEntry | None:
    alike = [entry for entry in entries if _folded(entry.name) == _folded(name)]
    if len(alike) > 1:
        twins = " and ".join(f"'{entry.name}'" for entry in alike)
        raise RepositoryError(f"{path}: {twins} differ only in case or Unicode form", hint="git mv one of them")
    return alike[0] if alike and alike[0].name == name else None


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _refuse(entry: TreeEntry, path: str, *, last: bool) -> None:
    if last and entry.mode not in (FILE, EXECUTABLE, "100664"):
        raise RepositoryError(f"{path} is {REFUSED.get(entry.mode, entry.mode)}, not a regular file")
    if not last and entry.mode != TREE:
        raise RepositoryError(f"{path} is {REFUSED.get(entry.mode, 'a file')}, not a folder")
