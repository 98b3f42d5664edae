"""What a run is going to cost: the arithmetic that is shown before anything is spent. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skillgit.config import Settings
from skillgit.splits import Splits, steps_per_epoch

CHARS_PER_TOKEN = 4
"""A rule of thumb for English text; the plan is an estimate and says so."""

REPLY_TOKENS = {"target": 200, "optimizer": 1200, "judge": 200}
"""Output tokens assumed for a call, by role."""


@dataclass(frozen=True, slots=True)
class PlanRow:
    """Most calls of one stage over the whole run, with the tokens one call takes."""

    stage: str
    role: str
    calls: int
    input_tokens: int
    output_tokens: int

    @property
    def tokens(self) -> int:
        return self.calls * (self.input_tokens + self.output_tokens)


@dataclass(frozen=True, slots=True)
class Plan:
    """An upper bound of a run's calls and an estimate of its tokens.

    ``usd`` maps a role to its estimated cost; None means that the price is unknown. ``models`` says which model plays it.
    """

    epochs: int
    steps: int
    splits: dict[str, int]
    rows: tuple[PlanRow, ...]
    usd: dict[str, float | None]
    models: dict[str, str]

    @property
    def total_usd(self) -> float | None:
        known = [cost for cost in self.usd.values() if cost is not None]
        return sum(known) if len(known) == len(self.usd) else None

    def calls(self, role: str) -> int:
        return sum(row.calls for row in self.rows if row.role == role)

    def as_dict(self) -> dict[str, Any]:
        return {
            "epochs": self.epochs,
            "steps": self.steps,
            "splits": self.splits,
            "stages": [{"stage": r.stage, "role": r.role, "calls": r.calls, "tokens": r.tokens} for r in self.rows],
            "usd": {**self.usd, "total": self.total_usd},
            "models": self.models,
        }


def total_steps(settings: Settings, n_train: int) -> int:
    """Steps of a whole run, after ``train.max_steps``."""
    train = settings.train
    steps = train.epochs * steps_per_epoch(n_train, train.batch_size, train.accumulation)
    return min(steps, train.max_steps or steps)


def total_looks(settings: Settings, n_train: int) -> int:
    """How often the gate may look at the selection split in a whole run: each step, and each meta-update."""
    slow, aware, train = settings.slow_update, settings.reflect.skill_aware, settings.train
    steps = total_steps(settings, n_train)
    if not (slow.enabled or aware) or slow.acceptance != "gated":
        return steps
    epochs = math.ceil(steps / steps_per_epoch(n_train, train.batch_size, train.accumulation))
    return steps + epochs - (0 if slow.first_epoch or aware else 1)


def make_plan(settings: Settings, splits: Splits, skill: str) -> Plan:
    """The plan of a whole run from its start; prices are filled in by the caller."""
    train = settings.train
    steps = total_steps(settings, len(splits.train))
    per_step = min(train.batch_size * train.accumulation, len(splits.train))
    epochs = math.ceil(steps / steps_per_epoch(len(splits.train), train.batch_size, train.accumulation))
    slow = epochs - (0 if settings.slow_update.first_epoch else 1) if settings.slow_update.enabled else 0
    compared = slow + (0 if slow or not settings.meta_skill.enabled else epochs)
    sampled = min(settings.slow_update.samples, len(splits.train))
    scanned = len(splits.train) if settings.slow_update.pairs == "changed" else sampled
    aware = epochs if settings.reflect.skill_aware else 0
    updates = max(slow, aware)

    prompt = _tokens(skill) + _mean([_tokens(task.input) for task in splits.train]) + 50
    shown = settings.reflect.minibatch_size * (prompt + REPLY_TOKENS["target"]) + _tokens(skill) + 1000
    reflects = math.ceil(per_step / settings.reflect.minibatch_size) + 1
    merges = _merges(reflects, settings.reflect.merge_batch_size)
    selection = len(splits.selection) * settings.gate.repeats

    def target(stage: str, calls: int) -> PlanRow:
        return PlanRow(stage, "target", calls, prompt, REPLY_TOKENS["target"])

    def optimizer(stage: str, calls: int, size: int) -> PlanRow:
        return PlanRow(stage, "optimizer", calls, size, REPLY_TOKENS["optimizer"])

    rows = [
        target("baseline", selection),
        target("rollout", steps * per_step),
        optimizer("reflect", steps * reflects, shown),
        optimizer("aggregate", steps * merges, 4 * REPLY_TOKENS["optimizer"] + _tokens(skill)),
        optimizer("select", steps, 2 * REPLY_TOKENS["optimizer"] + _tokens(skill)),
        optimizer("rewrite", steps if settings.edits.mode == "rewrite_from_suggestions" else 0, 2 * _tokens(skill)),
        target("gate", steps * selection),
        target("salvage", steps * settings.gate.salvage * selection),
        target("longitudinal", compared * 2 * scanned),
        optimizer("appendix", aware, 2 * _tokens(skill)),
        optimizer("slow update", slow, 2 * sampled * (prompt + REPLY_TOKENS["target"])),
        optimizer("meta skill", epochs if settings.meta_skill.enabled else 0, 2 * sampled * prompt),
        target("epoch gate", updates * selection),
        target("test", 3 * len(splits.test) if settings.eval.test else 0),
    ]
    judged = settings.judge.options.get("votes", 1) if settings.judge.kind == "rubric" else 0
    done = sum(row.calls for row in rows if row.role == "target")
    rows.append(PlanRow("judge", "judge", done * judged, prompt + REPLY_TOKENS["target"], REPLY_TOKENS["judge"]))
    sizes = {"train": len(splits.train), "selection": len(splits.selection), "test": len(splits.test)}
    roles = ("target", "optimizer", *(["judge"] if judged else []))
    models = {role: getattr(settings.models, role).model for role in roles}
    return Plan(epochs, steps, sizes, tuple(row for row in rows if row.calls), {}, models)


def _merges(patches: int, group: int) -> int:
    """Calls of a hierarchical merge of ``patches``, with the final one."""
    calls = 0
    while patches > 1:
        patches = math.ceil(patches / group)
        calls += patches
    return calls + 1


def _tokens(text: str) -> int:
    return math.ceil(len(text) / CHARS_PER_TOKEN)


def _mean(values: Sequence[int]) -> int:
    return round(sum(values) / max(1, len(values)))
