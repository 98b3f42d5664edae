"""Update: apply the selected edits to a copy of the skill. Code only, no call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from skillgit.skill import Applied, EditReport, apply_edits
from skillgit.stages.select import Selection


def update(
    skill: str,
    selection: Selection,
    unreadable: Sequence[EditReport],
    *,
    missing_anchor: Literal["append", "skip"],
) -> Applied:
    """The candidate, with one report for every proposed edit: kept, over the budget, or ended before the selection."""
    budget = selection.budget
    applied = apply_edits(skill, selection.kept, missing_anchor=missing_anchor, budget=budget)
    over = [EditReport(edit, "over_budget", f"the budget of this step is {budget}") for edit in selection.dropped]
    reports = (*applied.reports, *over, *unreadable)
    proposed = len(selection.kept) + len(selection.dropped) + len(unreadable)
    assert len(reports) == proposed, "an edit ended in no bucket, or in two"
    return Applied(applied.text, reports, applied.texts)
