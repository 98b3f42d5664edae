"""The update modes: what reflection is asked for in each, and how the answers become edits. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from skillgit.edit import ANCHORED
from skillgit.stages import answers
from skillgit.stages.answers import Schema, rows

Mode = Literal["patch", "rewrite_from_suggestions", "full_rewrite_minibatch"]
Answer = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wording:
    """The prompts and the schemas of a mode.

    ``reflect`` is completed by failure or success; ``edits`` gives the rows of an answer in the form of edits, whose op is
    one of ``ops``. ``whole``: an answer is one new skill, so a merge leaves one.
    """

    reflect: str
    asked: Schema
    merge: str
    merge_final: str
    merged: Schema
    edits: Callable[[Answer], list[Any]]
    ops: tuple[str, ...]
    whole: bool = False


def _anchored(answer: Answer) -> list[Any]:
    return rows(answer["edits"], "edits")


def _suggestions(answer: Answer) -> list[Any]:
    found = rows(answer["suggestions"], "suggestions")
    return [
        {**row, "op": "suggest", "content": row.get("instruction")} if isinstance(row, Mapping) else row
        for row in found
    ]


def _rewrite(answer: Answer) -> list[Any]:
    """The one new skill of an answer; none where it is empty."""
    whole = answers.text(answer["skill"], "skill")
    row = {"op": "rewrite", "content": whole, "title": answer.get("title"), "reasoning": answer["reasoning"]}
    return [row] if whole else []


MODES: Mapping[str, Wording] = {
    "patch": Wording("reflect", answers.REFLECT, "merge", "merge_final", answers.MERGE, _anchored, ANCHORED),
    "rewrite_from_suggestions": Wording(
        "suggest",
        answers.SUGGEST,
        "merge_suggestions",
        "merge_suggestions",
        answers.MERGE_SUGGESTIONS,
        _suggestions,
        ("suggest",),
    ),
    "full_rewrite_minibatch": Wording(
        "rewrite",
        answers.REWRITE,
        "merge_rewrites",
        "merge_rewrites",
        answers.MERGE_REWRITES,
        _rewrite,
        ("rewrite",),
        whole=True,
    ),
}
