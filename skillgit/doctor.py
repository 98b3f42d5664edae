"""Checks of what a training needs here, each with how to mend it."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from skillgit import env as environments
from skillgit.config import LimitSettings, ModelSettings
from skillgit.errors import SkillgitError
from skillgit.git.repo import Repo
from skillgit.judging import roles
from skillgit.models import registry
from skillgit.models.calls import Caller, Meter
from skillgit.models.ping import ping
from skillgit.models.presets import BY_PROVIDER
from skillgit.workspace import skill_folder, skill_names

GIT_AT_LEAST = (2, 31)
FREE_AT_LEAST = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """One check: ok, warning or failed; ``mend`` is the next command for one that is not ok."""

    what: str
    state: Literal["ok", "warning", "failed"]
    detail: str
    mend: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def examine(name: str = "") -> Iterator[Row]:
    """Check git, repository, identity, disk, local models and, for one skill, its settings and its two models."""
    yield Row("python", "ok", f"{sys.version.split()[0]} at {sys.executable}")
    yield _git()
    yield from _repository(name)
    yield from _local()
    if not name:
        yield from _keys()


def _git() -> Row:
    try:
        text = subprocess.run(
            ["git", "--version"], capture_output=True, text=True, check=True, timeout=10
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return Row("git", "failed", "git does not run", "install git, and put it on PATH")
    numbers = tuple(int(part) for part in text.split()[2].split(".")[:2] if part.isdecimal())
    if numbers < GIT_AT_LEAST:
        return Row("git", "failed", text, f"update git to {'.'.join(map(str, GIT_AT_LEAST))} or newer")
    return Row("git", "ok", text)


def _repository(name: str) -> Iterator[Row]:
    try:
        repo = Repo.discover(".")
    except SkillgitError as error:
        yield Row("repository", "failed" if name else "warning", error.message, error.hint or "git init")
        return
    with repo:
        kind = "bare" if repo.bare else "shallow" if repo.shallow else "normal"
        yield Row("repository", "ok", f"{repo.work_tree or repo.git_dir} ({kind}, {repo.object_format})")
        author = repo.identity().author
        yield Row("identity", "ok", f"{author.name} <{author.email}>")
        free = shutil.disk_usage(repo.git_dir).free
        state: Literal["ok", "warning"] = "ok" if free >= FREE_AT_LEAST else "warning"
        yield Row("disk", state, f"{free / 1e9:.1f} GB free", "" if state == "ok" else "make room")
        if name:
            yield from _skill(repo, name)
        else:
            names = skill_names(repo)
            yield Row(
                "skills",
                "ok" if names else "warning",
                ", ".join(names) or "none",
                "" if names else "skillgit init NAME",
            )


def _skill(repo: Repo, name: str) -> Iterator[Row]:
    try:
        env = environments.load(skill_folder(repo, name))
        splits = env.splits()
    except SkillgitError as error:
        yield Row(f"skill {name}", "failed", error.message, error.hint)
        return
    sizes = f"train {len(splits.train)}, selection {len(splits.selection)}, test {len(splits.test)}"
    yield Row(
        f"skill {name}", "ok", f"tasks: {sizes}{'' if env.judge.costs else '; every reference answer passes its judge'}"
    )
    for role, settings in roles(env).items():
        yield _model(role, settings)


def _model(role: registry.Role, settings: ModelSettings) -> Row:
    """One tiny call."""

    async def call() -> None:
        model = Caller(registry.create(settings, role), settings, Meter(LimitSettings()), role)
        try:
            await ping(model)
        finally:
            await model.close()

    try:
        asyncio.run(call())
    except SkillgitError as error:
        return Row(role, "failed", error.message, error.hint)
    return Row(role, "ok", f"{settings.model} answers")


def _keys() -> Iterator[Row]:
    absent = []
    for backend in registry.backends().values():
        missing = backend.missing()
        if missing and not backend.factory:  # a plugin that cannot be loaded
            yield Row(backend.provider, "warning", f"not ready: {backend.needs}", missing)
        elif missing and backend.provider != "local":
            absent.append(backend.provider)
        elif backend.provider in BY_PROVIDER:  # which of its models the key is good for, doctor NAME finds out
            yield Row(backend.provider, "ok", f"ready: {backend.needs}")
        elif backend.needs.endswith("_API_KEY"):
            yield _model("target", ModelSettings(model=backend.example, max_tokens=256, retries=0, timeout=30))
    if absent:
        yield Row("providers", "ok", f"not set up here: {', '.join(absent)}; skillgit models says what each needs")


def _local() -> Iterator[Row]:
    from importlib.util import find_spec

    from skillgit.models.files import OVERRIDE, known, locate

    if find_spec("xllamacpp") is None:
        yield Row("local runtime", "warning", "not installed", "pip install 'skillgit[local]'")
        return
    found = []
    for model in known().values():
        try:
            found.append(f"{model.name} ({Path(locate(model.name)).stat().st_size / 1e6:.0f} MB)")
        except (SkillgitError, OSError):
            continue
    default = next(iter(known()))
    if found:
        yield Row("local model", "ok", ", ".join(found))
    else:
        given = os.environ.get(OVERRIDE)
        detail = f"{OVERRIDE}={given} cannot be read" if given else "no model file yet"
        yield Row("local model", "warning", detail, f"skillgit models pull {default}")
