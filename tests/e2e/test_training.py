"""A whole training in the scripted world: what it decides, and what it leaves in git."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.models.base import Request
from tests import world
from tests.e2e.training import SUBJECTS, Training
from tests.world import Scripted, World

SQUASH = """\
demo: epoch 1 meta-update (squash merge)

Squashed commit of the following:

commit SIDE
Author: Ada Author <author@example.org>
Date:   Sun Jun 15 17:06:40 2025 +0200

    demo: slow update of the guidance

    Heed every rule. RULE 5 holds.

    Skill-Run: 1
    Skill-Epoch: 1
    Skill-Kind: slow-update
    Skill-Target: openai:world
    Skill-Optimizer: openai:world-optimizer

Skill-Run: 1
Skill-Epoch: 1
Skill-Kind: epoch
Skill-Longitudinal: improved 0, regressed 0, persistent 4, stable 2
Skill-Target: openai:world
Skill-Optimizer: openai:world-optimizer
Skill-Score: hard 0.1667 -> 0.3333, soft 0.1667 -> 0.3333 (12 tasks)
Skill-Gate: accept_new_best strict
"""
STEP = """\
demo: say RULE 1

seen

Skill-Run: 1
Skill-Epoch: 2
Skill-Step: 4
Skill-Edit: 1/1
Skill-Op: append
Skill-Source: failure
Skill-Support: 1
Skill-Evidence: train-007
Skill-Target: openai:world
Skill-Optimizer: openai:world-optimizer
Skill-Score: hard 0.3333 -> 0.5000, soft 0.3333 -> 0.5000 (12 tasks)
Skill-Gate: accept_new_best strict
"""


@pytest.fixture
def training(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Training:
    return Training(repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks()), monkeypatch)


def proposing(*contents: str) -> World:
    """A world whose optimizer proposes these lines whatever it sees."""

    def answer(request: Request) -> str:
        stage = request.context.get("stage")
        if stage == "reflect":
            edits = [{"op": "append", "content": f"- {content} holds.", "title": content} for content in contents]
            return json.dumps({"patterns": [], "reasoning": "", "edits": edits})
        return json.dumps({"guidance": "", "reflection": ""}) if stage == "slow" else world.optimizer(request)

    return World(optimizer=Scripted("openai:world-optimizer", answer))


def of_split(both: World, split: str) -> list[Request]:
    return [request for request in both.target.asked if f": {split} " in request.messages[-1].content]


def test_a_whole_run_is_in_git(training: Training) -> None:
    main = training.git("rev-parse", "main")
    summary = training.run()
    assert (summary.initial.scores.hard, summary.best.scores.hard) == (2 / 12, 6 / 12)
    assert training.subjects() == SUBJECTS
    tip, squash = training.git("rev-parse", "skill/demo", "skill/demo~1").split()
    side = training.git("rev-parse", "refs/skillgit/demo/epochs/1-1")
    assert training.git("log", "-1", "--format=%B", tip) == STEP
    assert training.git("log", "-1", "--format=%B", squash).replace(side, "SIDE").replace("    \n", "\n") == SQUASH
    assert training.git("rev-parse", f"{squash}^", f"{side}^").split() == [main, main]
    assert training.git("rev-parse", f"{squash}^{{tree}}") == training.git("rev-parse", f"{side}^{{tree}}")
    assert training.git("rev-parse", "refs/skillgit/demo/best") == tip
    assert training.git("diff", "--name-only", "main", "skill/demo") == "skills/demo/SKILL.md"
    assert training.git("diff", "--shortstat", "main", "skill/demo").endswith("5 insertions(+)")
    assert training.git("fsck", "--strict").count("error") == 0


def test_notes_hold_what_the_journal_says(training: Training) -> None:
    training.run()
    noted = {row.split()[1] for row in training.git("notes", "--ref=skillgit/scores", "list").splitlines()}
    judged = [record for record in training.records() if "candidate" in record]
    start = training.records("baseline")[0]["current"]["blob"]
    assert noted == {start, *(record["candidate"]["blob"] for record in judged)}
    for record in judged:
        lines = training.git("notes", "--ref=skillgit/scores", "show", record["candidate"]["blob"]).splitlines()
        selection = [i for line in lines for t, i in json.loads(line)["items"].items() if t.startswith("selection")]
        assert len(selection) == record["candidate"]["evaluated"]
        assert sum(hard for hard, _, _ in selection) / len(selection) == pytest.approx(
            record["candidate"]["hard"], abs=1e-6
        )
    tried = training.git("log", "--notes=skillgit/rejected", "--format=%N", "skill/demo")
    assert tried.count("skill: demo") == len([r for r in judged if r["action"] == "reject"]) == 3
    assert training.git("notes", "--ref=skillgit/meta", "show", "skill/demo~1").strip() == "- Rules help."


def test_the_test_split_is_read_once_at_the_end(training: Training) -> None:
    both = World()
    summary = training.run(world=both)
    asked = of_split(both, "test")
    assert len(asked) == 24  # the initial skill, and the best, which is the current one
    assert both.target.asked[-24:] == asked
    assert [summary.test[role]["hard"] for role in ("initial", "best", "current")] == [0.166667, 0.5, 0.5]
    assert summary.test["initial"]["n"] == 12
    shown = json.dumps([[m.content for m in request.messages] for request in both.optimizer.asked])
    assert ": train " in shown
    assert ": selection " not in shown
    assert ": test " not in shown


def test_the_meta_skill_reaches_the_optimizer_of_the_next_epoch_alone(training: Training) -> None:
    both = World()
    training.run(world=both)
    told = [r.context["stage"] for r in both.optimizer.asked if any("- Rules help." in m.content for m in r.messages)]
    assert set(told) >= {"reflect"}
    assert told.count("reflect") == 6  # two steps of the second epoch, three minibatches each
    assert not any("Rules help" in m.content for request in both.target.asked for m in request.messages)


def test_the_gate_refuses_what_makes_it_worse(training: Training) -> None:
    both = proposing("POISON 0", "RULE 7")
    summary = training.run(world=both)
    assert summary.unchanged
    assert training.git("rev-parse", "skill/demo") == training.git("rev-parse", "main")
    assert {record["verdict"]["action"] for record in training.records("step")} == {"reject"}
    assert next(record["edits"] for record in training.records("step")) == {"proposed": 2, "applied": 2}
    assert (
        len(of_split(both, "selection")) <= 3 * 12
    )  # with a budget of two edits and of one; the same candidate again is known
    assert len(of_split(both, "test")) == 12


def test_every_accepted_edit_is_a_commit(training: Training) -> None:
    training.run("train.max_steps=1", world=proposing("RULE 1", "RULE 2"))
    assert training.subjects("main..skill/demo") == ["demo: say RULE 1", "demo: say RULE 2"]
    trailer = "%(trailers:key=Skill-Edit,key=Skill-Gate,valueonly,separator=%x2C)"
    rows = training.git("log", "--reverse", f"--format={trailer}", "main..skill/demo").splitlines()
    assert rows == ["1/2", "2/2,accept_new_best strict"]


def test_nothing_to_learn_is_said(training: Training) -> None:
    perfect = World()
    perfect.target.answer = lambda request: (
        world.target(request)
        if "rule" not in request.messages[-1].content
        else (f"done {request.messages[-1].content.partition(': ')[2]}")
    )
    summary = training.run(world=perfect)
    assert summary.unchanged
    assert {record["reason"] for record in training.records("step")} == {"nothing failed, and no edit was proposed"}
