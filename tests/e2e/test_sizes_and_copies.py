"""What a candidate may not be: longer than its limit, or a copy of its tasks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgit.models.base import Request
from skillgit.skill import guidance
from tests import world
from tests.e2e.training import Training
from tests.world import Scripted, World

ENV: dict[str, Any] = {
    **world.ENV,
    "train": {"epochs": 1, "batch_size": 12},
    "reflect": {"minibatch_size": 12},
    "edits": {"budget": 4, "min_budget": 4},
    "slow_update": {"enabled": False},
    "meta_skill": {"enabled": False},
}
COPY = "the lost key of the north tower"
TASKS = [{**task, "input": f"{task['input']} {COPY} {task['id']}"} for task in world.tasks()]
TASKS = [{**task, "answer": task["input"].split(": ")[1].join(["done ", ""])} for task in TASKS]


def proposing(*edits: dict[str, Any], guidance: str = "") -> Scripted:
    def answer(request: Request) -> str:
        stage = request.schema_name
        if stage == "slow":
            return json.dumps({"reflection": "", "guidance": guidance})
        if not stage.startswith("reflect_"):
            return "ready"
        rows = edits if stage == "reflect_failure" else ()
        return json.dumps({"patterns": [], "reasoning": "", "edits": list(rows)})

    return Scripted("openai:o", answer)


def edit(content: str, op: str = "append", target: str | None = None) -> dict[str, Any]:
    return {"op": op, "target": target, "content": content, "title": "t", "reasoning": "r", "task_ids": []}


def asked(optimizer: Scripted, stage: str) -> str:
    (request,) = [request for request in optimizer.asked if request.schema_name == stage]
    return request.messages[-1].content


def test_an_edit_that_makes_the_document_too_long_is_refused(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """102 bytes are 34 tokens; 60 letters and two line breaks more would be 55 of 50, RULE 1 makes it 40."""
    skill = world.SKILL
    assert len(skill) == 102
    done = Training(repo("demo", skill=skill, env=ENV, tasks=world.tasks()), monkeypatch)
    optimizer = proposing(edit("x" * 60), edit("- RULE 1 holds."))
    done.run("edits.max_tokens=50", world=World(optimizer=optimizer))
    (step,) = done.records("step")
    assert step["edits"] == {"proposed": 2, "applied": 1, "too_long": 1}
    assert "propose at most 4 edits (the document may grow by about 8 words at most)" in asked(
        optimizer, "reflect_failure"
    )


def test_a_tie_goes_to_the_shorter_where_there_is_a_limit(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    skill = world.SKILL + "- Useless words.\n"
    root = repo("demo", skill=skill, env=ENV, tasks=world.tasks())
    optimizer = proposing(edit("", "delete", "- Useless words."))
    done = Training(root, monkeypatch)
    done.run(world=World(optimizer=optimizer))
    done.run("edits.max_tokens=50", world=World(optimizer=optimizer), new_run=True)
    first, second = done.records("step")
    assert (first["action"], first["reason"]) == ("reject", "at most 2 of 12 against 2: a tie")
    assert (second["action"], second["reason"]) == ("accept_new_best", "2 of 12 against 2: a tie, and shorter")
    assert "Useless" not in done.git("show", "refs/skillgit/demo/best:skills/demo/SKILL.md")


def test_guidance_has_room_or_is_not_taken(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """40 words are 239 bytes, with two markers, four line breaks and a blank line 293: 395 bytes are 132 tokens."""
    done = Training(repo("demo", skill=world.SKILL, env=ENV, tasks=world.tasks()), monkeypatch)
    optimizer = proposing(guidance="Heed. " * 40)
    done.run("slow_update.enabled=true", "edits.max_tokens=60", world=World(optimizer=optimizer))
    (epoch,) = done.records("epoch")
    assert epoch["action"] == "skip"
    assert epoch["fallbacks"] == ["slow update: not taken, the document would have 132 tokens of 60"]
    (request,) = [request for request in optimizer.asked if request.schema_name == "slow"]
    assert "at most about 13 words" in " ".join(request.messages[0].content.split())


@pytest.mark.parametrize(
    ("how", "buckets", "copied"),
    [
        ("off", {"proposed": 2, "applied": 2}, None),
        ("warn", {"proposed": 2, "applied": 2}, ["train-007"]),
        ("reject", {"proposed": 2, "applied": 1, "copied": 1}, None),
    ],
)
def test_text_of_a_train_task_is_told_or_refused(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, how: str, buckets: dict[str, int], copied: Any
) -> None:
    """The wording that all tasks share is none of one task's; with an id it is train-007's alone."""
    done = Training(repo("demo", skill=world.SKILL, env=ENV, tasks=TASKS), monkeypatch)
    optimizer = proposing(edit("- RULE 1 holds."), edit(f"- RULE 2 holds. Of {COPY} train-007 beware."))
    done.run(f"gate.contamination={how}", "gate.contamination_words=6", world=World(optimizer=optimizer))
    (step,) = done.records("step")
    assert step["edits"] == buckets
    found = step.get("copied")
    assert (found and [one["task"] for one in found]) == copied


def test_copied_guidance_is_not_taken(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    done = Training(repo("demo", skill=world.SKILL, env=ENV, tasks=TASKS), monkeypatch)
    optimizer = proposing(guidance=f"RULE 5 holds. Of {COPY} train-007 beware.")
    options = ("slow_update.enabled=true", "gate.contamination=reject", "gate.contamination_words=6")
    done.run(*options, world=World(optimizer=optimizer))
    (epoch,) = done.records("epoch")
    assert guidance(done.git("show", "skill/demo:skills/demo/SKILL.md") + "\n") == ""
    words = f"{COPY} train 007"
    assert epoch["fallbacks"] == [f"slow update: not taken, it holds text of task train-007: '{words}'"]


@pytest.mark.parametrize(
    ("pairs", "shown", "compared"),
    [("mixed", 4, 4), ("changed", 2, 12), ("unchanged", 3, 4)],
)
def test_which_pairs_the_epochs_end_is_shown(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, pairs: str, shown: int, compared: int
) -> None:
    """RULE 1 changes 2 of 12 train tasks, one of them in the first sample of 4; changed scans on for 4 and finds 2."""
    done = Training(repo("demo", skill=world.SKILL, env=ENV, tasks=world.tasks()), monkeypatch)
    optimizer = proposing(edit("- RULE 1 holds."))
    done.run(
        "slow_update.enabled=true",
        "slow_update.samples=4",
        f"slow_update.pairs={pairs}",
        "train.seed=3",
        world=World(optimizer=optimizer),
    )
    (epoch,) = done.records("epoch")
    assert sum(map(len, epoch["longitudinal"].values())) == compared
    (request,) = [request for request in optimizer.asked if request.schema_name == "slow"]
    assert len(request.context["pairs"]) == shown
