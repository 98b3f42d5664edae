"""Prune: drop the edits that are worth nothing, through the gate, where the shorter text wins a tie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillgit.attribution import Worth, attribute, changes_of, scores_of, worth_of
from skillgit.evaluate import bench
from skillgit.opening import Subject
from skillgit.outside import bring_in
from skillgit.replay import Change, without
from skillgit.session import interruptible
from skillgit.skill import Edit, apply_edits, body

if TYPE_CHECKING:
    from skillgit.git.repo import Repo
    from skillgit.report import Reporter


@dataclass(frozen=True, slots=True)
class Pruned:
    """Which edits were worth nothing, what the gate said of the skill without them, and what is left.

    ``action`` is "nothing" when every edit is worth something, "proposed" in a dry run, else the gate's.
    """

    skill: str
    action: str
    reason: str
    dropped: tuple[Worth, ...]
    before: float | None = None
    after: float | None = None
    commit: str = ""

    def as_dict(self) -> dict[str, Any]:
        rows = [row.as_dict() for row in self.dropped]
        facts = {"skill": self.skill, "action": self.action, "reason": self.reason, "dropped": rows}
        return {**facts, "before": self.before, "after": self.after, "commit": self.commit}


def prune(repo: Repo, name: str, reporter: Reporter, *, dry_run: bool = False, overrides: Sequence[str] = ()) -> Pruned:
    """Measure each edit's worth, and drop those that are worth nothing, one commit an edit, when the gate agrees.

    They are dropped together, the worst first: each one that is still worth nothing without those before it, so that of
    two that say the same one stays.
    """
    found = attribute(repo, name, reporter, overrides=overrides)
    subject = Subject.load(repo, name, overrides)
    changes = changes_of(subject.history)
    edits = edits_of(changes)
    if not edits:
        return Pruned(name, "nothing", "the skill has no accepted edits", ())
    idle = [row for row in found.rows if row.commit in edits and row.worth is not None and row.worth <= 0]
    hint = f"skillgit prune {name}"
    dropped = interruptible(_droppable(subject, changes, idle, reporter), hint=hint)
    if not dropped:
        return Pruned(name, "nothing", "every edit that stands alone is worth something", ())
    if dry_run:
        return Pruned(name, "proposed", "a dry run", dropped)
    work = _judge(subject, changes, dropped, reporter)
    return interruptible(work, hint=hint)


def edits_of(changes: Sequence[Change]) -> dict[str, Change]:
    """The accepted edits of the body by their commits: those that can be dropped."""
    left_out = ("prune", "revert")
    return {c.commit: c for c in changes if c.edit and c.edit.op != "remind" and c.edit.source not in left_out}


async def _droppable(
    subject: Subject, changes: Sequence[Change], idle: Sequence[Worth], reporter: Reporter
) -> tuple[Worth, ...]:
    """Those of the ``idle`` edits that are worth nothing or less without each other too, the worst first."""
    settings, by_commit, dropped = subject.env.settings, edits_of(changes), list[Worth]()
    reporter.stage("prune", len(subject.splits.selection) * len(idle[1:]))
    async with bench(subject, settings.models.target, reporter, "prune") as measuring:
        for row in sorted(idle, key=lambda row: row.worth or 0.0):
            gone = {other.commit for other in dropped}
            text = without(changes, {row.commit, *gone})
            if text is None:
                continue
            if dropped:
                rest = without(changes, gone)
                assert rest is not None
                pair = [await scores_of(subject, content, measuring.rollouts) for content in (rest, text)]
                row = worth_of(settings.gate, by_commit[row.commit], *pair)
            if (row.worth or 0.0) <= 0:
                dropped.append(row)
    return tuple(dropped)


async def _judge(subject: Subject, changes: Sequence[Change], dropped: Sequence[Worth], reporter: Reporter) -> Pruned:
    current = changes[-1].after
    applied = apply_edits(current, [_removal(changes, dropped[: count + 1]) for count in range(len(dropped))])
    outcome, state = await bring_in(subject, current, applied, reporter, pruning=True)
    verdict = outcome.verdict
    assert verdict is not None
    scores = (verdict.before, verdict.after)
    return Pruned(subject.name, verdict.action, verdict.reason, tuple(dropped), *scores, state.current.commit)


def _removal(changes: Sequence[Change], dropped: Sequence[Worth]) -> Edit:
    """The edit that takes the last of ``dropped`` out, after the others."""
    text = without(changes, {row.commit for row in dropped})
    assert text is not None
    last = dropped[-1]
    words = f"Without it the score changes by {-(last.worth or 0.0):+.4f} (n = {last.n})."
    return Edit("rewrite", body(text), title=f"drop '{last.title}'", reasoning=words, source="prune")
