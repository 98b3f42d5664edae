"""Where a training stands in its journal, and whether a run may go on under the present settings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from skillgit.errors import ConfigError
from skillgit.spending import Spent, from_rows
from skillgit.state import Entry, State, advance
from skillgit.yamltext import dump, load

if TYPE_CHECKING:
    from skillgit.env import Environment
    from skillgit.git.journal import Journal, JournalEntry
    from skillgit.models.base import Model
    from skillgit.splits import Splits

NEUTRAL = ("limits.", "git.", "eval.", "reflect.concurrency")
NEUTRAL_OF_MODELS = ("timeout", "retries", "concurrency", "api_key_env", "usd_per_million", "record")
"""Settings that change no result, so that a run may go on with other ones (a raised cap, say)."""


def run_config(env: Environment, splits: Splits, target: Model, optimizer: Model) -> str:
    """The text of config.yaml: every setting, and fingerprints of what decides results besides them."""
    named = {"train": splits.train, "selection": splits.selection, "test": splits.test}
    tasks = [f"{name} {task.id} {task.digest()}" for name, tasks in named.items() for task in tasks]
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


def demand_same_config(name: str, run: int, then: str, now: str) -> None:
    """Raise ConfigError with the differences when a run would go on under settings that change its results."""
    old, new = dict(_comparable(load(then))), dict(_comparable(load(now)))
    changed = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    if changed:
        shown = "; ".join(f"{key}: {old.get(key)!r} -> {new.get(key)!r}" for key in changed[:5])
        more = f"; and {len(changed) - 5} more" if len(changed) > 5 else ""
        raise ConfigError(
            f"run {run} of '{name}' was started with other settings: {shown}{more}",
            hint=f"undo the change, or start a new run from the current skill: skillgit train {name} --new-run",
        )


def _comparable(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        path = f"{prefix}{key}".removeprefix("settings.")
        if isinstance(value, dict) and value:
            yield from _comparable(value, f"{path}.")
        elif not _neutral(path):
            yield path, value


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
    """Where a run stands, folded from its entries."""
    state: State | None = None
    for entry in entries_of_run(journal, run):
        state = advance(state, Entry.read(entry.read))
    return state


def spent_before(entry: JournalEntry | None) -> Spent:
    """A run's total spend up to a journal entry."""
    return from_rows(entry.spend.get("total", [])) if entry else {}
