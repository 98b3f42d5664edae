"""Skill-aware reflection: reminders in the appendix, gated with the step or written at the epoch's end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import ConfigError
from skillgit.models.base import Request
from skillgit.skill import appendix_notes, with_appendix
from tests import world
from tests.e2e.training import Training
from tests.world import Scripted, World

ENV: dict[str, Any] = {
    **world.ENV,
    "train": {"epochs": 1, "batch_size": 12},
    "reflect": {"minibatch_size": 12, "skill_aware": True},
    "slow_update": {"enabled": False},
    "meta_skill": {"enabled": False},
}
FORCED = ("appendix.gate=forced", "slow_update.acceptance=forced")


def reminding(*failure: str, success: tuple[str, ...] = (), notes: Any = ()) -> Scripted:
    """An optimizer that has reminders and no edits."""

    def answer(request: Request) -> str:
        stage = request.schema_name
        if stage == "consolidate":
            return json.dumps({"notes": list(notes)})
        if not stage.startswith("reflect_"):
            return "ready"
        pattern = {"pattern": "a rule was not followed", "count": 1, "task_ids": [], "kind": "lapse"}
        data: dict[str, Any] = {"patterns": [pattern], "reasoning": "", "edits": []}
        if "reminders" in (request.schema or {})["properties"]:
            texts = failure if stage == "reflect_failure" else success
            data["reminders"] = [{"text": text, "task_ids": ["train-001"]} for text in texts]
        return json.dumps(data)

    return Scripted("openai:o", answer)


def appendix(done: Training) -> tuple[str, ...]:
    return appendix_notes(done.git("show", "skill/demo:skills/demo/SKILL.md"))


def test_a_step_of_reminders_alone_is_a_candidate_like_any_other(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """RULE 1 as a reminder solves 2 of 12 tasks more; the same words again are one note, and a commit of its own."""
    done = Training(repo("demo", skill=world.SKILL, env=ENV, tasks=world.tasks()), monkeypatch)
    done.run(world=World(optimizer=reminding("RULE 1 holds, too.", "rule 1 holds, TOO.", "RULE 2 is good.")))
    assert appendix(done) == ("RULE 1 holds, too.", "RULE 2 is good.")
    (step,) = done.records("step")
    assert (step["action"], step["edits"]) == ("accept_new_best", {"proposed": 2, "applied": 2})
    assert step["patterns"] == [{"pattern": "a rule was not followed", "count": 1, "task_ids": [], "kind": "lapse"}]
    assert (step["verdict"]["before"], step["verdict"]["after"]) == (round(2 / 12, 6), 0.5)
    subjects = done.git("log", "--format=%s %(trailers:key=Skill-Op,valueonly,separator=)", "main..skill/demo")
    assert subjects.splitlines() == [
        "demo: remind: RULE 2 is good. remind",
        "demo: remind: RULE 1 holds, too. remind",
    ]


def test_reminders_that_do_not_help_are_rejected(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    done = Training(repo("demo", skill=world.SKILL, env=ENV, tasks=world.tasks()), monkeypatch)
    done.run(world=World(optimizer=reminding("Be careful.")))
    assert [record["action"] for record in done.records("step", "epoch")] == ["reject", "skip"]


@pytest.mark.parametrize(
    ("source", "kept"), [("failure_only", ("RULE 1 is.",)), ("both", ("RULE 1 is.", "RULE 0 is."))]
)
def test_successes_remind_only_if_asked(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, source: str, kept: tuple[str, ...]
) -> None:
    done = Training(repo("demo", skill=world.SKILL, env=ENV, tasks=world.tasks()), monkeypatch)
    optimizer = reminding("RULE 1 is.", success=("RULE 0 is.",))
    done.run(f"appendix.source={source}", world=World(optimizer=optimizer))
    assert appendix(done) == kept


def test_forced_reminders_are_written_at_the_epochs_end(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = Training(repo("demo", skill=world.SKILL, env=ENV, tasks=world.tasks()), monkeypatch)
    done.run(*FORCED, world=World(optimizer=reminding("Be careful.")))
    step, epoch = done.records("step", "epoch")
    assert (step["action"], step["reminders"]) == ("skip", ["Be careful."])
    assert (epoch["action"], appendix(done)) == ("forced", ("Be careful.",))
    assert epoch["best"]["commit"] == done.git("rev-parse", "main")


def test_a_long_appendix_is_compacted_through_the_gate(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    skill = with_appendix(world.SKILL, ["One.", "Two.", "Three."])
    done = Training(repo("demo", skill=skill, env=ENV, tasks=world.tasks()), monkeypatch)
    done.run("appendix.consolidate_above=2", world=World(optimizer=reminding(notes=["RULE 1 holds."])))
    (epoch,) = done.records("epoch")
    assert (epoch["action"], appendix(done)) == ("accept_new_best", ("RULE 1 holds.",))
    assert done.git("log", "-1", "--format=%s", "skill/demo") == "demo: epoch 1 meta-update (squash merge)"
    assert done.git("log", "-1", "--format=%s", "refs/skillgit/demo/epochs/1-1") == "demo: reminders"


def test_a_compaction_that_fails_leaves_the_notes(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    skill = with_appendix(world.SKILL, ["One.", "Two.", "Three."])
    done = Training(repo("demo", skill=skill, env=ENV, tasks=world.tasks()), monkeypatch)
    longer = ["One.", "Two.", "Three.", "Four."]
    done.run("appendix.consolidate_above=2", world=World(optimizer=reminding(notes=longer)))
    (epoch,) = done.records("epoch")
    assert (epoch["action"], epoch["fallbacks"][0][:28]) == ("skip", "appendix: left as it was: op")


def test_forced_reminders_need_a_forced_epochs_end(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    done = Training(repo("demo", skill=world.SKILL, env=ENV, tasks=world.tasks()), monkeypatch)
    with pytest.raises(ConfigError, match=r"needs slow_update\.acceptance: forced"):
        done.run("appendix.gate=forced")


def test_an_own_prompt_must_have_room_for_the_sorting(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repo("demo", skill=world.SKILL, env=ENV, tasks=world.tasks())
    own = root / "skills/demo/prompts/reflect_failure.md"
    own.parent.mkdir()
    own.write_text("{{skill}} {{trajectories}}", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"lacks \{\{lapses\}\}"):
        Training(root, monkeypatch).run()
