"""What of a user's checkout no training may touch, as a value to compare."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tests.repos import git


def snapshot(folder: Path) -> dict[str, str]:
    """Working tree (bytes and modes), index, HEAD, stash, config and hooks of the checkout at folder.

    Every key is a path or a name, so that a failing comparison says what was touched.
    """
    own = Path(git(folder, "rev-parse", "--absolute-git-dir"))
    common = Path(git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir"))
    seen = {"HEAD commit": git(folder, "rev-parse", "HEAD", check=False), "stash": _stash(common)}
    for path in (own / "HEAD", own / "index", common / "config", *sorted((common / "hooks").glob("*"))):
        seen[str(path)] = _state(path)
    if git(folder, "rev-parse", "--is-bare-repository") == "false":
        top = Path(git(folder, "rev-parse", "--show-toplevel"))
        paths = (path for path in sorted(top.rglob("*")) if ".git" not in path.relative_to(top).parts)
        seen |= {str(path): _state(path) for path in paths}
    return seen


def _stash(common: Path) -> str:
    return "".join(_state(common / name) for name in ("refs/stash", "logs/refs/stash"))


def _state(path: Path) -> str:
    if path.is_symlink():
        return f"-> {path.readlink()}"
    if not path.exists():
        return "absent"
    content = "folder" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return f"{path.stat().st_mode:o} {content}"
