"""The plan that is shown before a run is what it takes at most."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.git.repo import Repo
from skillgit.models import registry
from skillgit.session import plan_training
from tests import world
from tests.e2e.test_settings import optimizer
from tests.e2e.training import Training
from tests.world import Scripted, World

PINGS = 1
"""A call to each model before the run, which the plan leaves out."""


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("gate.repeats=3",),
        ("gate.salvage=4", "edits.budget=4"),
        ("slow_update.pairs=changed", "slow_update.samples=2", "gate.policy=off"),
        ("slow_update.first_epoch=false",),
        ("slow_update.enabled=false", "reflect.skill_aware=true", "appendix.consolidate_above=1"),
        ("edits.mode=full_rewrite_minibatch",),
        ("reflect.minibatch_size=1", "reflect.merge_batch_size=2"),
        ("train.accumulation=2", "train.max_steps=1", "eval.test=false"),
    ],
)
def test_no_run_takes_more_than_its_plan(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    root = repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks())
    models = World(optimizer=Scripted("openai:o", optimizer)).install(monkeypatch)
    with Repo.discover(root) as opened:
        plan = plan_training(opened, "demo", overrides=options)
    Training(root, monkeypatch).run("gate.early_stop=false", *options, world=models)
    for role, model in zip(registry.BOTH, (models.target, models.optimizer), strict=True):
        assert len(model.asked) - PINGS <= plan.calls(role), role


def test_the_arithmetic(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """2 epochs of 2 steps of 6 tasks, 12 selection and 12 test tasks, each twice at the gate, 3 parts to salvage."""
    root = repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks())
    World().install(monkeypatch)
    with Repo.discover(root) as opened:
        plan = plan_training(opened, "demo", overrides=["gate.repeats=2", "gate.salvage=3"])
    assert {row.stage: row.calls for row in plan.rows if row.role == "target"} == {
        "baseline": 24,
        "rollout": 24,
        "gate": 96,
        "salvage": 288,
        "longitudinal": 24,
        "epoch gate": 48,
        "test": 36,
    }
