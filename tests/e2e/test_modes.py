"""Whole trainings in the two rewrite modes: one commit a step, and what is protected stays byte for byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import ConfigError
from skillgit.models.base import Request
from skillgit.skill import with_appendix, with_guidance
from tests import world
from tests.e2e.training import Training
from tests.world import Scripted, World

REGIONS = with_appendix(with_guidance(world.SKILL, "Heed every rule."), ["Mind the unit."])
ENV: dict[str, Any] = {
    **world.ENV,
    "train": {"epochs": 1, "batch_size": 12},
    "slow_update": {"enabled": False},
    "meta_skill": {"enabled": False},
}
BODY = "# Rules\n\n- RULE 0 holds.\n- RULE {} holds.\n"


def answers(request: Request, by_stage: dict[str, Any]) -> str:
    """The scripted answer of a stage, ``ready`` for a ping."""
    found = by_stage.get(request.schema_name)
    return "ready" if found is None else json.dumps(found(request) if callable(found) else found)


def reflection(**more: Any) -> dict[str, Any]:
    return {"patterns": [{"pattern": "rules are unknown", "count": 2, "task_ids": []}], "reasoning": "seen", **more}


def suggestion(rule: int, **more: Any) -> dict[str, Any]:
    words = {"type": "add", "title": f"say RULE {rule}", "instruction": f"Add RULE {rule}.", "reasoning": "seen"}
    return {**words, **more}


def training(root: Path, monkeypatch: pytest.MonkeyPatch, mode: str, by_stage: dict[str, Any]) -> Training:
    done = Training(root, monkeypatch)
    script = Scripted("openai:o", lambda request: answers(request, by_stage))
    done.run(f"edits.mode={mode}", world=World(optimizer=script))
    return done


def test_selected_suggestions_become_one_rewrite(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules 1 and 2 are suggested, and a third is over the budget of 2: the rewrite says 1 and 2, 6 of 12 right."""
    by_stage = {
        "suggest_failure": lambda request: reflection(suggestions=[suggestion(1), suggestion(2), suggestion(3)]),
        "suggest_success": reflection(suggestions=[]),
        "merge_suggestions": {
            "reasoning": "",
            "suggestions": [suggestion(n, sources=[n - 1, n + 2, n + 5, n + 8]) for n in (1, 2, 3)],
        },
        "select": {"reasoning": "", "ranking": [1, 0, 2]},
        "rewrite": lambda request: {
            "reasoning": "both",
            "title": "say the rules",
            "skill": "---\nname: other\n---\n" + BODY.format(1).replace("# Rules", "# New rules") + "- RULE 2 holds.\n",
        },
    }
    root = repo("demo", skill=REGIONS, env=ENV, tasks=world.tasks())
    done = training(root, monkeypatch, "rewrite_from_suggestions", by_stage)
    assert done.git("log", "--format=%s", "main..skill/demo") == "demo: say the rules"
    text = done.git("show", "skill/demo:skills/demo/SKILL.md")
    body = "# New rules\n\n- RULE 0 holds.\n- RULE 1 holds.\n- RULE 2 holds."
    assert text == REGIONS.replace("# Rules\n\n- RULE 0 holds.", body).rstrip("\n")
    (step,) = done.records("step")
    assert step["edits"] == {"proposed": 4, "applied": 1, "over_budget": 1, "worked_in": 2}
    assert (step["verdict"]["before"], step["verdict"]["after"]) == (round(2 / 12, 6), 0.5)
    trailers = done.git("log", "-1", "--format=%(trailers:key=Skill-Op,key=Skill-Support,separator=|)", "skill/demo")
    assert trailers == "Skill-Op: rewrite|Skill-Support: 4"


def test_a_rewrite_that_fails_leaves_the_skill_as_it_is(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    by_stage = {
        "suggest_failure": reflection(suggestions=[suggestion(1)]),
        "suggest_success": reflection(suggestions=[]),
        "merge_suggestions": {"reasoning": "", "suggestions": [suggestion(1, sources=[0, 1])]},
        "rewrite": {"reasoning": "", "title": "", "skill": "  "},
    }
    root = repo("demo", skill=REGIONS, env=ENV, tasks=world.tasks())
    done = training(root, monkeypatch, "rewrite_from_suggestions", by_stage)
    (step,) = done.records("step")
    assert (step["action"], step["edits"]) == ("skip", {"proposed": 1, "left_out": 1})
    assert step["fallbacks"][-1].startswith("rewrite: left as it is: openai:o gave no usable answer in 3 tries")
    assert done.git("rev-parse", "skill/demo") == done.git("rev-parse", "main")


def test_whole_skills_of_the_minibatches_are_merged(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """12 tasks, 10 of them failed: 4 minibatches of failures propose a skill each, and one merge makes one of them."""
    seen: list[int] = []

    def merge(request: Request) -> dict[str, Any]:
        seen.append(len(request.context["patches"]))
        return {"reasoning": "", "title": "say RULE 4", "skill": BODY.format(4)}

    by_stage = {
        "rewrite_failure": lambda request: reflection(title="say one", skill=BODY.format(1)),
        "rewrite_success": reflection(title="", skill=""),
        "merge_rewrites": merge,
    }
    root = repo("demo", skill=REGIONS, env=ENV, tasks=world.tasks())
    done = training(root, monkeypatch, "full_rewrite_minibatch", by_stage)
    assert seen == [4]
    assert done.git("log", "--format=%s", "main..skill/demo") == "demo: say RULE 4"
    text = done.git("show", "skill/demo:skills/demo/SKILL.md")
    assert text == REGIONS.replace("- RULE 0 holds.\n", "- RULE 0 holds.\n- RULE 4 holds.\n").rstrip("\n")
    (step,) = done.records("step")
    assert (step["budget"], step["edits"]) == (None, {"proposed": 1, "applied": 1})


def test_rewrites_that_cannot_be_merged_leave_the_first(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    by_stage = {
        "rewrite_failure": lambda request: reflection(title="say one", skill=BODY.format(1)),
        "rewrite_success": reflection(title="", skill=""),
        "merge_rewrites": {"reasoning": "", "title": "", "skill": ""},
    }
    root = repo("demo", skill=world.SKILL, env=ENV, tasks=world.tasks())
    done = training(root, monkeypatch, "full_rewrite_minibatch", by_stage)
    (step,) = done.records("step")
    assert step["edits"] == {"proposed": 4, "applied": 1, "left_out": 3}
    assert step["fallbacks"][0].startswith("merge_rewrites: the first rewrite instead of a merge")
    assert "RULE 1" in done.git("show", "skill/demo:skills/demo/SKILL.md")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("reflect.skill_aware=true", "do not go together; use mode: patch"),
        ("models.optimizer.model=builtin:induce", "needs a language model as the optimizer"),
    ],
)
def test_a_mode_does_not_go_with_everything(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, option: str, message: str
) -> None:
    root = repo("demo", skill=world.SKILL, env=ENV, tasks=world.tasks())
    with pytest.raises(ConfigError, match=message):
        Training(root, monkeypatch).run("edits.mode=rewrite_from_suggestions", option)
