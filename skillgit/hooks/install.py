"""Puts the hooks where git looks for them. A hook that is there is moved aside, byte for byte, and runs first."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from skillgit.errors import RepositoryError

if TYPE_CHECKING:
    from skillgit.git.repo import Repo

NAMES = ("pre-commit", "commit-msg", "pre-push", "post-merge", "post-rewrite")
MARK = b"A hook of skillgit, put in place by: skillgit hooks install"
KEPT = ".kept"
FRAMEWORK = ".pre-commit-config.yaml"


@dataclass(frozen=True, slots=True)
class Placed:
    """What became of a hook: ``kept`` is the other hook beside it, which runs first."""

    name: str
    path: str
    state: Literal["installed", "removed", "missing"]
    kept: str = ""


def folder(repo: Repo) -> Path:
    """Where git looks for hooks; under husky, where its users keep theirs."""
    answer = repo.git("config", "--null", "--type=path", "--get-all", "core.hooksPath", check=False)
    values = answer.text.split("\0")[:-2]  # the last value is the one that silences hooks for our own calls
    if not values or not values[-1]:
        return repo.git_dir / "hooks"
    found = (repo.work_tree or repo.git_dir) / values[-1]
    return found.parent if (found.name, found.parent.name) == ("_", ".husky") else found


def install(repo: Repo) -> list[Placed]:
    """Put all hooks in place; doing it twice is doing it once."""
    place = folder(repo)
    return [_install(place, name) for name in NAMES]


def uninstall(repo: Repo) -> list[Placed]:
    """Take our hooks away and put back what was there before."""
    place = folder(repo)
    return [_uninstall(place, name) for name in NAMES]


def state(repo: Repo) -> list[Placed]:
    """Which hooks are in place."""
    place = folder(repo)
    return [_placed(place / name, "installed" if _ours(place / name) else "missing") for name in NAMES]


def uses_framework(repo: Repo) -> bool:
    """Whether the repository is set up for the pre-commit framework."""
    return repo.work_tree is not None and (repo.work_tree / FRAMEWORK).is_file()


def _install(place: Path, name: str) -> Placed:
    path, kept = place / name, place / f"{name}{KEPT}"
    try:
        place.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or (path.exists() and not _ours(path)):
            if kept.exists() or kept.is_symlink():
                raise RepositoryError(f"{path} and {kept} are both there", hint=f"put one of them away: rm '{kept}'")
            path.rename(kept)
        _write(path, script(name, husky=place.name == ".husky"))
    except OSError as error:
        raise RepositoryError(f"cannot write in {place}: {error.strerror}") from None
    return _placed(path, "installed")


def _uninstall(place: Path, name: str) -> Placed:
    path, kept = place / name, place / f"{name}{KEPT}"
    if not _ours(path):
        return _placed(path, "missing")
    try:
        if kept.exists() or kept.is_symlink():
            kept.replace(path)
        else:
            path.unlink()
    except OSError as error:
        raise RepositoryError(f"cannot write in {place}: {error.strerror}") from None
    return _placed(path, "removed")


def _placed(path: Path, state: Literal["installed", "removed", "missing"]) -> Placed:
    kept = path.with_name(path.name + KEPT)
    return Placed(path.name, str(path), state, str(kept) if kept.exists() or kept.is_symlink() else "")


def _write(path: Path, data: bytes) -> None:
    scratch = path.with_name(f"{path.name}.skillgit-new")
    scratch.write_bytes(data)
    scratch.chmod(0o755)
    scratch.replace(path)


def _ours(path: Path) -> bool:
    try:
        return not path.is_symlink() and MARK in path.read_bytes()
    except OSError:
        return False


def script(name: str, *, husky: bool = False) -> bytes:
    """The hook as it is installed: where skillgit is not on the path, it runs by the Python that installed it.

    Husky runs its scripts with ``sh -e``, whether they are executable or not.
    """
    text = next(path for path in _sources(name) if path.is_file()).read_text(encoding="utf-8")
    if husky:
        text = text.replace('[ -x "$0.kept" ]', '[ -f "$0.kept" ]').replace('"$0.kept" "$@"', 'sh -e "$0.kept" "$@"')
    first, second, rest = text.split("\n", 2)
    python = shlex.quote(sys.executable)
    found = f'command -v skillgit > {os.devnull} 2>&1 || skillgit() {{ {python} -m skillgit "$@"; }}'
    return "\n".join([first, second, found, rest]).encode("utf-8")


def _sources(name: str) -> Iterator[Path]:
    here = Path(__file__).parents[1]
    yield here / "_bundled" / "hooks" / name  # of a wheel
    yield here.parent / "hooks" / name  # of a checkout
