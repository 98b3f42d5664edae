"""A change from outside the loop, judged between two steps: a person's patch, a revert, a pruning."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from skillgit.errors import RaceError
from skillgit.opening import Subject, opened
from skillgit.record import Outcome, Rolled
from skillgit.train import begin

if TYPE_CHECKING:
    from skillgit.report import Reporter
    from skillgit.skill import Applied
    from skillgit.state import State

NOTHING = Rolled(0, 0, 0, 0.0, 0.0)


async def bring_in(
    subject: Subject, current: str, applied: Applied, reporter: Reporter, *, pruning: bool = False, gated: bool = True
) -> tuple[Outcome, State]:
    """Judge edits that were applied to the ``current`` text, and record how it ended.

    ``pruning``: see ``Run.judge``. Without ``gated`` they are taken, and the score is only recorded. Raises RaceError when
    the skill is another one by now.
    """
    async with opened(subject, reporter) as run:
        await run.preflight()
        state = await begin(run)
        if state.current.text.text != current:
            raise RaceError(
                f"the skill '{run.name}' changed meanwhile; nothing was written", hint="run the command again"
            )
        outcome = Outcome(state.epoch, state.step, None, NOTHING, (), applied.reports, applied.texts, (), kind="patch")
        with run.stage("gate", len(run.splits.selection)):
            if gated:
                outcome = replace(outcome, **await run.judge(applied.text, state, pruning=pruning))
            else:
                outcome = replace(outcome, forced=True, **await run.score(applied.text))
        return outcome, run.recorder.step(state, outcome)
