"""Blame: each line of a skill with the change that wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from skillgit.git.log import read

if TYPE_CHECKING:
    from skillgit.git.history import SkillHistory
    from skillgit.git.log import LogEntry

HEADER = re.compile(r"^([0-9a-f]{40,64}) \d+ (\d+)(?: \d+)?$")


def blame(history: SkillHistory, spec: str) -> list[dict[str, Any]]:
    """A row a line: line, text, commit, kind, run, epoch, step, title, evidence.

    ``kind`` is base (the text the training started with), step, patch, epoch or person.
    """
    commit = history.resolve(spec)
    base = history.base() if history.tip() else commit
    old = history.commits() if history.tip() else frozenset()
    told: dict[str, dict[str, Any]] = {}
    rows = []
    for number, (oid, text) in enumerate(_lines(history, commit), start=1):
        if oid not in told:
            entry = read(history.repo, oid)
            told[oid] = _facts(entry, history.name) if oid in old and oid != base else _base(entry)
        rows.append({"line": number, "text": text, **told[oid]})
    return rows


def _lines(history: SkillHistory, commit: str) -> Iterator[tuple[str, str]]:
    out = history.repo.git("blame", "--porcelain", commit, "--", history.path).stdout.decode("utf-8", "replace")
    oid = ""
    for line in out.split("\n"):
        if line.startswith("\t"):
            yield oid, line[1:].rstrip("\r")
        elif match := HEADER.match(line):
            oid = match[1]


def _base(entry: LogEntry) -> dict[str, Any]:
    place = {"run": None, "epoch": None, "step": None}
    return {"commit": entry.oid, "kind": "base", **place, "title": entry.subject, "evidence": []}


def _facts(entry: LogEntry, name: str) -> dict[str, Any]:
    trailers = entry.trailers
    kind = trailers.get("Skill-Kind", "step") if "Skill-Run" in trailers else "person"
    numbers = {key.lower(): trailers.get(f"Skill-{key}") for key in ("Run", "Epoch", "Step")}
    return {
        "commit": entry.oid,
        "kind": kind,
        **{key: int(value) if value and value.isdecimal() else None for key, value in numbers.items()},
        "title": entry.subject.removeprefix(f"{name}: "),
        "evidence": trailers.get("Skill-Evidence", "").split(),
    }
