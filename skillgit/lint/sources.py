"""Where the documents to lint come from: files, or what is staged."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from skillgit.errors import RepositoryError, UsageError
from skillgit.lint import check
from skillgit.lint.finding import Document, Finding
from skillgit.workspace import FOLDER

if TYPE_CHECKING:
    from skillgit.git.repo import Repo

SKIPPED = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__", ".tox"})


def lint_bytes(path: str, data: bytes, folder: str, ignore: Sequence[str]) -> list[Finding]:
    """The findings in a document as it is stored."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return [Finding(path, line, "encoding", "error", f"byte 0x{data[error.start]:02X} is not UTF-8")]
    return check(Document(path, text, folder), ignore)


def lint_paths(paths: Iterable[str], ignore: Sequence[str]) -> tuple[list[str], list[Finding]]:
    """(the documents, their findings): files as they are named, folders with every skill in them."""
    files = {_shown(file): file for path in paths for file in _documents(Path(path))}
    found: list[Finding] = []
    for shown, file in files.items():
        if file.is_symlink():
            found.append(_link(shown))
            continue
        try:
            data = file.read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read {shown}: {error.strerror}") from None
        found += lint_bytes(shown, data, file.resolve().parent.name, ignore)
    return list(files), found


def _shown(file: Path) -> str:
    return file.as_posix() if file.is_absolute() else Path(os.path.relpath(file)).as_posix()


def _documents(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        if not path.exists() and not path.is_symlink():
            raise UsageError(f"there is no {path}", hint="skillgit lint skills")
        yield path
        return
    for root, folders, names in os.walk(path):
        folders[:] = sorted(folder for folder in folders if folder not in SKIPPED)
        here = Path(root)
        named = _document_of((here / "env.yaml").read_bytes()) if "env.yaml" in names else "SKILL.md"
        yield from (here / name for name in sorted({"SKILL.md", named}) if name in names)


def _document_of(env: bytes) -> str:
    """The document that an env.yaml names."""
    import yaml

    try:
        data = yaml.safe_load(env)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError):
        return "SKILL.md"
    found = data.get("skill") if isinstance(data, dict) else None
    return found if isinstance(found, str) else "SKILL.md"


def lint_staged(repo: Repo, ignore: Sequence[str]) -> tuple[list[str], list[Finding]]:
    """(the documents, their findings) of what the next commit adds or changes: the staged bytes, not the files.

    The index is the one that git gives its hooks (``git commit FILE`` and ``-a`` use a temporary one).
    """
    if repo.work_tree is None:
        raise RepositoryError("a bare repository has nothing staged")
    index = os.environ.get("GIT_INDEX_FILE", "")
    env = {"GIT_INDEX_FILE": str((repo.work_tree / index).absolute())} if index else {}
    against = repo.head or repo.objects.name("tree", b"")
    asked = ("diff-index", "--cached", "-z", "--no-renames", "--diff-filter=ACMT", "--abbrev=64", against)
    rows = _rows(repo.git(*asked, env=env).text)
    staged = {path: (mode, oid) for mode, oid, path in rows}
    wanted = [path for path in staged if _is_document(repo, env, path)]
    found: list[Finding] = []
    for path in wanted:
        mode, oid = staged[path]
        if mode in ("120000", "160000"):
            found.append(_link(path))
        else:
            found += lint_bytes(path, repo.read_blob(oid), PurePosixPath(path).parent.name, ignore)
    return wanted, found


def _rows(text: str) -> Iterator[tuple[str, str, str]]:
    """(new mode, new blob, path) of ``git diff-index -z``."""
    cells = iter(text.split("\0"))
    for head, path in zip(cells, cells, strict=False):
        _, mode, _, oid, _ = head.split(" ")
        yield mode, oid, path


def _is_document(repo: Repo, env: dict[str, str], path: str) -> bool:
    """Whether it is a skill, by its name or by the env.yaml that is staged beside it."""
    parts = PurePosixPath(path).parts
    if parts[-1] == "SKILL.md":
        return True
    if len(parts) < 3 or parts[0] != FOLDER:
        return False
    named = repo.git("cat-file", "blob", f":{FOLDER}/{parts[1]}/env.yaml", env=env, check=False)
    return named.returncode == 0 and _document_of(named.stdout) == "/".join(parts[2:])


def _link(path: str) -> Finding:
    return Finding(path, 1, "file", "error", "is a symbolic link or a submodule; a skill is a plain file")
