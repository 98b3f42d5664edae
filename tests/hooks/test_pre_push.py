from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.repos import git

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the hook is a shell script")


def remote_refs(root: Path) -> dict[str, str]:
    rows = (line.split() for line in git(root, "ls-remote", "origin").splitlines())
    return {ref: oid for oid, ref in rows}


def test_a_clean_history_is_pushed_and_a_damaged_one_is_not(pushing: Path) -> None:
    git(pushing, "push", "--quiet", "origin", "skill/demo", "main")
    tip = git(pushing, "rev-parse", "skill/demo")
    message = git(pushing, "log", "-1", "--format=%B", tip)
    forged = git(pushing, "commit-tree", "-p", f"{tip}~1", "-m", message, f"{tip}~1^{{tree}}")
    git(pushing, "update-ref", "refs/heads/skill/demo", forged)
    with pytest.raises(AssertionError, match="error: skill/demo is not proven"):
        git(pushing, "push", "--quiet", "--force", "origin", "skill/demo")
    assert git(pushing, "ls-remote", "origin", "skill/demo").split()[0] == tip
    git(pushing, "push", "--quiet", "origin", "main:other", ":skill/demo")


def test_journal_best_and_notes_go_along(pushing: Path) -> None:
    git(pushing, "push", "--quiet", "origin", "main")
    assert set(remote_refs(pushing)) == {"HEAD", "refs/heads/main"}
    git(pushing, "push", "--quiet", "origin", "skill/demo")
    there = remote_refs(pushing)
    for ref in ("refs/skillgit/demo/journal", "refs/skillgit/demo/best", "refs/notes/skillgit/scores"):
        assert there[ref] == git(pushing, "rev-parse", ref)
    git(pushing, "push", "--quiet", "origin", "skill/demo:skill/other-name", check=False)


def test_records_of_others_are_never_overwritten(pushing: Path) -> None:
    git(pushing, "push", "--quiet", "origin", "skill/demo~1:refs/notes/skillgit/scores")
    with pytest.raises(AssertionError, match=r"records that are not here(.|\n)*skillgit sync origin"):
        git(pushing, "push", "--quiet", "origin", "skill/demo")
    assert "refs/heads/skill/demo" not in remote_refs(pushing)


def test_a_tip_without_a_verdict_is_refused(pushing: Path) -> None:
    git(pushing, "checkout", "--quiet", "skill/demo")
    skill = pushing / "skills" / "demo" / "SKILL.md"
    skill.write_text(skill.read_text(encoding="utf-8") + "\n- By hand.\n", encoding="utf-8")
    git(pushing, "commit", "--quiet", "-am", "demo: by hand")
    with pytest.raises(AssertionError, match="no verdict is recorded for"):
        git(pushing, "push", "--quiet", "origin", "skill/demo")
    git(pushing, "push", "--quiet", "--no-verify", "origin", "skill/demo")


def test_a_branch_that_is_no_skill_of_ours_is_refused_with_a_reason(pushing: Path) -> None:
    with pytest.raises(AssertionError, match="skill/stray has no journal here"):
        git(pushing, "push", "--quiet", "origin", "main:skill/stray")
