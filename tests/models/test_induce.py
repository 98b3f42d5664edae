"""The built-in optimizer as a model, alone and in the real stages."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.config import ModelSettings
from skillgit.errors import FatalModelError
from skillgit.models import induce, registry
from skillgit.models.base import Message, Model, Request
from skillgit.models.induce import Induce
from skillgit.skill import APPLIED, Edit, apply_edits, parse_edit

SETTINGS = ModelSettings(model="builtin:induce")
SKILL = "---\nname: dates\ndescription: Dates.\n---\n\n# Dates\n\nRewrite the date.\n"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun")


def ask(context: dict[str, Any], prompt: str = "?") -> Any:
    reply = asyncio.run(Induce(SETTINGS).call(Request((Message("user", prompt),), context=context)))
    return json.loads(reply.text)


def wrong(number: int, **fields: Any) -> dict[str, Any]:
    day, month = number + 1, MONTHS[number % 6]
    task = {"id": f"t{number}", "input": f"{day} {month.title()} {1950 + number}", "type": f"form {number % 2}"}
    answer = f"{1950 + number}:{month}:{day:02d}"
    return {
        **task,
        "answer": answer,
        "output": "no",
        "predicted": "no",
        "hard": 0.0,
        "soft": 0.0,
        "reason": "",
        **fields,
    }


def reflect(trajectories: list[dict[str, Any]], budget: int | None = 4, **fields: Any) -> Any:
    context = {"stage": "reflect", "kind": "failure", "skill": SKILL, "budget": budget, "rejected": []}
    return ask({**context, "trajectories": trajectories, **fields})


def edits(answer: Any) -> list[Edit]:
    read = [parse_edit(row) for row in answer["edits"]]
    assert all(isinstance(edit, Edit) for edit in read)
    return read  # type: ignore[return-value]


def test_it_is_a_model_and_only_an_optimizer() -> None:
    model = registry.create(SETTINGS, "optimizer")
    assert isinstance(model, Induce) and isinstance(model, Model)
    with pytest.raises(FatalModelError, match="answers no prompts") as caught:
        ask({})
    assert "models.optimizer" in caught.value.hint
    with pytest.raises(FatalModelError, match="there is no builtin:deduce"):
        Induce(SETTINGS, "deduce")


def test_form_first_then_examples_within_the_budget() -> None:
    answer = reflect([wrong(number) for number in range(8)])
    assert [edit.content.split("`")[0] for edit in edits(answer)] == [
        "- Write the answer in the form of ",
        *["- Example: "] * 3,
    ]
    assert edits(answer)[1].evidence == ("t0",) and edits(answer)[2].evidence == ("t1",)
    assert len(reflect([wrong(number) for number in range(8)], budget=2)["edits"]) == 2
    assert len(reflect([wrong(number) for number in range(8)], budget=None)["edits"]) == 9


def test_patterns_name_what_went_wrong() -> None:
    batch = [wrong(0, predicted="1950:jan:09"), wrong(2, predicted="1952:mar:09"), wrong(1, predicted="", output="")]
    batch += [wrong(3, predicted=f"It is {wrong(3)['answer']}."), wrong(5)]
    found = [(row["pattern"], row["count"], row["task_ids"]) for row in reflect(batch)["patterns"]]
    assert found == [
        ("right form, wrong content (form 0)", 2, ["t0", "t2"]),
        ("no answer", 1, ["t1"]),
        ("the right answer among other words", 1, ["t3"]),
        ("another form (form 1)", 1, ["t5"]),
    ]


def test_what_was_rejected_is_not_proposed_again() -> None:
    batch = [wrong(number) for number in range(8)]
    first = reflect(batch)["edits"]
    again = reflect(batch, rejected=[first[0], {"op": "append", "content": first[1]["content"]}])["edits"]
    contents = [edit["content"] for edit in again]
    assert first[0]["content"] not in contents and first[1]["content"] not in contents
    assert first[2]["content"] in contents and len(contents) == 4
    digest = Edit("append", first[2]["content"]).digest()
    assert first[2]["content"] not in [edit["content"] for edit in reflect(batch, rejected=[digest])["edits"]]


def test_nothing_to_learn_from() -> None:
    batch = [wrong(number) for number in range(8)]
    for answer in (reflect(batch, kind="success"), reflect([]), reflect([wrong(n, answer=None) for n in range(8)])):
        assert answer["edits"] == [] and answer["patterns"] == []


def test_answers_that_are_no_text() -> None:
    answer = reflect([wrong(n, input=f"count {n}", answer={"n": n}) for n in range(4)])
    assert '- Write the answer in the form of `{"n": 0}`: ' in answer["edits"][0]["content"]
    several = reflect([wrong(0, answer=["5 May", "May 5"])])
    assert several["edits"][0]["content"] == "- Example: `1 Jan 1950` → `5 May`"


def test_a_closed_set_gets_examples_of_each_value_and_words() -> None:
    tasks = [("read the guide", "docs"), ("new guide", "docs"), ("guide us", "docs"), ("add this", "feat")]
    tasks += [
        ("add that", "feat"),
        ("add more", "feat"),
        ("stop crash", "fix"),
        ("crash on start", "fix"),
        ("crash", "fix"),
    ]
    batch = [wrong(n, input=task, answer=value, type="") for n, (task, value) in enumerate(tasks)]
    assert [edit["content"] for edit in reflect(batch)["edits"]] == [
        "- Example: `read the guide` → `docs`",
        "- Example: `add this` → `feat`",
        "- Example: `stop crash` → `fix`",
        "- These words point to `feat`: `add`.",
    ]


def test_other_stages() -> None:
    assert ask({"stage": "ping"}) == {"ready": True}
    assert ask({"stage": "slow"})["guidance"] == "" and ask({"stage": "meta"}) == {"meta_skill": ""}
    batch = [reflect([wrong(n) for n in part])["edits"] for part in ((0, 1, 2, 3), (2, 3, 4, 5))]
    joined = ask({"stage": "merge", "patches": batch})["edits"]
    assert joined[0]["sources"] == [0, 4] and len(joined) == 6
    rows = [{**edit, "support": 1} for edit in reversed(joined)]
    assert ask({"stage": "select", "edits": rows, "budget": 3})["ranking"][0] == len(rows) - 1
    assert ask({"stage": "budget", "edits": rows, "budget": 3})["budget"] == 3


def proposals(batch: list[dict[str, Any]], skill: str) -> Any:
    return induce.reflect({"kind": "failure", "skill": skill, "budget": None, "trajectories": batch})


TASKS = st.lists(
    st.tuples(st.text(st.characters(codec="utf-8"), max_size=40), st.text(st.characters(codec="utf-8"), max_size=12)),
    max_size=12,
)


@given(TASKS, st.text(max_size=5))
def test_whatever_fails_its_edits_apply_and_come_from_these_tasks(tasks: list[tuple[str, str]], predicted: str) -> None:
    batch = [wrong(n, input=task, answer=answer, predicted=predicted) for n, (task, answer) in enumerate(tasks)]
    answer = proposals(batch, SKILL)
    assert proposals(batch, SKILL) == answer
    proposed = edits(answer)
    assert {i for edit in proposed for i in edit.evidence} <= {item["id"] for item in batch}
    assert sum(row["count"] for row in answer["patterns"]) <= len(batch)
    applied = apply_edits(SKILL, proposed)
    assert {report.status for report in applied.reports} <= APPLIED
    second = edits(proposals(batch, applied.text))
    assert {report.status for report in apply_edits(applied.text, second).reports} <= APPLIED
