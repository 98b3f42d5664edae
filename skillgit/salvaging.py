"""Salvage: when a candidate of several edits is rejected, its parts are tried, and the best accepted one is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from skillgit.record import Outcome, Tried
from skillgit.salvage import best_part, salvage_plan, share
from skillgit.skill import APPLIED, EditReport, apply_edits

if TYPE_CHECKING:
    from skillgit.run import Run
    from skillgit.state import State


def shares(run: Run, edits: int) -> tuple[float, float]:
    """How a step divides its level between the whole candidate and each of its parts."""
    return share(len(salvage_plan(edits, run.settings.gate.salvage)))


async def salvage(run: Run, state: State, outcome: Outcome) -> Outcome:
    """The outcome with the best accepted part in the place of the rejected whole, or as it was.

    At most ``gate.salvage`` parts are judged: halves, then single edits, best-ranked first. Edits that are not in the kept
    part end as ``left_out``.
    """
    current = state.current.text.text
    places = [i for i, report in enumerate(outcome.reports) if report.status in APPLIED]
    parts = salvage_plan(len(places), run.settings.gate.salvage)
    if not parts or outcome.verdict is None:
        return outcome
    level = share(len(parts))[1]
    tried: list[Tried] = []
    found: list[Outcome] = []
    for part in parts:
        applied = apply_edits(current, [outcome.reports[places[i]].edit for i in part])
        if len(applied.texts) < len(part):
            continue  # an edit that only stands on top of another one
        judged = replace(outcome, texts=applied.texts, **await run.judge(applied.text, state, share=level))
        assert judged.verdict is not None
        tried.append(Tried(tuple(places[i] for i in part), judged.verdict))
        found.append(replace(judged, reports=_left_out(outcome.reports, places, part)))
    best = best_part([one.verdict for one in tried])
    kept = found[best] if best is not None else outcome
    return replace(kept, whole=outcome.verdict, tried=tuple(tried))


def _left_out(reports: tuple[EditReport, ...], places: list[int], part: tuple[int, ...]) -> tuple[EditReport, ...]:
    kept = {places[i] for i in part}
    detail = "the step was accepted without it"
    return tuple(
        EditReport(report.edit, "left_out", detail) if i in places and i not in kept else report
        for i, report in enumerate(reports)
    )
