"""A skill folder, a SKILL.md or a prompt file becomes ``skills/NAME``, ready to be trained."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from skillgit.document import check_document, frontmatter
from skillgit.errors import ConfigError, RepositoryError, UsageError
from skillgit.lint.sources import SKIPPED
from skillgit.scaffold import Made, fresh_files, renamed, write_skill

if TYPE_CHECKING:
    from skillgit.git.repo import Repo

SKILL = "SKILL.md"
MOST = 10_000_000
"""Bytes of a file that is taken along; larger ones belong elsewhere."""


def adopt(repo: Repo, path: Path, name: str = "") -> Made:
    """Write ``skills/NAME`` with the document at path, its companions if it is a skill folder, and what training needs.

    A SKILL.md keeps its bytes but for the name in its frontmatter; a prompt keeps all of them, and its file name. Without
    ``name`` the frontmatter's or the folder's is taken. Raises UsageError, SkillError, ConfigError; nothing is written then.
    """
    document = path / SKILL if path.is_dir() else path
    data = _read(document)
    text = _text(document, data)
    check_document(text, document.name)
    fields = frontmatter(text, document.name)
    is_skill = document.name == SKILL or {"name", "description"} <= fields.keys()
    name = name or _name(document, str(fields.get("name", "")))
    files = fresh_files(name)
    if is_skill:
        files |= dict(_companions(path)) if path.is_dir() else {}
        files[SKILL] = renamed(data, name)
    else:
        del files[SKILL]
        files[document.name] = data
        files["env.yaml"] = _for_document(files["env.yaml"], document.name)
    made = write_skill(repo, name, files)
    return replace(made, notes=tuple(_notes(made, name, SKILL if is_skill else document.name, files)))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 (byte {error.start})") from None


def _name(document: Path, own: str) -> str:
    from skillgit.config import check_name

    stem = document.resolve().parent.name if document.name == SKILL else document.stem
    for wish in (own, stem, re.sub(r"[^a-z0-9]+", "-", stem.casefold()).strip("-")):
        try:
            return check_name(wish)
        except ConfigError:
            continue
    raise UsageError(f"{document} has no name that fits", hint=f"skillgit import skill {document} NAME")


def _companions(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if SKIPPED & set(inside.parts) or path.is_dir():
            continue
        if path.is_symlink() or not path.is_file():
            raise UsageError(f"{path} is not a plain file; links are not followed")
        if path.stat().st_size > MOST:
            raise UsageError(f"{path} has {path.stat().st_size} bytes, at most {MOST} are taken along")
        yield inside.as_posix(), path.read_bytes()


def _for_document(env: bytes, name: str) -> bytes:
    import json

    pattern = re.compile(rb"^# (skill: )\S+", re.M)
    changed, count = pattern.subn(lambda match: match[1] + json.dumps(name).encode(), env, count=1)
    if not count:
        raise RepositoryError("env.yaml has no line for the document")
    return changed


def _notes(made: Made, name: str, file: str, files: Mapping[str, bytes]) -> Iterator[str]:
    from skillgit.lint import check
    from skillgit.lint.finding import Document

    findings = check(Document(file, files[file].decode("utf-8"), name))
    errors = sum(finding.severity == "error" for finding in findings)
    if findings:
        yield f"lint: {errors} errors, {len(findings) - errors} warnings; skillgit lint skills/{name}"
    if any(path.endswith("/tasks.jsonl") for path in made.written):
        yield f"write your tasks into skills/{name}/tasks.jsonl; the two that are there are examples"
