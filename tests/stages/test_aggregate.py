from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from skillgit.config import ReflectSettings
from skillgit.errors import FatalModelError, ProviderError
from skillgit.models.base import Request
from skillgit.skill import Edit, Patch
from skillgit.stages.aggregate import Merged, aggregate
from skillgit.stages.ask import Optimizer
from skillgit.stages.proposal import Proposals
from tests.stages.asking import SKILL, edit, edits, opt


def patch(source: str, *contents: str, **more: Any) -> Patch:
    return Patch(
        tuple(Edit("append", c, source=source, evidence=(f"id-{c}",), **more) for c in contents), source=source
    )


def replacing(source: str, content: str) -> Patch:
    return Patch((Edit("replace", content, "- Be brief.", source=source),), source=source)


def do_aggregate(optimizer: Optimizer, *patches: Patch, size: int = 8) -> Merged:
    settings = ReflectSettings(merge_batch_size=size)
    return asyncio.run(aggregate(optimizer, Proposals(patches), skill=SKILL, meta="", settings=settings))


def merging(*rows: dict[str, Any]) -> Callable[[Request], str]:
    return lambda request: edits(*rows)


def all_in_one(request: Request) -> str:
    contents = [e["content"] for p in request.context["patches"] for e in p]
    return edits({**edit("+".join(contents)), "sources": list(range(len(contents)))})


def test_one_patch_alone_is_not_sent_to_a_merge() -> None:
    optimizer, model = opt(lambda request: pytest.fail("no call is needed"))
    assert do_aggregate(optimizer, patch("failure", "a", "b")).patch == patch("failure", "a", "b")
    assert do_aggregate(optimizer, patch("failure"), patch("success", "s")).patch == patch("success", "s")
    assert do_aggregate(optimizer).patch.edits == ()
    assert model.asked == []


def test_merges_go_level_by_level_and_failures_meet_successes_last() -> None:
    optimizer, model = opt(all_in_one)
    patches = [patch("success", "s"), *(patch("failure", c) for c in "abcde")]
    result = do_aggregate(optimizer, *patches, size=2).patch
    assert [e.content for e in result.edits] == ["a+b+c+d+e+s"]
    assert (result.edits[0].support, result.edits[0].source) == (6, "failure")
    assert result.edits[0].evidence == tuple(f"id-{c}" for c in "abcdes")
    assert [request.schema_name for request in model.asked] == ["merge"] * 4 + ["merge_final"]


@pytest.mark.parametrize(("count", "size", "calls"), [(8, 8, 1), (9, 8, 2), (9, 2, 8), (20, 8, 4)])
def test_every_level_is_shorter(count: int, size: int, calls: int) -> None:
    optimizer, model = opt(all_in_one)
    result = do_aggregate(optimizer, *(patch("failure", str(n)) for n in range(count)), size=size)
    assert (result.patch.edits[0].support, len(model.asked)) == (count, calls)


def test_support_counts_the_patches_behind_an_edit_not_its_edits() -> None:
    rows = [{**edit("both"), "sources": [0, 1, 2]}, {**edit("y"), "sources": []}, {**edit("new"), "sources": [9]}]
    optimizer, _ = opt(merging(*rows))
    result = do_aggregate(optimizer, patch("failure", "a", "b"), patch("failure", "c", "y"))
    assert [(e.content, e.support, e.evidence) for e in result.patch.edits] == [
        ("both", 2, ("id-a", "id-b", "id-c")),
        ("y", 1, ("id-y",)),  # named no source, but is the same as one
        ("new", 1, ()),
    ]


def test_bad_sources_count_for_nothing_and_those_of_other_edits_do_not_shift() -> None:
    rows = [edit(op="explode", sources=[0]), {**edit("x"), "sources": [1, 1, 7, -1, "0", True, None, 1.0]}]
    optimizer, _ = opt(merging(*rows))
    result = do_aggregate(optimizer, patch("failure", "a"), patch("success", "b"))
    assert [(e.content, e.evidence, e.source) for e in result.patch.edits] == [("x", ("id-b",), "success")]
    assert [report.status for report in result.unreadable] == ["invalid"]


def test_no_two_edits_change_the_same_text_and_none_is_lost_silently() -> None:
    rows = [
        {**edit("x", op="replace", target="- Be brief."), "sources": [0]},
        {**edit("", op="delete", target="- Be brief."), "sources": [1]},
        {**edit("z", op="insert_after", target="- Be brief."), "sources": [1]},
        {**edit("z", op="insert_after", target="- Be brief."), "sources": [0]},
    ]
    optimizer, _ = opt(merging(*rows))
    result = do_aggregate(optimizer, patch("failure", "a"), patch("failure", "b"))
    assert [(e.op, e.content, e.support) for e in result.patch.edits] == [("replace", "x", 1), ("insert_after", "z", 2)]
    assert [(r.edit.op, r.status, r.detail) for r in result.unreadable] == [
        ("delete", "duplicate", "an edit before it changes the same text")
    ]


@pytest.mark.parametrize("answer", ["nonsense", edits(), edits("no edit"), ProviderError("down")])
def test_a_merge_that_fails_is_a_concatenation_failures_first(answer: Any) -> None:
    optimizer, _ = opt(lambda request: answer)
    patches = (replacing("success", "s"), replacing("failure", "f"), patch("failure", "g", reasoning="why"))
    result = do_aggregate(optimizer, *patches, patch("failure", "g"))
    assert [(e.content, e.support) for e in result.patch.edits] == [("f", 1), ("g", 2)]
    assert result.patch.edits[1].reasoning == "why"
    assert [(r.edit.content, r.status) for r in result.unreadable] == [("s", "duplicate")]
    assert [text.partition(":")[0] for text in result.fallbacks] == ["merge", "merge_final"]
    assert all("concatenation instead of a merge" in text and "\n" not in text for text in result.fallbacks)


def test_fallbacks_come_in_the_order_of_the_patches_whatever_finishes_first() -> None:
    def answer(request: Request) -> Any:
        contents = [e["content"] for p in request.context["patches"] for e in p]
        return all_in_one(request) if len(contents) > 2 else ProviderError(f"down for {'+'.join(contents)}")

    result = do_aggregate(opt(answer)[0], *(patch("failure", c) for c in "abcd"), size=2)
    assert [text.rpartition(" ")[2] for text in result.fallbacks] == ["a+b", "c+d"]
    assert result.patch.edits[0].support == 4


def test_a_fatal_error_is_no_fallback() -> None:
    optimizer, _ = opt(lambda request: FatalModelError("wrong key"))
    with pytest.raises(FatalModelError, match="wrong key"):
        do_aggregate(optimizer, patch("failure", "a"), patch("failure", "b"))


def test_the_final_merge_is_told_which_edits_answer_failures() -> None:
    optimizer, model = opt(all_in_one)
    do_aggregate(optimizer, patch("success", "s"), patch("failure", "f"))
    rows = [json.loads(row) for row in model.asked[0].messages[-1].content.splitlines() if row.startswith('{"index"')]
    assert [(row["index"], row["content"], row["from"]) for row in rows] == [(0, "f", "failure"), (1, "s", "success")]
