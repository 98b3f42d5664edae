from __future__ import annotations

from pathlib import Path

import pytest

from skillgit.__main__ import main
from skillgit.git.lock import SkillLock
from skillgit.git.repo import Repo
from tests.commands.running import Captured, run, run_json
from tests.commands.test_log import by_hand
from tests.repos import git


def test_a_finished_training(trained: Path, capsys: Captured) -> None:
    tip = git(trained, "rev-parse", "--short=10", "skill/demo")
    figures = f"{tip}  selection 0.5000  n=12  test 0.5000  [0.254, 0.746]  n=12"
    assert run(capsys, "status", "demo").splitlines() == [
        "demo: run 1, complete",
        f"  current  {figures}",
        f"  best     {figures}",
        "next: skillgit train demo --new-run",
    ]


def test_a_training_in_the_middle(trained: Path, capsys: Captured) -> None:
    history = git(trained, "log", "--format=%H %s", "refs/skillgit/demo/journal").splitlines()
    entry = next(line.split()[0] for line in history if line.endswith("step 3 reject"))
    git(trained, "update-ref", "refs/skillgit/demo/journal", entry)
    git(trained, "branch", "-f", "skill/demo", "skill/demo~1")
    git(trained, "update-ref", "refs/skillgit/demo/best", "skill/demo")
    lines = run(capsys, "status", "demo").splitlines()
    assert lines[0] == "demo: run 1, after step 3 (rejected: at most 4 of 12 against 4: a tie)"
    assert lines[-1] == "next: skillgit train demo"


def test_who_trains_and_what_people_did(trained: Path, capsys: Captured) -> None:
    by_hand(trained, "by hand")
    with Repo.discover(trained) as repo, SkillLock(repo, "demo"):
        out = run(capsys, "status", "demo")
    assert "the branch was moved by hand" in out
    assert "being trained by pid " in out
    assert out.endswith("next: skillgit log demo\n")


def test_every_skill_is_listed(untrained: Path, capsys: Captured) -> None:
    run(capsys, "init", "other")
    assert run(capsys, "status") == (
        "demo: not trained yet\nnext: skillgit train demo\n\nother: not trained yet\nnext: skillgit train other\n"
    )
    assert [row["skill"] for row in run_json(capsys, "status")] == ["demo", "other"]


def test_a_branch_that_was_deleted(trained: Path, capsys: Captured) -> None:
    tip = git(trained, "rev-parse", "skill/demo")
    git(trained, "checkout", "-q", "--detach")
    git(trained, "branch", "-D", "skill/demo")
    missing = run_json(capsys, "status", "demo")["missing"]
    assert missing["what"] == "the branch skill/demo is gone, its journal is here"
    assert missing["next"].startswith(f"git branch skill/demo {tip[:12]} brings it back")
    for command in (["log", "demo"], ["train", "demo"]):
        assert main(command) == 1
        said = capsys.readouterr().err
        assert "error: the branch skill/demo is gone, its journal is here\n" in said
    git(trained, "branch", "skill/demo", tip[:12])
    assert run_json(capsys, "status", "demo")["missing"] is None


def test_a_bare_repository_lists_its_skills(trained: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    git(trained.parent, "clone", "--quiet", "--mirror", str(trained), "bare.git")
    monkeypatch.chdir(trained.parent / "bare.git")
    assert [(row["skill"], row["finished"]) for row in run_json(capsys, "status")] == [("demo", True)]
