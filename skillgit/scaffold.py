"""Makes a skill's folder: from scratch, or from a bundled environment. Never overwrites a file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillgit.config import check_name
from skillgit.errors import ConfigError, RepositoryError
from skillgit.workspace import FOLDER

if TYPE_CHECKING:
    from skillgit.git.repo import Repo

TOOLS = frozenset({"README.md", "mine.py", "generate.py", "prepare.py"})
"""Files of a bundled environment that a skill made from it does not need."""

SKILL = """\
---
name: {scalar}
description: Say here what the skill is for and when an agent should load it.
---

# {title}

Write here how the task is done. Training adds what measurably helps.
"""

TASKS = """\
{"id": "example-1", "input": "Replace these lines by your own tasks. What is 2 + 3?", "answer": "5"}
{"id": "example-2", "input": "Every further field can be used in the prompt. What is 10 - 4?", "answer": "6"}
"""


@dataclass(frozen=True)
class Made:
    """What init did: files written, files that were there already, and remarks."""

    written: tuple[str, ...]
    kept: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def init(repo: Repo, name: str, *, env: str = "", from_repo: str = "") -> Made:
    """Write ``skills/NAME``, from scratch or from the bundled environment ``env``.

    ``from_repo`` is a git repository whose history becomes the tasks, for an environment with a ``mine.py``. Raises ConfigError,
    TaskError (too little history) or RepositoryError; nothing is written then.
    """
    folder = _place(repo, name)
    if from_repo and not env:
        raise ConfigError("--from-repo needs --env", hint="skillgit init NAME --env commit-type --from-repo PATH")
    files = _of_environment(env, name) if env else fresh_files(name)
    notes: tuple[str, ...] = ()
    if from_repo:
        file, text, note = _mined(env, from_repo, folder)
        files[file] = text.encode("utf-8")
        notes = (note,)
    return write_skill(repo, name, files, notes)


def write_skill(repo: Repo, name: str, files: Mapping[str, bytes], notes: tuple[str, ...] = ()) -> Made:
    """Write the files that are not there yet into ``skills/NAME``."""
    folder = _place(repo, name)
    fresh = {path: _write(folder / path, data) for path, data in files.items()}
    shown = {path: f"{FOLDER}/{name}/{path}" for path in fresh}
    written = tuple(shown[path] for path, new in fresh.items() if new)
    return Made(written, tuple(shown[path] for path, new in fresh.items() if not new), notes)


def _place(repo: Repo, name: str) -> Path:
    check_name(name)
    if repo.work_tree is None:
        raise RepositoryError("a bare repository has no working tree to write to", hint="run this in a clone of it")
    folder = repo.work_tree / FOLDER / name
    _refuse_odd(repo.work_tree, folder)
    return folder


def _refuse_odd(root: Path, folder: Path) -> None:
    for path in (root / FOLDER, folder):
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            raise ConfigError(
                f"{path.relative_to(root).as_posix()} is no plain folder; skills are kept in plain folders"
            )


def _write(path: Path, data: bytes) -> bool:
    """Whether the file was not there yet."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError:
        return False
    except OSError as error:
        raise RepositoryError(f"cannot write {path}: {error.strerror}") from None
    return True


def fresh_files(name: str) -> dict[str, bytes]:
    """What a skill is made of that is made from scratch."""
    from skillgit.commented import env_yaml

    skill = SKILL.format(scalar=_scalar(name), title=name.replace("-", " ").capitalize())
    texts = {"SKILL.md": skill, "env.yaml": env_yaml(name), "tasks.jsonl": TASKS}
    return {path: text.encode("utf-8") for path, text in texts.items()}


def _of_environment(env: str, name: str) -> dict[str, bytes]:
    root = environment_folder(env)
    paths = [path.relative_to(root) for path in sorted(root.rglob("*")) if path.is_file()]
    wanted = [path for path in paths if "__pycache__" not in path.parts and path.as_posix() not in TOOLS]
    files = {path.as_posix(): (root / path).read_bytes() for path in wanted}
    if "SKILL.md" in files:
        files["SKILL.md"] = renamed(files["SKILL.md"], name)
    return files


def environment_folder(env: str) -> Path:
    """The folder of a bundled environment. Raises ConfigError with those there are."""
    from skillgit.env import bundled

    known = bundled()
    if env not in known:
        raise ConfigError(f"there is no bundled environment '{env}'; known: {', '.join(known)}", hint="skillgit envs")
    return known[env]


def _mined(env: str, from_repo: str, folder: Path) -> tuple[str, str, str]:
    """(task file, its text, a remark): what ``make_tasks(repo)`` of the environment's mine.py finds in the repository."""
    from skillgit import config, splits, tasks
    from skillgit.env_file import calling, load_module
    from skillgit.git.repo import Repo

    root = environment_folder(env)
    settings = config.load(root / "env.yaml").settings
    module = load_module(root / "mine.py")
    if module is None or settings.tasks.all is None:
        raise ConfigError(f"the environment '{env}' cannot make tasks from a repository")
    if (folder / settings.tasks.all).exists():
        raise ConfigError(f"{folder / settings.tasks.all} exists and is never overwritten", hint="move it away first")
    with Repo.discover(from_repo) as source, calling("make_tasks()"):
        records: list[Mapping[str, Any]] = list(module.make_tasks(source))
    found = tasks.make_tasks(records, "mine.py")
    ratio, seed = settings.split.ratio, settings.split.seed
    parts = splits.assign(found, ratio, seed, min_selection=settings.gate.min_items)
    types = ", ".join(f"{kind} {count}" for kind, count in Counter(task.type for task in found).most_common())
    sizes = f"train {len(parts.train)}, selection {len(parts.selection)}, test {len(parts.test)}"
    text = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
    return settings.tasks.all, text, f"{len(found)} tasks from {from_repo} ({types}): {sizes}"


FRONT_NAME = re.compile(rb"\A((?:\xef\xbb\xbf)?---[ \t]*\r?\n(?:(?!---[ \t]*\r?\n).*\r?\n)*?name:[ \t]*)[^\r\n]*")


def renamed(skill: bytes, name: str) -> bytes:
    """The document with another ``name`` in its frontmatter; without one it stays as it is."""
    return FRONT_NAME.sub(lambda match: match[1] + _scalar(name).encode(), skill, count=1)


def _scalar(name: str) -> str:
    """The name as YAML text: a name such as 2048 or on needs quotes."""
    import yaml

    return name if isinstance(yaml.safe_load(name), str) else json.dumps(name)


def summary_of(folder: Path) -> str:
    """The first sentence of an environment's README, "" without one."""
    path = folder / "README.md"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    paragraphs = [" ".join(part.split()) for part in text.replace("\r\n", "\n").split("\n\n")]
    prose = [part for part in paragraphs if part and not part.startswith(("#", ">", "!", "[", "|"))]
    return prose[0].split(". ")[0].rstrip(".") if prose else ""
