"""A run folder of the reference system, read into plain values. Nothing here writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillgit.errors import UsageError

Items = Mapping[str, tuple[float, float]]
"""Task id -> (hard, soft)."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A score: means, and the tasks behind them where their results were kept."""

    hard: float
    soft: float
    items: Items = field(default_factory=dict)

    def value(self, metric: str, weight: float) -> float:
        """What the reference's gate compares."""
        share = {"hard": 0.0, "soft": 1.0}.get(metric, weight)
        return (1 - share) * self.hard + share * self.soft


@dataclass(frozen=True, slots=True)
class Slow:
    """The end of an epoch: what became of the guidance, and the optimizer's advice to itself."""

    action: str = ""
    reasoning: str = ""
    candidate: str | None = None
    score: Measured | None = None
    meta: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A step: ``candidate`` was tried, ``after`` is the skill as saved when the step (and its epoch) was over."""

    number: int
    epoch: int
    action: str
    record: Mapping[str, Any]
    candidate: str | None
    after: str
    edits: tuple[Mapping[str, Any], ...]
    patterns: tuple[Any, ...]
    score: Measured | None
    slow: Slow | None = None


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The whole run. ``tests`` maps initial, best and current to their scores on the test tasks."""

    config: Mapping[str, Any]
    initial: str
    baseline: Measured
    steps: tuple[Step, ...]
    best: str
    tests: Mapping[str, Measured]

    @property
    def metric(self) -> str:
        return str(self.config.get("gate_metric", "hard"))

    @property
    def weight(self) -> float:
        return float(self.config.get("gate_mixed_weight", 0.5))


def read_run(root: Path) -> RunFolder:
    """The run in a folder. Raises UsageError, with the file, when it is none or a part is missing."""
    try:
        return _read(root)
    except (TypeError, ValueError, AttributeError) as error:  # a number that is none, a list that is a mapping
        raise UsageError(f"{root} holds values that a run has not: {error}", hint="look at its history.json") from None


def _read(root: Path) -> RunFolder:
    history = _json(root / "history.json")
    if not isinstance(history, list) or not all(isinstance(row, dict) and "step" in row for row in history):
        raise UsageError(f"{root / 'history.json'} is not a list of steps")
    config, summary = _mapping(root / "config.json"), _mapping(root / "summary.json")
    initial = _skill(root, 0)
    last = {row.get("epoch", 1): row["step"] for row in history}
    steps = tuple(_step(root, row, last.get(row.get("epoch", 1)) == row["step"]) for row in history)
    best = _optional(root / "best_skill.md")
    return RunFolder(
        config,
        initial,
        _baseline(root, summary, steps),
        steps,
        initial if best is None else best,
        _tests(root, summary),
    )


def _step(root: Path, row: Mapping[str, Any], ends_epoch: bool) -> Step:
    number, epoch = int(row["step"]), int(row.get("epoch", 1))
    folder = root / "steps" / f"step_{number:04d}"
    ranked, digest = _mapping(folder / "ranked_edits.json"), _mapping(folder / "trajectory_digest.json")
    edits = ranked.get("edits") or []
    return Step(
        number,
        epoch,
        str(row.get("action", "")),
        row,
        _optional(folder / "candidate_skill.md"),
        _skill(root, number),
        tuple(edit for edit in edits if isinstance(edit, dict)),
        tuple(digest.get("failure_patterns") or ()),
        _score(row, folder / "selection_eval"),
        _slow(root, epoch) if ends_epoch else None,
    )


def _score(row: Mapping[str, Any], folder: Path) -> Measured | None:
    items = results(folder)
    if row.get("selection_hard") is None:
        return _mean(items) if items else None
    hard = float(row["selection_hard"])
    soft = row.get("selection_soft")
    return Measured(hard, hard if soft is None else float(soft), items)


def _slow(root: Path, epoch: int) -> Slow | None:
    folder = root / "slow_update" / f"epoch_{epoch:02d}"
    said = _mapping(folder / "slow_result.json")
    meta = _mapping(root / "meta_skill" / f"epoch_{epoch:02d}" / "meta_skill_result.json")
    if not said and not meta:
        return None
    return Slow(
        str(said.get("action", "")),
        str(said.get("reasoning") or said.get("slow_update_content") or ""),
        _optional(folder / "candidate_skill.md"),
        _score(said, folder / "selection_eval"),
        str(meta.get("meta_skill_content") or ""),
    )


def _baseline(root: Path, summary: Mapping[str, Any], steps: tuple[Step, ...]) -> Measured:
    """The initial skill's score: its results, the summary, or what the first step was compared with."""
    items = results(root / "selection_eval_baseline")
    if items:
        return _mean(items)
    known = summary.get("baseline_selection_hard")
    first = steps[0] if steps else None
    if known is None and first and first.action not in ("accept", "accept_new_best", "force_accept"):
        known = first.record.get("current_score")
    if known is None:
        raise UsageError(
            f"{root} does not tell the initial skill's score",
            hint="it is in selection_eval_baseline/results.jsonl or in summary.json of a complete run",
        )
    return Measured(float(known), float(known))


def _tests(root: Path, summary: Mapping[str, Any]) -> dict[str, Measured]:
    """Scores on the test tasks: their results, or the summary's means. The reference measures one skill once."""
    folders = {"initial": "test_eval_baseline", "best": "test_eval", "current": "test_eval_final"}
    names = {"initial": "baseline_test", "best": "test", "current": "final_test"}
    found: dict[str, Measured] = {}
    for role, folder in folders.items():
        items, mean = results(root / folder), summary.get(f"{names[role]}_hard")
        if items:
            found[role] = _mean(items)
        elif mean is not None:
            found[role] = Measured(float(mean), float(summary.get(f"{names[role]}_soft") or mean))
    if "best" in found:
        found.setdefault("current", found["best"])
    return found if len(found) == len(folders) else {}


def results(folder: Path) -> dict[str, tuple[float, float]]:
    """The scores in a folder's results.jsonl; empty without one."""
    found: dict[str, tuple[float, float]] = {}
    for line in (_optional(folder / "results.jsonl") or "").splitlines():
        try:
            row = json.loads(line)
            found[str(row["id"])] = (float(row.get("hard") or 0), float(row.get("soft") or 0))
        except (ValueError, TypeError, KeyError):
            continue  # cut off in the middle of a line, as the reference leaves it when it is killed
    return found


def _mean(items: Items) -> Measured:
    count = len(items)
    return Measured(sum(h for h, _ in items.values()) / count, sum(s for _, s in items.values()) / count, items)


def _skill(root: Path, number: int) -> str:
    path = root / "skills" / f"skill_v{number:04d}.md"
    text = _optional(path)
    if text is None:
        raise UsageError(f"{path} is missing", hint=f"{root} is no complete run folder")
    return text


def _optional(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from None


def _json(path: Path) -> Any:
    text = _optional(path)
    if text is None:
        raise UsageError(
            f"{path} is missing", hint="name the run's output folder, which holds history.json and skills/"
        )
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from None


def _mapping(path: Path) -> dict[str, Any]:
    data = _json(path) if path.is_file() else {}
    return data if isinstance(data, dict) else {}
