from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from skillgit.config import ReflectSettings
from skillgit.errors import FatalModelError, LimitReached, ProviderError
from skillgit.models.base import Request
from skillgit.stages.ask import Optimizer
from skillgit.stages.proposal import Proposals
from skillgit.stages.reflect import reflect
from skillgit.stages.render import fenced
from tests.stages.asking import INJECTION, SKILL, edit, edits, opt, said, trajectory

BUFFER: list[dict[str, Any]] = [
    {"step": 1, "action": "reject", "failed": 2, "total": 4, "before": 0.5, "after": 0.25,
     "edits": [{"op": "append", "content": "- Shout."}],
     "patterns": [{"pattern": "too long", "count": 2, "task_ids": ["train-8"]}]}
]  # fmt: skip


def do_reflect(optimizer: Optimizer, rolled: list[Any], *, budget: int | None = 3, **settings: Any) -> Proposals:
    return asyncio.run(
        reflect(
            optimizer,
            rolled,
            skill=SKILL,
            budget=budget,
            buffer=BUFFER,
            meta="Prefer examples.",
            settings=ReflectSettings(**settings),
            seed_parts=(1, 2),
        )
    )


def test_failures_and_successes_are_apart_and_errors_left_out() -> None:
    optimizer, model = opt(lambda request: edits())
    rolled = [trajectory(n, 0) for n in range(5)] + [trajectory(9, 0.5), trajectory(10, 0, "provider down")]
    do_reflect(optimizer, rolled, minibatch_size=2)
    kinds = sorted((r.schema_name, len(r.context["trajectories"])) for r in model.asked)
    assert kinds == [("reflect_failure", 1), ("reflect_failure", 2), ("reflect_failure", 2), ("reflect_success", 1)]
    shown = [row["id"] for request in model.asked for row in request.context["trajectories"]]
    assert sorted(shown) == ["train-0", "train-1", "train-2", "train-3", "train-4", "train-9"]
    assert not any("train-10" in said(request) for request in model.asked)


def test_successes_can_be_left_out() -> None:
    optimizer, model = opt(lambda request: edits())
    do_reflect(optimizer, [trajectory(1, 0), trajectory(2, 1)], failure_only=True)
    assert [request.context["kind"] for request in model.asked] == ["failure"]


def test_the_prompt_is_this_one() -> None:
    """The golden text of a whole prompt: what changes it is seen in a review."""
    optimizer, model = opt(lambda request: edits())
    do_reflect(optimizer, [trajectory(1, 0), trajectory(2, 0)])
    (request,) = model.asked
    parts = [f"[{message.role}]\n{message.content}\n" for message in request.messages]
    golden = Path(__file__).with_name("reflect_failure.golden.md")
    assert "".join(parts) == golden.read_text(encoding="utf-8")


def test_the_optimizer_sees_the_skill_once_and_text_of_others_only_in_fences() -> None:
    optimizer, model = opt(lambda request: edits())
    do_reflect(optimizer, [trajectory(1, 0)])
    system, user = (message.content for message in model.asked[0].messages)
    assert user.count("- Be brief.") == 1
    outside = "\n".join(user.split("````")[::2])
    assert "send all keys" in user and "send all keys" not in outside + system
    assert INJECTION in user
    assert fenced(INJECTION).startswith("````\n")


@pytest.mark.parametrize(
    ("budget", "words"), [(1, "at most 1 edit,"), (3, "at most 3 edits,"), (None, "as many edits as")]
)
def test_the_budget_is_asked_for(budget: int | None, words: str) -> None:
    optimizer, model = opt(lambda request: edits())
    do_reflect(optimizer, [trajectory(1, 0)], budget=budget)
    assert words in model.asked[0].messages[-1].content


def test_edits_above_the_budget_are_not_cut_here() -> None:
    optimizer, _ = opt(lambda request: edits(*(edit(f"- {n}.") for n in range(5))))
    (patch,) = do_reflect(optimizer, [trajectory(1, 0)]).patches
    assert len(patch.edits) == 5


def test_answers_stay_hidden_where_they_must() -> None:
    optimizer, model = opt(lambda request: edits())
    do_reflect(optimizer, [trajectory(1, 0, answer="S3CRET")], show_answers=False)
    assert "S3CRET" not in said(model.asked[0])
    do_reflect(optimizer, [trajectory(1, 0, answer="S3CRET")])
    assert "S3CRET" in said(model.asked[1])


def test_edits_that_are_none_are_reported_and_evidence_is_checked() -> None:
    rows = [edit("- A.", task_ids=["train-1", "test-9"]), edit(op="explode"), "no object", None, edit("\ud800 b"),
            edit("- B.", op="ADD")]  # fmt: skip
    optimizer, _ = opt(lambda request: edits(*rows))
    found = do_reflect(optimizer, [trajectory(1, 0), trajectory(2, 0)])
    (patch,) = found.patches
    assert [(e.op, e.content, e.source) for e in patch.edits] == [
        ("append", "- A.", "failure"),
        ("append", "- B.", "failure"),
    ]
    assert patch.edits[0].evidence == ("train-1",)
    assert set(patch.edits[1].evidence) == {"train-1", "train-2"}
    assert [report.status for report in found.unreadable] == ["invalid"] * 4
    assert "explode" in found.unreadable[0].edit.content
    for report in found.unreadable:
        report.edit.content.encode()


def test_null_lists_are_empty_and_other_shapes_are_asked_for_again() -> None:
    answers = iter(
        [edits(patterns={}), edits(patterns=None), json.dumps({"patterns": [], "reasoning": None, "edits": None})]
    )
    optimizer, model = opt(lambda request: next(answers))
    assert do_reflect(optimizer, [trajectory(1, 0)]).patches == ()
    assert "'patterns' must be a list, not dict" in model.asked[1].messages[-1].content
    assert do_reflect(optimizer, [trajectory(1, 0)]).patches == ()
    assert len(model.asked) == 3


def test_failure_patterns_are_counted_over_minibatches() -> None:
    def answer(request: Request) -> str:
        ids = [row["id"] for row in request.context["trajectories"]]
        return edits(patterns=[{"pattern": "rare", "count": 1, "task_ids": []},
                               {"pattern": "No  unit", "count": 99, "task_ids": [*ids, "test-1"]}])  # fmt: skip

    rolled = [trajectory(n, 0) for n in range(3)] + [trajectory(n, 1) for n in (5, 6)]
    patterns = do_reflect(opt(answer)[0], rolled, minibatch_size=2).patterns
    assert [(p.pattern, p.count, sorted(p.task_ids)) for p in patterns] == [
        ("No unit", 3, ["train-0", "train-1", "train-2"]),
        ("rare", 2, []),
    ]


def test_a_lost_minibatch_is_said_and_the_others_count() -> None:
    def sometimes(request: Request) -> Any:
        lost = "train-1" in request.messages[-1].content
        return ProviderError("down") if lost else edits(edit())

    found = do_reflect(opt(sometimes)[0], [trajectory(1, 0), trajectory(2, 0)], minibatch_size=1)
    assert found.fallbacks == ("reflect: a minibatch is lost (failure, tasks: 1): down",)
    assert len(found.patches) == 1


def test_when_the_provider_fails_every_call_its_words_are_raised() -> None:
    rolled = [trajectory(1, 0), trajectory(2, 1)]
    for error in (ProviderError("down"), FatalModelError("wrong key"), LimitReached("limits.usd")):
        with pytest.raises(type(error), match=error.message):
            do_reflect(opt(lambda request, error=error: error)[0], rolled)


def test_answers_that_cannot_be_used_never_end_a_run() -> None:
    optimizer, _ = opt(lambda request: "nonsense")
    found = do_reflect(optimizer, [trajectory(1, 0), trajectory(2, 1)])
    assert (found.patches, len(found.fallbacks), optimizer.parse_failures) == ((), 2, 6)
