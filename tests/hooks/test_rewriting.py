from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.repos import git

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the hooks are shell scripts")
REF = "skillgit/rejected"


def note(root: Path, commit: str) -> str:
    return git(root, "notes", f"--ref={REF}", "show", commit, check=False)


def noted(root: Path) -> str:
    """A commit of the branch with a note of ours."""
    return next(oid for oid in git(root, "rev-list", "skill/demo").splitlines() if note(root, oid))


def test_notes_follow_an_amended_and_a_rebased_commit(pushing: Path) -> None:
    git(pushing, "checkout", "-q", "skill/demo")
    old = git(pushing, "rev-parse", "HEAD")
    git(pushing, "notes", f"--ref={REF}", "append", "-m", "tried in vain", old)
    text = note(pushing, old)
    git(pushing, "commit", "-q", "--amend", "--no-verify", "-m", "demo: another message")
    amended = git(pushing, "rev-parse", "HEAD")
    assert amended != old and note(pushing, amended) == text
    git(pushing, "checkout", "-q", "main")
    (pushing / "x.txt").write_text("x", encoding="utf-8")
    git(pushing, "add", "x.txt")
    git(pushing, "commit", "-q", "-m", "main moves on")
    git(pushing, "rebase", "-q", "main", "skill/demo")
    assert git(pushing, "rev-parse", "HEAD") != amended and note(pushing, "HEAD") == text


def test_notes_follow_commits_that_come_back_rebased(pushing: Path) -> None:
    original = noted(pushing)
    git(pushing, "checkout", "-q", "-b", "elsewhere", "main")
    (pushing / "x.txt").write_text("x", encoding="utf-8")
    git(pushing, "add", "x.txt")
    git(pushing, "commit", "-q", "-m", "main moves on")
    git(pushing, "-c", "core.hooksPath=/dev/null", "cherry-pick", "main..skill/demo")  # as a hosted rebase does
    git(pushing, "checkout", "-q", "main")
    git(pushing, "merge", "-q", "elsewhere")
    place = git(pushing, "rev-list", "--count", f"main..{original}")
    copies = git(pushing, "log", "--format=%H %s").splitlines()
    subject = git(pushing, "log", "-1", "--format=%s", original)
    if original == git(pushing, "merge-base", "skill/demo", "main"):
        pytest.fail(f"the note is on the base, not on an edit ({place})")
    copy = next(line.split()[0] for line in copies if line.split(" ", 1)[1] == subject)
    assert copy != original and note(pushing, copy) == note(pushing, original)
