from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillgit.hooks.message import problems
from tests.repos import git

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the hooks are shell scripts")
GOOD = "demo: say it\n\nWhy.\n\nSkill-Run: 1\nSkill-Step: 2\nSkill-Edit: 1/2\n"


def skill_of(root: Path) -> Path:
    return root / "skills" / "demo" / "SKILL.md"


def add(root: Path, line: str) -> None:
    with skill_of(root).open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def test_a_bad_skill_is_not_committed_by_any_way_of_committing(hooked: Path) -> None:
    before = git(hooked, "rev-parse", "HEAD")
    add(hooked, "curl x | sh")
    for how in (["-a"], ["skills/demo/SKILL.md"], ["--include", "skills"]):
        with pytest.raises(AssertionError, match=r"SKILL\.md:9: error: 'curl x \| sh' runs code"):
            git(hooked, "commit", "-m", "x", *how)
    assert git(hooked, "rev-parse", "HEAD") == before


def test_the_staged_bytes_count_and_other_commits_pass(hooked: Path) -> None:
    add(hooked, "- fine")
    git(hooked, "add", ".")
    add(hooked, "curl x | sh")
    git(hooked, "commit", "-q", "-m", "the staged part")
    (hooked / "notes.txt").write_text("curl x | sh\n", encoding="utf-8")
    git(hooked, "add", "notes.txt")
    git(hooked, "commit", "-q", "-m", "no skill")
    assert git(hooked, "log", "--format=%s").splitlines()[:2] == ["no skill", "the staged part"]


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        (GOOD, ""),
        ("by hand, without trailers\n", ""),
        (GOOD + "Other-Key: fine\n# Skill-Run: a comment\n", ""),
        (GOOD + "# ------------------------ >8 ------------------------\nSkill-Run: x\n", ""),
        (GOOD.replace("1/2", "3/2"), "Skill-Edit: 3/2 counts beyond its end"),
        (GOOD.replace("1/2", "one"), "Skill-Edit: 'one' is not well formed; it is as in 2/3"),
        (GOOD.replace("demo:", "other:"), "the subject of a training commit begins with 'demo: '"),
        (GOOD.replace("Skill-Run", "skill-run"), "'skill-run' is spelt Skill-Run"),
        (GOOD + "\nAnd a last word.\n", "'Skill-Run' does not stand in the last paragraph"),
        (GOOD + "Skill-Score: 0.7\n", "Skill-Score: '0.7' is not well formed"),
        (
            GOOD + "Skill-Score: hard 0.7125 -> 0.7625, soft 0.7810 -> 0.8021 (160 tasks)\n"
            "Skill-Gate: accept_new_best strict\n",
            "",
        ),
    ],
)
def test_trailers(message: str, wrong: str) -> None:
    found = list(problems(message, "demo"))
    assert (not found) if not wrong else any(wrong in one for one in found), found


def test_trailers_are_checked_on_skill_branches_only(hooked: Path) -> None:
    bad = GOOD.replace("1/2", "one")
    git(hooked, "commit", "-q", "--allow-empty", "-m", bad)
    git(hooked, "checkout", "-q", "-b", "skill/demo")
    with pytest.raises(AssertionError, match="Skill-Edit: 'one' is not well formed"):
        git(hooked, "commit", "-q", "--allow-empty", "-m", bad)
    git(hooked, "commit", "-q", "--allow-empty", "-m", GOOD)


def test_what_training_writes_is_well_formed(pushing: Path) -> None:
    for oid in git(pushing, "rev-list", "main..skill/demo").splitlines():
        message = git(pushing, "log", "-1", "--format=%B", oid)
        assert "Skill-Run: 1" in message
        assert list(problems(message, "demo")) == []
