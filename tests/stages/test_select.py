from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from skillgit.config import EditSettings
from skillgit.models.base import Request
from skillgit.skill import Edit, EditReport, Patch
from skillgit.stages.ask import Optimizer
from skillgit.stages.select import Selection, select
from skillgit.stages.update import update
from tests.stages.asking import SKILL, opt


def do_select(optimizer: Optimizer, count: int, budget: int | None, autonomous: bool = False) -> Selection:
    """Edits 0, 1, ... with a support of 1, 2, 1, 2, ..."""
    edits = tuple(Edit("append", f"- {n}", support=1 + n % 2) for n in range(count))
    work = select(
        optimizer, Patch(edits), skill=SKILL, budget=budget, autonomous=autonomous, meta="", score=0.5, buffer=[]
    )
    return asyncio.run(work)


def ranking(*indices: Any) -> str:
    return json.dumps({"reasoning": "", "ranking": list(indices)})


def shown(edits: tuple[Edit, ...]) -> str:
    return "".join(edit.content.removeprefix("- ") for edit in edits)


@pytest.mark.parametrize(
    ("said", "kept", "dropped"),
    [
        ((2, 0), "20", "13"),
        ((9, 2, 2, -1, "0", 1, True, None), "21", "03"),
        ((3, 2, 1, 0), "32", "01"),
    ],
)
def test_a_ranking_passes_over_bad_and_repeated_indices(said: tuple[Any, ...], kept: str, dropped: str) -> None:
    selection = do_select(opt(lambda request: ranking(*said))[0], 4, 2)
    assert (shown(selection.kept), shown(selection.dropped), selection.fallbacks) == (kept, dropped, ())


def test_what_a_ranking_leaves_open_goes_by_support_and_is_said() -> None:
    selection = do_select(opt(lambda request: ranking(2))[0], 4, 3)
    assert (shown(selection.kept), shown(selection.dropped)) == ("213", "0")
    assert selection.fallbacks == ("select: by support after the 1 of 3 edits that were ranked",)


@pytest.mark.parametrize("said", ["nonsense", ranking(), ranking(7, "x"), '{"reasoning": "", "ranking": {"0": 1}}'])
def test_without_a_ranking_support_decides_then_the_order(said: str) -> None:
    optimizer, model = opt(lambda request: said)
    selection = do_select(optimizer, 5, 3)
    assert (shown(selection.kept), shown(selection.dropped)) == ("130", "24")
    assert selection.fallbacks[0].startswith("select: by support: openai:o gave no usable answer")
    assert len(model.asked) == 3


def test_within_the_budget_nothing_is_asked() -> None:
    optimizer, model = opt(lambda request: pytest.fail("no call is needed"))
    assert len(do_select(optimizer, 2, 2).kept) == len(do_select(optimizer, 2, None).kept) == 2
    assert do_select(optimizer, 0, 3, autonomous=True).kept == ()
    assert model.asked == []


@pytest.mark.parametrize(("said", "budget"), [(1, 1), (99, 3), (-2, 3), ("two", 3), (True, 3), (None, 3), (2.5, 3)])
def test_an_autonomous_budget_is_capped_and_falls_back_to_the_maximum(said: Any, budget: int) -> None:
    def answer(request: Request) -> str:
        budgeting = request.schema_name == "budget"
        return json.dumps({"reasoning": "", "budget": said}) if budgeting else ranking(0, 1, 2, 3, 4)

    selection = do_select(opt(answer)[0], 5, 3, autonomous=True)
    assert (selection.budget, shown(selection.kept)) == (budget, "012"[:budget])
    assert bool(selection.fallbacks) == (repr(said) not in ("1", "99"))


def test_a_budget_of_none_at_all_needs_no_ranking() -> None:
    optimizer, model = opt(lambda request: json.dumps({"reasoning": "", "budget": 0}))
    selection = do_select(optimizer, 3, 3, autonomous=True)
    assert (selection.kept, shown(selection.dropped), selection.budget, len(model.asked)) == ((), "012", 0, 1)
    assert "0.5000" in model.asked[0].messages[-1].content


def test_every_edit_of_an_update_ends_in_one_bucket() -> None:
    kept = (Edit("append", "- A."), Edit("append", "- A."), Edit("delete", target="nowhere"))
    selection = Selection(kept, (Edit("append", "- B."),), 3)
    unreadable = [EditReport(Edit("append", "{}"), "invalid", "no op")]
    applied = update(SKILL, selection, unreadable, settings=EditSettings())
    statuses = ["applied", "duplicate", "no_target", "over_budget", "invalid"]
    assert [report.status for report in applied.reports] == statuses
    assert sum(applied.buckets.values()) == 5
    assert applied.texts == (applied.text,)
    assert "- A." in applied.text and "- B." not in applied.text


def test_the_budget_holds_even_if_more_was_kept() -> None:
    selection = Selection(tuple(Edit("append", f"- {n}.") for n in range(6)), (), 4)
    applied = update(SKILL, selection, (), settings=EditSettings())
    assert [report.status for report in applied.reports] == ["applied"] * 4 + ["over_budget"] * 2
