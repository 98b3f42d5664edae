"""Where a skill's folder is read from: the working tree, or a commit where there is none (a bare repository)."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from skillgit.config import check_name
from skillgit.errors import ConfigError, RepositoryError

if TYPE_CHECKING:
    from skillgit.git.repo import Repo

FOLDER = "skills"


def skill_folder(repo: Repo, name: str) -> Path:
    """The folder ``skills/NAME`` with env.yaml and tasks.

    A bare repository has no working tree: there the folder is exported from HEAD into the cache under the git
    directory, by the id of its tree. Raises ConfigError with the skills that exist when NAME is not one of them.
    """
    check_name(name)
    if repo.work_tree is not None:
        folder = repo.work_tree / FOLDER / name
        if (folder / "env.yaml").is_file():
            return folder
        raise ConfigError(
            f"there is no skill '{name}': {FOLDER}/{name}/env.yaml is missing{_others(repo.work_tree)}",
            hint=f"skillgit init {name}",
        )
    return _exported(repo, name)


def skill_names(repo: Repo) -> list[str]:
    """Names of the skills in the working tree, or in HEAD where there is none, sorted."""
    if repo.work_tree is None:
        files = repo.git("ls-tree", "-r", "-z", "--name-only", "HEAD", f"{FOLDER}/", check=False).stdout.split(b"\0")
        paths = (PurePosixPath(os.fsdecode(file)) for file in files)
        return sorted(path.parent.name for path in paths if path.name == "env.yaml" and len(path.parts) == 3)
    return sorted(path.parent.name for path in (repo.work_tree / FOLDER).glob("*/env.yaml"))


def _others(work_tree: Path) -> str:
    names = sorted(path.parent.name for path in (work_tree / FOLDER).glob("*/env.yaml"))
    return f"; skills here: {', '.join(names)}" if names else ""


def _exported(repo: Repo, name: str) -> Path:
    tree = repo.resolve(f"HEAD:{FOLDER}/{name}")
    if tree is None:
        raise ConfigError(f"there is no skill '{name}': HEAD has no folder {FOLDER}/{name}")
    target = repo.state_dir / "exports" / tree / name  # the folder's name is the skill's
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=target.parent))
    try:
        for line in repo.git("ls-tree", "-r", "-z", tree).stdout.split(b"\0"):
            if line:
                _write(repo, scratch, line)
        scratch.replace(target)
    except OSError:
        if not target.is_dir():  # else another process was faster
            raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return target


def _write(repo: Repo, root: Path, line: bytes) -> None:
    meta, _, raw = line.partition(b"\t")
    mode, kind, oid = meta.decode().split(" ")
    path = PurePosixPath(raw.decode("utf-8"))
    if kind != "blob" or mode == "120000" or ".." in path.parts:
        raise RepositoryError(f"{FOLDER}/…/{path} is not a plain file; links and submodules are not followed")
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(repo.read_blob(oid))


def document_name(repo: Repo, name: str) -> str:
    """The file that is trained, as env.yaml names it. Raises ConfigError when there is no such skill."""
    import yaml

    try:
        data = yaml.safe_load((skill_folder(repo, name) / "env.yaml").read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError):
        data = None
    found = data.get("skill") if isinstance(data, dict) else None
    return found if isinstance(found, str) else "SKILL.md"
