"""What a whole run shows the optimizer: the train tasks that failed, and nothing of selection, test or the judge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.git.repo import Repo
from skillgit.report import Silent
from skillgit.session import run_training
from tests import world
from tests.stages.asking import said
from tests.world import World

ENV_PY = """
def score(task, answer):
    JUDGE_SOURCE = float(answer == task.answer)
    return JUDGE_SOURCE, JUDGE_SOURCE, "" if JUDGE_SOURCE else f"own judge: {task.answer}"
"""


def test_the_optimizer_sees_failing_train_tasks_and_no_others(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks())
    (root / "skills" / "demo" / "env.py").write_text(ENV_PY, encoding="utf-8")
    models = World().install(monkeypatch)
    with Repo.discover(root) as opened:
        assert run_training(opened, "demo", Silent()).finished
    asked = models.optimizer.asked
    assert {request.schema_name for request in asked} >= {"reflect_failure", "reflect_success", "merge", "slow", "meta"}
    for request in asked:
        assert not any(word in said(request) for word in ("selection-0", "test-0", "JUDGE_SOURCE")), request.schema_name
    failing = [request for request in asked if request.schema_name == "reflect_failure"]
    assert failing
    for request in failing:
        for row in request.context["trajectories"]:
            assert row["hard"] == 0
            assert f"task: {row['id']}\n" in request.messages[-1].content
            assert f"reason: own judge: {row['answer']}\n" in request.messages[-1].content
            assert row["id"].startswith("train-")
