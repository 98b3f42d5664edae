"""Rewrite: the selected suggestions condition one call that writes the whole skill anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from skillgit.errors import OutputError, ProviderError
from skillgit.skill import Edit, EditReport
from skillgit.stages import answers
from skillgit.stages.ask import Optimizer
from skillgit.stages.render import edits_block, growth, meta_block, one_line, skill_block
from skillgit.stages.select import Selection


async def rewrite(optimizer: Optimizer, selection: Selection, *, skill: str, meta: str, words: int | None) -> Selection:
    """The selection with one edit, the rewrite; its suggestions end as worked in.

    ``words`` is by how much the skill may grow. A call that fails leaves the skill as it is, and ``fallbacks`` say so.
    """
    suggestions = selection.kept
    if not suggestions:
        return selection
    values = {
        "skill": skill_block(skill),
        "edits": edits_block(suggestions),
        "meta": meta_block(meta),
        "room": growth(words),
    }
    context = {"stage": "rewrite", "skill": skill, "suggestions": [edit.as_dict() for edit in suggestions]}
    try:
        edit = await optimizer.ask("rewrite", values, answers.REWRITTEN, _read, context=context)
    except (OutputError, ProviderError) as error:
        lost = [EditReport(edit, "left_out", "no rewrite came of it") for edit in suggestions]
        words_ = f"rewrite: left as it is: {one_line(error.message)}"
        return replace(selection, kept=(), ended=tuple(lost), fallbacks=(*selection.fallbacks, words_))
    ended = tuple(EditReport(edit, "worked_in", "part of the rewrite") for edit in suggestions)
    return replace(selection, kept=(_backed(edit, suggestions),), ended=ended)


def _read(data: dict[str, Any]) -> Edit:
    content = answers.text(data["skill"], "skill")
    if not content:
        raise ValueError("the new skill is empty")
    title, reasoning = (answers.text(data[name], name) for name in ("title", "reasoning"))
    return Edit("rewrite", content, title=" ".join(title.split()), reasoning=reasoning)


def _backed(edit: Edit, suggestions: Sequence[Edit]) -> Edit:
    """The rewrite with the source, the support and the evidence of what went into it."""
    sources = [suggestion.source for suggestion in suggestions]
    evidence = dict.fromkeys(task_id for suggestion in suggestions for task_id in suggestion.evidence)
    return replace(
        edit,
        title=edit.title or suggestions[0].title or "rewrite the skill",
        source="failure" if "failure" in sources else sources[0],
        support=max(suggestion.support for suggestion in suggestions),
        evidence=tuple(evidence),
    )
