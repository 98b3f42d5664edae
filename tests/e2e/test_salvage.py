from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.git.fsck import check
from skillgit.git.history import SkillHistory
from skillgit.git.repo import Repo
from skillgit.models.base import Request
from skillgit.report import Silent
from skillgit.run import Summary
from skillgit.session import run_training
from tests import world
from tests.repos import git
from tests.world import Scripted, World

ENV = {
    **world.ENV,
    "train": {"epochs": 1, "batch_size": 12, "max_steps": 1},
    "edits": {"budget": 2, "min_budget": 2},
    "slow_update": {"enabled": False},
    "meta_skill": {"enabled": False},
}


def ranked(request: Request) -> str:
    """POISON 0 first, then RULE 1."""
    if request.context.get("stage") != "select":
        return world.optimizer(request)
    contents = [edit["content"] for edit in request.context["edits"]]
    first = [contents.index(f"- {what} holds.") for what in ("POISON 0", "RULE 1")]
    return json.dumps({"reasoning": "", "ranking": first})


def train(root: Path, monkeypatch: pytest.MonkeyPatch, salvage: int, policy: str = "strict") -> Summary:
    World(optimizer=Scripted("openai:o", ranked)).install(monkeypatch)
    with Repo.discover(root) as repo:
        options = [f"gate.salvage={salvage}", f"gate.policy={policy}"]
        return run_training(repo, "demo", Silent(), overrides=options)


def test_the_good_edit_of_a_rejected_step_is_kept(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The step proposes POISON 0 and RULE 1: together a tie (2 lost, 2 won of 12), RULE 1 alone 4 of 12 against 2."""
    root = repo("demo", skill=world.SKILL, env=ENV, tasks=world.tasks())
    summary = train(root, monkeypatch, salvage=4)
    assert (summary.initial.scores.hard, summary.best.scores.hard) == (2 / 12, 4 / 12)
    assert git(root, "log", "--format=%s", "main..skill/demo") == "demo: say RULE 1"
    with Repo.discover(root) as opened:
        (step,) = [e for e in SkillHistory(opened, "demo").journal.entries() if e.kind == "step"]
        assert [row["status"] for row in step.patch[:2]] == ["left_out", "applied"]
        assert step.record["salvage"]["whole"]["action"] == "reject"
        assert [one["edits"] for one in step.record["salvage"]["tried"]] == [[0], [1]]
        assert list(check(opened, "demo")) == []


def test_without_salvage_it_is_thrown_away(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    root = repo("demo", skill=world.SKILL, env=ENV, tasks=world.tasks())
    assert train(root, monkeypatch, salvage=0).unchanged


def test_a_budget_of_one_part_tries_only_the_best_ranked_half(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repo("demo", skill=world.SKILL, env=ENV, tasks=world.tasks())
    assert train(root, monkeypatch, salvage=1).unchanged


def test_the_paired_policy_refuses_what_may_be_luck(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tasks fixed and none broken of 12: p = 1/4, far above any share of alpha."""
    root = repo("demo", skill=world.SKILL, env=ENV, tasks=world.tasks())
    assert train(root, monkeypatch, salvage=4, policy="paired").unchanged
