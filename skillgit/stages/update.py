"""Update: apply the selected edits to a copy of the skill. Code only, no call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from skillgit.skill import Applied, Edit, EditReport, apply_edits
from skillgit.stages.select import Selection

if TYPE_CHECKING:
    from skillgit.config import EditSettings


def update(
    skill: str,
    selection: Selection,
    ended: Sequence[EditReport],
    *,
    settings: EditSettings,
    reminders: Sequence[Edit] = (),
    refuse: Callable[[Edit], str] = lambda edit: "",
) -> Applied:
    """The candidate, with one report for every proposed edit: kept, over the budget, or ``ended`` before the selection.

    Reminders go to the appendix, outside the budget. ``refuse`` says why an edit may not be taken ("" if it may).
    """
    budget = selection.budget
    refused = {edit: why for edit in (*selection.kept, *reminders) if (why := refuse(edit))}
    kept = [edit for edit in selection.kept if edit not in refused]
    notes = [edit for edit in reminders if edit not in refused]
    applied = apply_edits(
        skill, kept, missing_anchor=settings.missing_anchor, budget=budget, max_tokens=settings.max_tokens
    )
    noted = apply_edits(applied.text, notes, max_tokens=settings.max_tokens)
    reports = (
        *applied.reports,
        *noted.reports,
        *(EditReport(edit, "copied", why) for edit, why in refused.items()),
        *(EditReport(edit, "over_budget", f"the budget of this step is {budget}") for edit in selection.dropped),
        *selection.ended,
        *ended,
    )
    proposed = sum(map(len, (selection.kept, reminders, selection.dropped, selection.ended, ended)))
    assert len(reports) == proposed, "an edit ended in no bucket, or in two"
    return Applied(noted.text, reports, (*applied.texts, *noted.texts))
