"""blame, revert, bisect and fsck --repair, as a person types them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from skillgit.__main__ import main
from skillgit.bisect import first_failure
from tests import world
from tests.commands.running import Captured, run, run_json
from tests.commands.test_worth import OFF, loose
from tests.repos import git

__all__ = ["loose"]


def commit_of(root: Path, title: str) -> str:
    return git(root, "log", "--format=%H", f"--grep=^demo: {title}$", "skill/demo")


def test_blame_names_the_edit_of_every_line(trained: Path, capsys: Captured) -> None:
    rows = run_json(capsys, "blame", "demo")
    text = git(trained, "show", "skill/demo:skills/demo/SKILL.md")
    assert "\n".join(row["text"] for row in rows) == text
    by_text = {row["text"]: row for row in rows}
    assert (by_text["- RULE 0 holds."]["kind"], by_text["- RULE 0 holds."]["step"]) == ("base", None)
    rule = by_text["- RULE 1 holds."]
    assert (rule["kind"], rule["run"], rule["epoch"], rule["step"], rule["title"]) == ("step", 1, 2, 4, "say RULE 1")
    assert rule["evidence"] == ["train-007"]
    heed = by_text["Heed every rule. RULE 5 holds."]
    assert (heed["kind"], heed["epoch"]) == ("epoch", 1)
    lines = run(capsys, "blame", "demo").splitlines()
    assert any(line.split()[1:3] == ["step", "4"] and line.endswith("- RULE 1 holds.") for line in lines)
    assert len(run_json(capsys, "blame", "demo@base")) == world.SKILL.count("\n")


def test_blame_of_a_persons_line(trained: Path, capsys: Captured) -> None:
    git(trained, "switch", "--quiet", "skill/demo")
    path = trained / "skills/demo/SKILL.md"
    path.write_text(path.read_text(encoding="utf-8").replace("# Rules", "# My rules"), encoding="utf-8")
    git(trained, "commit", "--quiet", "-am", "By hand")
    (row,) = [row for row in run_json(capsys, "blame", "demo") if row["text"] == "# My rules"]
    assert (row["kind"], row["title"]) == ("person", "By hand")
    assert "by hand" in run(capsys, "blame", "demo")


def test_revert_takes_back_what_hurts(loose: Path, capsys: Captured) -> None:
    """Without POISON 0 the skill solves 4 of 12 instead of 2."""
    commit = commit_of(loose, "say POISON 0")
    done = run_json(capsys, "revert", f"demo@{commit}", *OFF)
    assert (done["action"], done["before"], done["after"]) == ("accept_new_best", round(2 / 12, 6), round(4 / 12, 6))
    assert git(loose, "log", "-1", "--format=%s", "skill/demo") == "demo: revert 'say POISON 0'"
    assert "POISON" not in git(loose, "show", "skill/demo:skills/demo/SKILL.md")
    assert run(capsys, "fsck", "demo") == "demo: clean\n"
    assert main(["revert", f"demo@{commit}", *OFF]) == 1
    assert "was taken back already, by" in capsys.readouterr().err


def test_revert_of_what_helps_is_refused_by_the_gate_or_forced_past_it(loose: Path, capsys: Captured) -> None:
    commit = commit_of(loose, "say RULE 1")
    refused = run_json(capsys, "revert", f"demo@{commit}", *OFF, code=1)
    assert (refused["action"], refused["before"]) == ("reject", round(2 / 12, 6))
    tip = git(loose, "rev-parse", "skill/demo")
    assert refused["commit"] == tip
    forced = run_json(capsys, "revert", f"demo@{commit}", "--no-gate", *OFF)
    assert (forced["action"], forced["after"], forced["reason"]) == ("forced", 0.0, "taken without a gate")
    assert git(loose, "rev-parse", "skill/demo~1") == tip
    assert "RULE 1" not in git(loose, "show", "skill/demo:skills/demo/SKILL.md")
    assert run(capsys, "fsck", "demo") == "demo: clean\n"
    assert "forced" in run(capsys, "log", "demo")


@pytest.mark.parametrize(
    ("revision", "message"),
    [("demo@base", "changes nothing on the skill branch"), ("demo@epoch-1", "is no edit of the body")],
)
def test_what_cannot_be_taken_back(trained: Path, capsys: Captured, revision: str, message: str) -> None:
    assert main(["revert", revision]) == 1
    assert message in capsys.readouterr().err


def test_bisect_finds_the_edit_that_broke_a_task(loose: Path, capsys: Captured) -> None:
    """Task 0 passes until POISON 0, the last of three edits: tip, base and two versions between are looked at."""
    found = run_json(capsys, "bisect", "demo", "--task", "selection-000", *OFF)
    assert (found["title"], found["looked"]) == ("say POISON 0", 4)
    assert found["before"] == commit_of(loose, "say nothing")
    assert found["spend"]["calls"] == 2  # tip and base are known from the training
    again = run_json(capsys, "bisect", "demo", "--task", "selection-000", *OFF)
    assert again["spend"]["calls"] == 0
    assert "fails since" in run(capsys, "bisect", "demo", "--task", "selection-000", *OFF)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("selection-001", "does not fail with the current skill"),
        ("selection-003", "failed from the start"),
        ("test-000", "is a test task"),
        ("nowhere", "there is no task 'nowhere'"),
    ],
)
def test_bisect_says_why_there_is_nothing_to_find(loose: Path, capsys: Captured, task: str, message: str) -> None:
    assert main(["bisect", "demo", "--task", task, *OFF]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("versions", "place", "asked"),
    [("+", None, 1), ("-", 0, 1), ("+-", 1, 2), ("++++-", 4, 4), ("+----", 1, 4), ("+-+--", 3, 4), ("--+", None, 1)],
)
def test_halving(versions: str, place: int | None, asked: int) -> None:
    seen = []

    async def passes(number: int) -> bool:
        seen.append(number)
        return versions[number] == "+"

    assert asyncio.run(first_failure(len(versions), passes)) == place
    assert len(set(seen)) == asked


def test_notes_are_rebuilt_from_the_journal(trained: Path, capsys: Captured) -> None:
    """As after a squash button or a clone: every note that the journal knows of is there again, and once only."""
    refs = "refs/notes/skillgit"
    names = git(trained, "for-each-ref", "--format=%(refname)", refs).split()
    before = {name: git(trained, "log", "-1", "--format=%T", name) for name in names}
    assert main(["fsck", "demo", "--repair"]) == 0
    assert "none was missing" in capsys.readouterr().err
    for name in names:
        git(trained, "update-ref", "-d", name)
    assert main(["fsck", "demo"]) == 0
    assert "warning" in capsys.readouterr().out
    assert main(["fsck", "demo", "--repair"]) == 0
    said = capsys.readouterr()
    assert said.out == "demo: clean\n"
    assert "rejected 3" in said.err
    rejected, meta = f"{refs}/rejected", f"{refs}/meta"
    after = {name: git(trained, "log", "-1", "--format=%T", name) for name in names}
    assert (after[rejected], after[meta]) == (before[rejected], before[meta])
    calls = run_json(capsys, "eval", "demo")["spend"]["calls"]
    assert calls == 0
