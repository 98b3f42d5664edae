from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.running import Captured, run, run_json
from tests.commands.test_log import by_hand
from tests.repos import git

EDIT = """\
{commit}  demo: say RULE 1

seen

  Skill-Run        1
  Skill-Epoch      2
  Skill-Step       4
  Skill-Edit       1/1
  Skill-Op         append
  Skill-Source     failure
  Skill-Support    1
  Skill-Evidence   train-007
  Skill-Target     openai:world
  Skill-Optimizer  openai:world-optimizer
  Skill-Score      hard 0.3333 -> 0.5000, soft 0.3333 -> 0.5000 (12 tasks)
  Skill-Gate       accept_new_best strict

diff --git a/skills/demo/SKILL.md b/skills/demo/SKILL.md
--- a/skills/demo/SKILL.md
+++ b/skills/demo/SKILL.md
@@ -6,6 +6,7 @@
 # Rules
 
 - RULE 0 holds.
+- RULE 1 holds.
 
 <!-- SLOW_UPDATE_START -->
 Heed every rule. RULE 5 holds.

run 1 step 4: new best: 6 of 12 against 4: higher
  score     0.3333 -> 0.5000 (+0.1667, 95 % [-0.127, +0.413])
  fixed     2: selection-001 selection-007
  broken    0
  unchanged 10
  edits     5 proposed: 1 applied, 4 over budget
    {short}   append: say RULE 1
    over budget  append: say RULE 2
    over budget  append: say POISON 2
    over budget  append: say RULE 3
    over budget  append: say RULE 4
"""  # noqa: W293 - a diff's empty context line is a blank
REJECTED = """\
demo: run 1 step 1 reject

diff --git a/skills/demo/SKILL.md b/skills/demo/SKILL.md
--- a/skills/demo/SKILL.md
+++ b/skills/demo/SKILL.md
@@ -6,3 +6,5 @@
 # Rules
 
 - RULE 0 holds.
+- RULE 2 holds.
+- POISON 2 holds.

run 1 step 1: rejected: at most 2 of 12 against 2: a tie
"""  # noqa: W293


@pytest.mark.parametrize("revision", ["demo", "demo@best", "demo@step-4", "demo@run-1-step-4", "demo@skill/demo"])
def test_an_edit_is_shown_with_all_that_is_known_of_it(trained: Path, capsys: Captured, revision: str) -> None:
    commit = git(trained, "rev-parse", "skill/demo")
    assert run(capsys, "show", revision) == EDIT.format(commit=commit[:12], short=commit[:10])


def test_a_rejected_step_shows_what_it_tried(trained: Path, capsys: Captured) -> None:
    assert run(capsys, "show", "demo@step-1").startswith(REJECTED)
    data = run_json(capsys, "show", "demo@step-1")
    assert (data["commit"], data["entry"]["action"], data["verdict"]["upper_bound"]) == (None, "reject", True)
    assert [row["status"] for row in data["edits"]] == ["applied"] * 2 + ["over_budget"] * 4


def test_a_skipped_epoch_says_why(trained: Path, capsys: Captured) -> None:
    out = run(capsys, "show", "demo@epoch-2")
    assert out == "demo: run 1 epoch 2 skip\n\nthe text was not changed\n\nrun 1 epoch 2: skipped: no new guidance\n"


def test_a_meta_update_lists_what_was_squashed(trained: Path, capsys: Captured) -> None:
    out = run(capsys, "show", "demo@epoch-1")
    assert "demo: epoch 1 meta-update (squash merge)" in out
    assert "Squashed commit of the following:" in out
    assert "+Heed every rule. RULE 5 holds." in out
    assert "run 1 epoch 1: new best: 4 of 12 against 2: higher" in out


def test_a_persons_commit_has_no_step(trained: Path, capsys: Captured) -> None:
    by_hand(trained, "by hand")
    data = run_json(capsys, "show", "demo")
    assert (data["subject"], data["entry"], data["verdict"], data["edits"]) == ("by hand", None, None, [])
    assert "\n+- by hand\n" in data["diff"]


def test_two_revisions_differ_task_by_task(trained: Path, capsys: Captured) -> None:
    data = run_json(capsys, "diff", "demo@base", "demo@best")
    assert data["compared"] == 24  # selection and test
    assert [round(value, 4) for value in data["hard"]] == [0.1667, 0.5]
    assert [row["task"] for row in data["moved"]] == [
        f"{s}-{n:03}" for s in ("selection", "test") for n in (1, 5, 7, 11)
    ]
    lines = run(capsys, "diff", "demo@base").splitlines()  # up to the tip
    assert "hard 0.1667 -> 0.5000 (+0.3333) on the 24 tasks scored with both" in lines
    assert lines[-1] == "  test-011       0 -> 1"
    assert run(capsys, "diff", "demo", "demo@best").startswith("the text is the same\n")


def test_the_rejected_buffer_is_newest_first(trained: Path, capsys: Captured) -> None:
    base = git(trained, "rev-parse", "main")[:10]
    assert run(capsys, "rejected", "demo").splitlines()[-5:] == [
        "    append: say POISON 0",
        "    append: say RULE 1",
        f"- run 1 step 1 on {base}: 0.1667 -> 0.1667 (at most 2 of 12 against 2: a tie)",
        "    append: say RULE 2",
        "    append: say POISON 2",
    ]
    assert [row["step"] for row in run_json(capsys, "rejected", "demo")] == [3, 2, 1]
