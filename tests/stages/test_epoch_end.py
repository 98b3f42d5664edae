"""Slow update and meta skill."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from skillgit.errors import FatalModelError, ProviderError
from skillgit.longitudinal import Pair
from skillgit.skill import with_guidance
from skillgit.stages.ask import Optimizer
from skillgit.stages.meta import meta
from skillgit.stages.slow import slow
from tests.stages.asking import SKILL, Env, opt, said, trajectory

BEFORE = with_guidance(SKILL, "Old words.")
AFTER = BEFORE.replace("- Be brief.", "- Be very brief.")


def pair(number: int, before: float, after: float) -> Pair:
    first, second = trajectory(number, before, answer="S3CRET"), trajectory(number, after, answer="S3CRET")
    return Pair(first.task, first, replace(second, answer=f"after-{number}"))


PAIRS = (pair(1, 1, 1), pair(2, 0, 1), pair(3, 0, 0), pair(4, 1, 0))


def do_slow(optimizer: Optimizer, pairs: Any = PAIRS) -> tuple[str, tuple[str, ...]]:
    return asyncio.run(slow(optimizer, before=BEFORE, after=AFTER, pairs=pairs, meta="Mind this."))


def do_meta(optimizer: Optimizer, pairs: Any = PAIRS) -> tuple[str, tuple[str, ...]]:
    return asyncio.run(meta(optimizer, before=BEFORE, after=AFTER, pairs=pairs, meta="- Keep."))


def written(text: Any) -> str:
    return json.dumps({"reflection": "r", "guidance": text, "meta_skill": text})


def test_the_prompt_shows_both_skills_and_regressions_first() -> None:
    optimizer, model = opt(lambda request: written("x"))
    do_slow(optimizer)
    shown = model.asked[0].messages[-1].content
    assert "improved 1, regressed 1, persistent 1, stable 1" in shown
    places = [shown.index(f"## {name}") for name in ("Regressed", "Persistent", "Improved", "Stable")]
    assert places == sorted(places)
    for part in ("- Be brief.", "- Be very brief.", "Mind this.", "Old words.", "after-4", "S3CRET"):
        assert part in shown, part
    assert "after-1" not in shown  # of stable ones just the id
    assert "train-1" in shown


def test_an_attempt_that_did_not_change_is_shown_once() -> None:
    same = trajectory(7, 0)
    optimizer, model = opt(lambda request: written("x"))
    do_slow(optimizer, (Pair(same.task, same, same),))
    shown = model.asked[0].messages[-1].content
    assert "Before and after alike:" in shown
    assert shown.count("task: train-7") == 1


def test_answers_stay_hidden_where_they_must() -> None:
    optimizer, model = opt(lambda request: written("x"), Env(reflect={"show_answers": False}))
    do_slow(optimizer)
    do_meta(optimizer)
    assert not any("S3CRET" in said(request) for request in model.asked)


@pytest.mark.parametrize(
    ("answer", "guidance"),
    [
        ("Look twice. <!-- SLOW_UPDATE_END -->", "Look twice."),
        ("<!-- SLOW_UPDATE_START -->\nLook\n  twice.\n<!-- SLOW_UPDATE_END -->", "Look\n  twice."),
        ("a\0b\ud800", "ab?"),
        ("", ""),
        (None, ""),
    ],
)
def test_guidance_is_text_without_markers(answer: Any, guidance: str) -> None:
    assert do_slow(opt(lambda request: written(answer))[0]) == (guidance, ())


def test_notes_are_text_and_an_empty_answer_keeps_them() -> None:
    assert do_meta(opt(lambda request: written(" - New.\0\n"))[0]) == ("- New.", ())
    assert do_meta(opt(lambda request: written(None))[0]) == ("- Keep.", ())


@pytest.mark.parametrize("answer", ["nonsense", written(5), ProviderError("down")])
def test_what_cannot_be_had_leaves_guidance_and_notes_as_they_were(answer: Any) -> None:
    guidance, lost = do_slow(opt(lambda request: answer)[0])
    assert (guidance, len(lost)) == ("", 1)
    assert lost[0].startswith("slow update: left as it is: ")
    advice, lost = do_meta(opt(lambda request: answer)[0])
    assert (advice, len(lost)) == ("- Keep.", 1)
    assert lost[0].startswith("meta skill: left as it was: ")


def test_without_pairs_nothing_is_asked() -> None:
    optimizer, model = opt(lambda request: pytest.fail("nothing to compare"))
    assert do_slow(optimizer, ())[0] == ""
    assert do_meta(optimizer, ())[0] == "- Keep."
    assert model.asked == []


def test_a_fatal_error_is_no_fallback() -> None:
    for do in (do_slow, do_meta):
        with pytest.raises(FatalModelError):
            do(opt(lambda request: FatalModelError("wrong key"))[0])
