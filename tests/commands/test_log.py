from __future__ import annotations

import re
from pathlib import Path

import pytest

from skillgit.__main__ import main
from tests.commands.running import Captured, run, run_json
from tests.repos import git

GOLDEN = """\
  entry        gate        score   delta edits  calls tokens     cost   time
  run 1        complete   0.5000                   24    360 unpriced     0s
. epoch 2      skipped                              8    120 unpriced     0s
* step 4       new best   0.5000 +0.1667   1/5     23    345 unpriced     0s
- step 3       rejected  ≤0.3333 +0.0000   1/6     23    345 unpriced     0s
* epoch 1      new best   0.3333 +0.1667           14    210 unpriced     0s
- step 2       rejected   0.1667 +0.0000   2/6     23    345 unpriced     0s
- step 1       rejected  ≤0.1667 +0.0000   2/6     23    345 unpriced     0s
  run 1        baseline   0.1667                   14    210 unpriced     0s
"""


def steady(log: str) -> str:
    """The log with every entry taking no time."""
    return re.sub(r" +\d+s$", "     0s", log, flags=re.MULTILINE)


def by_hand(root: Path, *subjects: str) -> None:
    """A person's commits on the skill branch, out of a worktree."""
    place = root.parent / "worktree"
    git(root, "worktree", "add", "-q", str(place), "skill/demo")
    for subject in subjects:
        with (place / "skills/demo/SKILL.md").open("a", encoding="utf-8") as file:
            file.write(f"- {subject}\n")
        git(place, "commit", "-q", "-a", "-m", subject)
    git(root, "worktree", "remove", str(place))


def test_the_log_is_a_line_an_entry(trained: Path, capsys: Captured) -> None:
    every = steady(run(capsys, "log", "demo", "--rejected"))
    assert every == GOLDEN
    assert max(map(len, every.splitlines())) <= 80
    kept = [line for line in GOLDEN.splitlines(keepends=True) if line[0] not in ".-"]
    assert steady(run(capsys, "log", "demo")) == "".join(kept)
    assert steady(run(capsys, "log", "demo", "-n", "2")) == "".join(kept[:3])


def test_peoples_commits_stand_where_they_were_made(trained: Path, capsys: Captured) -> None:
    by_hand(trained, "first by hand", "second by hand")
    before = run(capsys, "log", "demo").splitlines()
    assert [line.split()[-3:] for line in before[1:3]] == [["second", "by", "hand"], ["first", "by", "hand"]]
    assert before[3].split()[:3] == ["run", "1", "complete"]

    assert main(["train", "demo", "--new-run", "--quiet"]) == 0
    by_hand(trained, "after the second run")
    capsys.readouterr()
    rows = run_json(capsys, "log", "demo")
    assert [(row["kind"], row.get("subject", "")) for row in rows if row["kind"] not in ("step", "epoch")] == [
        ("person", "after the second run"),
        ("final", ""),
        ("baseline", ""),
        ("person", "second by hand"),
        ("person", "first by hand"),
        ("final", ""),
        ("baseline", ""),
    ]
    assert {"kind", "when", "commit", "author", "subject"} == rows[0].keys()


def test_a_branch_that_was_set_back_loses_no_line(trained: Path, capsys: Captured) -> None:
    whole = run(capsys, "log", "demo", "--rejected")
    git(trained, "branch", "-f", "skill/demo", "skill/demo~1")
    assert run(capsys, "log", "demo", "--rejected") == whole


def test_older_entries_are_left_out_and_told(trained: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["log", "demo", "-n", "2"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 3
    assert "older ones are left out; -n 0 shows all" in err
    assert main(["log", "demo", "-n", "0"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + sum(line[0] not in ".-" for line in GOLDEN.splitlines()[1:])
    assert main(["log", "demo", "-n", "4"]) == 0  # exactly as many as there are
    assert capsys.readouterr().err == ""
    every = run_json(capsys, "rejected", "demo")
    assert run_json(capsys, "rejected", "demo", "-n", "1") == every[:1]
