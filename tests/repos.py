"""Real repositories to test in."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

SKILL = """\
---
name: {name}
description: Answer arithmetic questions. Use when a question holds numbers.
---
# Arithmetic

- Read the question twice.
- Answer with the number only.
"""
ENV = {"models": {"target": "openai:test-target", "optimizer": "openai:test-optimizer"}}


def git(folder: Path | str, *args: str, check: bool = True, **env: str) -> str:
    """Standard output of ``git ARGS`` in folder, without the last newline."""
    done = subprocess.run(
        ["git", *args], cwd=folder, check=False, capture_output=True, timeout=60, env={**os.environ, **env}
    )
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(args)}: {done.stderr.decode()}")
    return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def sample_tasks(train: int = 12, selection: int = 8, test: int = 10) -> list[dict[str, Any]]:
    """Sums with an answer each, in named splits, ids ``train-001`` ..."""
    sizes = {"train": train, "selection": selection, "test": test}
    return [
        {"id": f"{split}-{n:03}", "split": split, "input": f"What is {n} + {base}?", "answer": str(n + base)}
        for base, (split, size) in zip((10, 200, 3000), sizes.items(), strict=True)
        for n in range(1, size + 1)
    ]


def make_repo(
    folder: Path,
    name: str = "demo",
    *,
    skill: str | bytes = SKILL,
    env: str | Mapping[str, Any] = ENV,
    tasks: Sequence[Mapping[str, Any]] | None = None,
    object_format: str = "sha1",
) -> Path:
    """A repository at folder with skills/NAME/{SKILL.md, env.yaml, tasks.jsonl} in its only commit, on branch main."""
    home = folder / "skills" / name
    home.mkdir(parents=True)
    data = skill.replace("{name}", name).encode() if isinstance(skill, str) else skill
    (home / "SKILL.md").write_bytes(data)
    (home / "env.yaml").write_text(env if isinstance(env, str) else yaml.safe_dump(dict(env)), encoding="utf-8")
    lines = [json.dumps(dict(task)) + "\n" for task in (sample_tasks() if tasks is None else tasks)]
    (home / "tasks.jsonl").write_text("".join(lines), encoding="utf-8")
    git(folder, "init", "-q", "-b", "main", f"--object-format={object_format}")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Start")
    return folder
