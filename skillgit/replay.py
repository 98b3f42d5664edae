"""The history of a skill without one of its changes: a revert in memory, by applying what came after it again. Pure.

An edit is applied again as it was recorded, so neighbours do not get in each other's way as in a merge of lines; an
epoch's end writes its guidance and its appendix again, and a person's commit is applied as a patch.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from skillgit.errors import SkillgitError
from skillgit.guidance import appendix_notes, guidance, with_appendix, with_guidance
from skillgit.patchfile import edits_from_diff, unified_diff
from skillgit.skill import APPLIED, Edit, apply_edits


@dataclass(frozen=True, slots=True)
class Change:
    """A commit of the skill branch: the text before and after it, and the edit that it records, if it is one.

    ``epoch``: it is the squash of an epoch's end.
    """

    commit: str
    before: str
    after: str
    edit: Edit | None = None
    epoch: bool = False
    title: str = ""


def without(changes: Sequence[Change], dropped: Collection[str]) -> str | None:
    """The last text as it would be without the commits in ``dropped``; None when what follows does not stand alone.

    ``changes`` is oldest first. A later change that finds its place no more, or would do nothing, needs a dropped one.
    """
    kept = next((place for place, change in enumerate(changes) if change.commit in dropped), None)
    if kept is None:
        return changes[-1].after if changes else None
    text = changes[kept].before
    for change in changes[kept:]:
        if change.commit in dropped:
            continue
        again = _again(text, change)
        if again is None:
            return None
        text = again
    return text


def taken_back(changes: Sequence[Change]) -> dict[str, str]:
    """The commits that a prune or a revert took back, each with the commit that did so.

    Such a commit leaves the text as it would be without one of the changes before it, which is how that one is found. A
    change that takes back a taking back brings the first one into force again.
    """
    found: dict[str, str] = {}
    for place, change in enumerate(changes):
        if change.edit is None or change.edit.source not in ("prune", "revert"):
            continue
        before = changes[:place]
        open_ = (one for one in reversed(before) if one.commit not in found)
        undone = next((one for one in open_ if without(before, {one.commit}) == change.after), None)
        if undone is None:
            continue
        found = {commit: by for commit, by in found.items() if by != undone.commit}
        found[undone.commit] = change.commit
    return found


def _again(text: str, change: Change) -> str | None:
    """The change made to another text, None when it cannot be."""
    if text == change.before:
        return change.after
    if change.epoch:
        written = guidance(change.after) if guidance(change.after) != guidance(change.before) else guidance(text)
        old, new = appendix_notes(change.before), appendix_notes(change.after)
        noted = text if old == new else with_appendix(text, new)
        return with_guidance(noted, written)
    try:
        edits = _as_edits(change) if change.edit is None or change.edit.op == "rewrite" else [change.edit]
        applied = apply_edits(text, edits, missing_anchor="append")
    except SkillgitError:
        return None
    if any(report.status not in APPLIED for report in applied.reports):
        return None
    lost = [report for report in applied.reports if report.status == "appended_no_anchor"]
    return None if lost and not _was_lost(change) else applied.text


def _as_edits(change: Change) -> list[Edit]:
    """A person's commit or a rewrite as edits, each with as much around it as makes its place unique.

    A rewrite must not bring back what it had only kept.
    """
    diff = unified_diff(change.before, change.after, "skill")
    return [replace(edit, source="patch") for edit in edits_from_diff(diff, change.before, "skill")]


def _was_lost(change: Change) -> bool:
    """Whether the edit found no anchor the first time, too."""
    edits = [change.edit] if change.edit else []
    reports = apply_edits(change.before, edits, missing_anchor="append").reports
    return any(report.status == "appended_no_anchor" for report in reports)
