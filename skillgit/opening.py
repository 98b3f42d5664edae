"""Opens a run: everything that is checked before anything is spent, and where the journal says to go on."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from skillgit.errors import ConfigError
from skillgit.git import signing, worktree
from skillgit.git.history import SkillHistory
from skillgit.git.lock import SkillLock
from skillgit.git.notes import Notes
from skillgit.memo import Memo
from skillgit.recorder import Recorder
from skillgit.rollout import Rollouts, Text
from skillgit.run import Run
from skillgit.scores import ScoreBook
from skillgit.spending import Spending
from skillgit.state import Entry, State, advance
from skillgit.yamltext import dump, load

if TYPE_CHECKING:
    from skillgit.config import Settings
    from skillgit.env import Environment
    from skillgit.git.journal import Journal, JournalEntry
    from skillgit.git.repo import Repo
    from skillgit.models.base import Model
    from skillgit.report import Reporter
    from skillgit.splits import Splits, Task

NEUTRAL = ("limits.", "git.", "eval.", "options.")
NEUTRAL_OF_MODELS = ("timeout", "retries", "concurrency", "api_key_env", "usd_per_million")
"""Settings that a run may change when it goes on: they change no result."""


def run_config(env: Environment, splits: Splits, target: Model, optimizer: Model) -> str:
    """The text of config.yaml: every setting, and what decides results besides them."""
    tasks = [f"{name} {task.id} {task.digest()}" for name, tasks in _named(splits) for task in tasks]
    return dump(
        {
            "settings": env.settings.model_dump(mode="json"),
            "fingerprints": {
                "environment": env.fingerprint,
                "tasks": hashlib.sha256("\n".join(tasks).encode()).hexdigest()[:16],
                "target": target.fingerprint,
                "optimizer": optimizer.fingerprint,
            },
        }
    )


def _named(splits: Splits) -> list[tuple[str, tuple[Task, ...]]]:
    return [("train", splits.train), ("selection", splits.selection), ("test", splits.test)]


def demand_same_config(name: str, run: int, then: str, now: str) -> None:
    """Raise ConfigError with the differences when a run would go on under other settings."""
    old, new = dict(_comparable(load(then))), dict(_comparable(load(now)))
    changed = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    if changed:
        shown = "; ".join(f"{key}: {old.get(key)!r} -> {new.get(key)!r}" for key in changed[:5])
        more = f"; and {len(changed) - 5} more" if len(changed) > 5 else ""
        raise ConfigError(
            f"run {run} of '{name}' was started with other settings: {shown}{more}",
            hint=f"undo the change, or start a new run from the current skill: skillgit train {name} --new-run",
        )


def _comparable(config: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for key, value in config.items():
        path = f"{prefix}{key}"
        if isinstance(value, dict) and value:
            rows += _comparable(value, f"{path}.")
        else:
            rows.append((path.removeprefix("settings."), value))
    return [(key, value) for key, value in rows if not _neutral(key)]


def _neutral(key: str) -> bool:
    last = key.rpartition(".")[2]
    return key.startswith(NEUTRAL) or (key.startswith("models.") and last in NEUTRAL_OF_MODELS)


def entries_of_run(journal: Journal, run: int) -> list[JournalEntry]:
    """The journal's entries of one run, oldest first."""
    found: list[JournalEntry] = []
    for entry in journal.entries():
        if entry.run < run:
            break
        if entry.run == run:
            found.append(entry)
    return found[::-1]


def state_of_run(journal: Journal, run: int) -> State | None:
    """Where a run stands, folded from its journal entries."""
    state: State | None = None
    for entry in entries_of_run(journal, run):
        state = advance(state, Entry.read(entry.read))
    return state
