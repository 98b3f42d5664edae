"""A person's or another tool's unified diff as edits of the skill, through the same checks and the same gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from skillgit.errors import RefusedError
from skillgit.opening import Subject
from skillgit.outside import bring_in
from skillgit.patchfile import edits_from_diff
from skillgit.record import buckets
from skillgit.session import interruptible
from skillgit.skill import APPLIED, apply_edits

if TYPE_CHECKING:
    from skillgit.git.repo import Repo
    from skillgit.report import Reporter


@dataclass(frozen=True)
class Proposal:
    """How a patch ended. ``action`` is what the gate said; ``edits`` counts its edits by status."""

    skill: str
    action: str
    reason: str
    before: float
    after: float
    edits: dict[str, int]
    commit: str

    def as_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


def apply_patch(repo: Repo, name: str, patch: str, reporter: Reporter, *, overrides: Sequence[str] = ()) -> Proposal:
    """Judge a unified diff against the current skill and commit it when it is accepted, one commit a hunk.

    Raises RefusedError when a hunk cannot be applied: a patch is taken whole or not at all.
    """
    subject = Subject.load(repo, name, overrides)
    return interruptible(_apply(subject, patch, reporter), hint=f"skillgit apply {name} FILE.patch")


async def _apply(subject: Subject, patch: str, reporter: Reporter) -> Proposal:
    current = subject.initial()[1].text
    edits = [replace(edit, source="patch") for edit in edits_from_diff(patch, current, subject.history.path)]
    applied = apply_edits(current, edits)
    refused = [report for report in applied.reports if report.status not in APPLIED]
    if refused:
        first = refused[0]
        place = applied.reports.index(first) + 1
        raise RefusedError(
            f"hunk {place} of {len(edits)} cannot be applied ({first.status.replace('_', ' ')}): {first.detail}",
            hint="nothing was changed; mend the patch and apply it again",
        )
    outcome, state = await bring_in(subject, current, applied, reporter)
    verdict = outcome.verdict
    assert verdict is not None
    scores, counts = (verdict.before, verdict.after), buckets(applied.reports)
    return Proposal(subject.name, verdict.action, verdict.reason, *scores, counts, state.current.commit)
