from __future__ import annotations

import re
from pathlib import Path

import pytest

from skillgit.__main__ import main
from tests.commands.running import Captured, run, run_json
from tests.repos import git
from tests.snapshots import snapshot
from tests.world import World


def test_train_tells_plan_steps_and_summary(untrained: Path, capsys: Captured) -> None:
    assert main(["train", "demo"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith(
        "plan: 2 epochs, 4 steps (so 4 proposals)\ntasks: train 12, selection 12, test 12\n"
        "models: target openai:world, optimizer openai:world-optimizer\n"
    )
    *entries, memo = err.split("\n\n")[1].splitlines()
    assert [line[2:14].strip() for line in entries] == [
        "entry", "run 1", "step 1/4", "step 2/4", "epoch 1", "step 3/4", "step 4/4", "epoch 2", "run 1",
    ]  # fmt: skip
    assert re.fullmatch(r"note: \d+ results were known already and cost nothing: .*/\.git/skillgit/memo\.sqlite", memo)
    assert re.search(r"rollout +target +24 +360 +price unknown", out)
    assert "initial" in out
    assert "test (held out)" in out


def test_train_says_loudly_when_nothing_was_learned(
    untrained: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    useless = World()
    useless.optimizer.answer = lambda request: (
        '{"patterns": [], "reasoning": "", "edits": [], "guidance": "", "meta_skill": ""}'
    )
    monkeypatch.setattr("skillgit.models.registry.create", useless.create)
    summary = run_json(
        capsys, "train", "demo", "--quiet", "-o", "slow_update.enabled=false", "-o", "meta_skill.enabled=false"
    )
    assert summary["unchanged"] is True
    assert "UNCHANGED" in run(capsys, "status", "demo")


def test_a_dry_run_spends_nothing_and_writes_nothing(untrained: Path, capsys: Captured) -> None:
    before = snapshot(untrained)
    plan = run_json(capsys, "train", "demo", "--dry-run")
    assert (plan["steps"], plan["splits"]["test"]) == (4, 12)
    assert snapshot(untrained) == before
    assert git(untrained, "for-each-ref", "refs/skillgit", "refs/notes", "refs/heads/skill") == ""
