"""Does each commit of the skill branch do what its trailers and the journal say?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillgit.errors import SkillgitError
from skillgit.git.finding import Finding, error
from skillgit.git.fsck_journal import TAKEN, place
from skillgit.git.objects import TREE

if TYPE_CHECKING:
    from skillgit.git.history import SkillHistory
    from skillgit.git.journal import JournalEntry
    from skillgit.git.log import LogEntry
    from skillgit.git.repo import Repo

Steps = Mapping[tuple[str, str], Sequence[Mapping[str, Any]]]


def check(history: SkillHistory, commits: Sequence[LogEntry], entries: Sequence[JournalEntry]) -> Iterator[Finding]:
    """Findings in the commits, given oldest first. People's commits (without our trailers) may do anything."""
    steps = {(str(entry.run), str(entry.step)): _applied(entry) for entry in entries if entry.kind == "step"}
    yield from _complete(commits, entries, steps)
    for commit in commits:
        if "Skill-Run" not in commit.trailers:
            continue
        where = f"commit {commit.oid[:12]} ({commit.subject})"
        if len(commit.parents) != 1:
            yield error(where, f"has {len(commit.parents)} parents: the branch is not linear")
            continue
        yield from _paths(history, commit, where)
        try:
            before, after = history.text(commit.parents[0]), history.text(commit.oid)
            if commit.trailers.get("Skill-Kind") == "epoch":
                yield from _squash(history, commit, where, before, after)
            elif "Skill-Edit" in commit.trailers:
                yield from _edit(steps, commit, where, before, after)
        except SkillgitError as damage:
            yield error(where, damage.message)


def _complete(commits: Sequence[LogEntry], entries: Sequence[JournalEntry], steps: Steps) -> Iterator[Finding]:
    found = Counter(_step(commit) for commit in commits if {"Skill-Run", "Skill-Edit"} <= set(commit.trailers))
    for entry in entries:
        key = (str(entry.run), str(entry.step))
        if entry.kind == "step" and entry.action in TAKEN and found[key] != len(steps[key]):
            yield error(place(entry), f"accepted {len(steps[key])} edits, but the branch has {found[key]} of them")


def _step(commit: LogEntry) -> tuple[str, str]:
    return commit.trailers["Skill-Run"], commit.trailers.get("Skill-Step", "")


def _applied(entry: JournalEntry) -> list[Mapping[str, Any]]:
    from skillgit.skill import APPLIED

    return [row for row in entry.patch if row.get("status") in APPLIED]


def _paths(history: SkillHistory, commit: LogEntry, where: str) -> Iterator[Finding]:
    repo, parent = history.repo, commit.parents[0]
    for path in _changed(repo, repo.tree_of(parent), commit.tree):
        if path != history.path:
            yield error(where, f"changes {path}")
    old, new = (repo.file_mode(oid, history.path) for oid in (parent, commit.oid))
    if old != new:
        yield error(where, f"changes the mode of {history.path} from {old} to {new}")


def _changed(repo: Repo, old: str, new: str, prefix: str = "") -> Iterator[str]:
    """Paths that differ between two trees; a folder that came or went counts as one path."""
    if old == new:
        return
    before, after = ({entry.name: entry for entry in repo.objects.tree(tree)} for tree in (old, new))
    for name in sorted({*before, *after}):
        one, other = before.get(name), after.get(name)
        if one == other:
            continue
        if one and other and one.mode == other.mode == TREE:
            yield from _changed(repo, one.oid, other.oid, f"{prefix}{name}/")
        else:
            yield prefix + name


def _edit(steps: Steps, commit: LogEntry, where: str, before: str, after: str) -> Iterator[Finding]:
    from skillgit.skill import Edit, apply_edits

    reminds = commit.trailers.get("Skill-Op") == "remind"
    if _protected(before, reminds) != _protected(after, reminds):
        yield error(where, "changes a protected region")
    rows = steps.get(_step(commit), ())
    number, _, total = commit.trailers["Skill-Edit"].partition("/")
    if not number.isdecimal() or str(len(rows)) != total or not 0 < int(number) <= len(rows):
        yield error(where, f"is edit {commit.trailers['Skill-Edit']}, but the journal has {len(rows)} of that step")
        return
    edit = Edit.from_dict(dict(rows[int(number) - 1]))
    applied = apply_edits(before, [edit], missing_anchor="append")
    if applied.text != after:
        yield error(where, "the recorded edit, applied to the parent's skill, does not give this commit's skill")


def _squash(history: SkillHistory, commit: LogEntry, where: str, before: str, after: str) -> Iterator[Finding]:
    from skillgit.skill import body, frontmatter

    # a region that is new is set off by blank lines
    if body(before).rstrip() != body(after).rstrip() or frontmatter(before) != frontmatter(after):
        yield error(where, "changes more than the protected regions")
    ref = history.epoch_ref(f"{commit.trailers['Skill-Run']}-{commit.trailers.get('Skill-Epoch', '')}")
    side = history.repo.ref(ref)
    if side is None:
        yield error(where, f"its side branch {ref} is missing")
    elif history.text(side) != after:
        yield error(where, f"is not what its side branch {ref} ends with")


def _protected(text: str, reminds: bool) -> tuple[str, ...]:
    """The parts that an edit must leave alone; a reminder is for the appendix."""
    from skillgit.skill import regions

    found = regions(text)
    spans = (found.frontmatter, found.slow, None if reminds else found.appendix)
    return tuple(text[slice(*span)] if span else "" for span in spans)
