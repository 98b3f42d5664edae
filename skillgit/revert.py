"""Revert: take one edit back as a new commit, after the gate; what came after it stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillgit.attribution import changes_of
from skillgit.errors import RefusedError
from skillgit.opening import Subject
from skillgit.outside import bring_in
from skillgit.replay import Change, taken_back, without
from skillgit.session import interruptible
from skillgit.skill import APPLIED, Edit, apply_edits, body

if TYPE_CHECKING:
    from skillgit.git.repo import Repo
    from skillgit.report import Reporter


@dataclass(frozen=True, slots=True)
class Reverted:
    """What became of the wish to take ``reverted`` back; ``commit`` is the current skill afterwards."""

    skill: str
    reverted: str
    title: str
    action: str
    reason: str
    before: float
    after: float
    commit: str

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def revert(repo: Repo, spec: str, reporter: Reporter, *, gated: bool = True, overrides: Sequence[str] = ()) -> Reverted:
    """Take the edit ``NAME@REV`` back. Raises RefusedError when it is no edit, or when later ones rest on it."""
    subject = Subject.load(repo, spec.partition("@")[0], overrides)
    commit = subject.history.resolve(spec)
    changes = changes_of(subject.history)
    change = _edit(changes, commit, spec)
    if by := taken_back(changes).get(commit):
        raise RefusedError(
            f"'{change.title}' ({commit[:10]}) was taken back already, by {by[:10]}",
            hint=f"skillgit show {subject.name}@{by[:10]}",
        )
    text = without(changes, {commit})
    if text is None:
        raise RefusedError(
            f"'{change.title}' ({commit[:10]}) does not stand alone: later edits rest on it",
            hint=f"take those back first: skillgit log {subject.name}",
        )
    edit = Edit(
        "rewrite",
        body(text),
        title=f"revert '{change.title}'",
        reasoning=f"This takes back {commit}.",
        source="revert",
    )
    current = changes[-1].after
    applied = apply_edits(current, [edit])
    if applied.reports[0].status not in APPLIED:
        raise RefusedError(f"'{change.title}' ({commit[:10]}) cannot be taken back: {applied.reports[0].detail}")
    work = bring_in(subject, current, applied, reporter, pruning=True, gated=gated)
    outcome, state = interruptible(work, hint=f"skillgit revert {spec}")
    verdict, scores = outcome.verdict, outcome.scores
    assert scores is not None
    gate = subject.env.settings.gate
    after = verdict.after if verdict else float(scores.value(gate.metric, gate.mixed_weight))
    reason = verdict.reason if verdict else "taken without a gate"
    before = verdict.before if verdict else after
    return Reverted(
        subject.name, commit, change.title, outcome.action, reason, before, round(after, 6), state.current.commit
    )


def _edit(changes: Sequence[Change], commit: str, spec: str) -> Change:
    found = next((change for change in changes if change.commit == commit), None)
    if found is None:
        raise RefusedError(f"{spec} ({commit[:10]}) changes nothing on the skill branch", hint="skillgit log NAME")
    if found.epoch or (found.edit is not None and found.edit.op == "remind"):
        raise RefusedError(
            f"{spec} ({commit[:10]}) is no edit of the body, and only those can be taken back",
            hint="guidance and reminders are written anew at each epoch's end",
        )
    return found
