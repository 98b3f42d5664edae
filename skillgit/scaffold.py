"""Makes a skill's folder: from scratch, or from a bundled environment. Never overwrites a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillgit.config import Settings, check_name
from skillgit.env import bundled
from skillgit.env_file import calling, load_module
from skillgit.errors import ConfigError, RepositoryError
from skillgit.workspace import FOLDER

if TYPE_CHECKING:
    from pydantic import BaseModel

    from skillgit.git.repo import Repo

SKIPPED = frozenset({"README.md", "mine.py", "generate.py", "__pycache__"})
"""Files of a bundled environment that a skill made from it does not need."""

SKILL = """\
---
name: {name}
description: Say here what the skill is for and when an agent should load it.
---

# {title}

Write here how the task is done. Training adds what measurably helps.
"""

TASKS = """\
{"id": "example-1", "input": "Replace these lines by your own tasks. What is 2 + 3?", "answer": "5"}
{"id": "example-2", "input": "Every further field can be used in the prompt. What is 10 - 4?", "answer": "6"}
"""

ENV_HEAD = """\
# How the skill '{name}' is trained. Every key is listed; those behind a # have their default value.
# skillgit config {name} --explain shows what is in force, and where it comes from.

models:
  target: openai:gpt-5.5-mini          # the frozen model that does the tasks
  optimizer: anthropic:claude-opus-4-8   # the model that proposes edits

judge: {{kind: exact}}
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
    """Write ``skills/NAME``. ``from_repo`` mines the tasks from a repository's history, where the environment can."""
    check_name(name)
    if repo.work_tree is None:
        raise RepositoryError("a bare repository has no working tree to write to", hint="run init in a clone of it")
    files, notes = _bundled_files(name, env, from_repo) if env else (_new_files(name), ())
    if from_repo and not env:
        raise ConfigError("--from-repo needs --env", hint="skillgit init NAME --env commit-type --from-repo PATH")
    folder = repo.work_tree / FOLDER / name
    _refuse_links(repo.work_tree, folder)
    written, kept = [], []
    for path, data in files.items():
        target = folder / path
        if target.exists() or target.is_symlink():
            kept.append(f"{FOLDER}/{name}/{path}")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        written.append(f"{FOLDER}/{name}/{path}")
    return Made(tuple(written), tuple(kept), tuple(notes))


def _refuse_links(root: Path, folder: Path) -> None:
    for path in (root / FOLDER, folder):
        if path.is_symlink():
            raise ConfigError(f"{path.relative_to(root)} is a symbolic link; skills are plain folders")


def _new_files(name: str) -> dict[str, bytes]:
    title = name.replace("-", " ").capitalize()
    env = ENV_HEAD.format(name=name) + "\n" + "\n".join(_commented(Settings)) + "\n"
    texts = {"SKILL.md": SKILL.format(name=name, title=title), "env.yaml": env, "tasks.jsonl": TASKS}
    return {path: text.encode("utf-8") for path, text in texts.items()}


def _commented(model: type[BaseModel], indent: str = "") -> Iterator[str]:
    """Every key with its default and meaning, behind a #; made from the settings, so it cannot fall behind them."""
    import json

    from pydantic import BaseModel as Base

    for name, field in model.model_fields.items():
        kind = field.annotation
        if name in ("models", "judge"):
            continue
        default = field.get_default(call_default_factory=True)
        if isinstance(kind, type) and issubclass(kind, Base) and kind.__name__ != "TaskFiles":
            yield f"# {indent}{name}:"
            yield from _commented(kind, indent + "  ")
            continue
        value = default.all if kind is not None and getattr(kind, "__name__", "") == "TaskFiles" else default
        shown = ":".join(f"{part:g}" for part in value) if name == "ratio" else json.dumps(value)
        yield f"# {indent}{name}: {shown}".ljust(44) + f"  # {field.description}"


def _bundled_files(name: str, env: str, from_repo: str) -> tuple[dict[str, bytes], tuple[str, ...]]:
    known = bundled()
    if env not in known:
        raise ConfigError(f"there is no bundled environment '{env}'; known: {', '.join(known)}", hint="skillgit envs")
    root = known[env]
    paths = [path for path in sorted(root.rglob("*")) if path.is_file() and not _skipped(path.relative_to(root))]
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    if "SKILL.md" in files:
        files["SKILL.md"] = _renamed(files["SKILL.md"], name)
    notes: tuple[str, ...] = ()
    if from_repo:
        module = load_module(root / "mine.py")
        if module is None:
            raise ConfigError(f"the environment '{env}' cannot mine tasks from a repository")
        with calling("mine.py"):
            text, notes = module.mine(Path(from_repo))
        files["tasks.jsonl"] = text.encode("utf-8")
    return files, tuple(notes)


def _skipped(path: Path) -> bool:
    return any(part in SKIPPED or part.endswith(".pyc") for part in path.parts)


def _renamed(data: bytes, name: str) -> bytes:
    return re.sub(rb"(?m)\A(---\r?\n(?:.*\r?\n)*?name:[ \t]*)[^\r\n]*", rb"\g<1>" + name.encode(), data, count=1)


def summary_of(folder: Path) -> str:
    """The first sentence of an environment's README, "" without one."""
    path = folder / "README.md"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    prose = [line for line in text.splitlines() if line.strip() and not line.startswith(("#", ">", "!", "[", "|"))]
    return prose[0].split(". ")[0].rstrip(".") if prose else ""
