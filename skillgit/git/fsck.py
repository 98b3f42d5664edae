"""Prove a training history: what the branch, the journal, best and the notes say must follow from each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillgit.errors import RepositoryError, SkillgitError
from skillgit.git import fsck_branch, fsck_journal
from skillgit.git.finding import Finding, error, warning
from skillgit.git.fsck_journal import place
from skillgit.git.history import SkillHistory
from skillgit.git.notes import Notes

if TYPE_CHECKING:
    from skillgit.git.journal import JournalEntry
    from skillgit.git.repo import Repo


def check(repo: Repo, name: str, path: str = "") -> Iterator[Finding]:
    """Everything that is wrong with the history of a skill; nothing when it is proven.

    ``path`` is the document (skills/NAME/SKILL.md by default). A skill that was never trained is a RepositoryError.
    """
    history = SkillHistory(repo, name, path)
    try:
        tip, best = history.tip(), history.best()
        entries = list(history.journal.entries())[::-1]
    except RepositoryError as damage:
        yield error(f"skill '{name}'", damage.message)
        return
    if tip is None and not entries:
        raise RepositoryError(f"skill '{name}' was never trained here", hint=f"skillgit train {name}")
    readable = [entry for entry in entries if _readable(entry)]
    yield from (
        error(place(entry), "record.yaml or patch.yaml cannot be read") for entry in entries if entry not in readable
    )
    yield from _refs(history, tip, best, readable)
    yield from fsck_journal.check(history, readable)
    if tip:
        yield from _branch(history, readable)
    yield from _notes(repo, readable)


def _readable(entry: JournalEntry) -> bool:
    try:
        return entry.patch is not None and {"current", "best"} <= set(entry.record)
    except SkillgitError:
        return False


def _branch(history: SkillHistory, entries: Sequence[JournalEntry]) -> Iterator[Finding]:
    try:
        commits = list(history.log())[::-1]
    except RepositoryError as damage:
        yield error(history.branch, damage.message)
        return
    yield from fsck_branch.check(history, commits, entries)


def _refs(
    history: SkillHistory, tip: str | None, best: str | None, entries: Sequence[JournalEntry]
) -> Iterator[Finding]:
    if tip is None:
        yield error(history.branch, "is missing, though there is a journal")
    if not entries:
        yield error(history.journal_ref, "is missing or empty, though there is a branch")
        return
    last = entries[-1].record
    if best != last["best"]["commit"]:
        yield error(history.best_ref, f"is at {_short(best)}, the journal says {_short(last['best']['commit'])}")
    if tip and not history.holds(tip, last["current"]["commit"]):
        yield error(history.branch, f"does not hold {_short(last['current']['commit'])}, the journal's current skill")


def _short(oid: str | None) -> str:
    return oid[:12] if oid else "nothing"


def _notes(repo: Repo, entries: Sequence[JournalEntry]) -> Iterator[Finding]:
    rejected, scores, meta = (Notes(repo, namespace) for namespace in ("rejected", "scores", "meta"))
    repair = "skillgit fsck --repair rebuilds it"
    for entry in entries:
        record = entry.record
        if entry.action == "reject" and not _noted(rejected.get(entry.current), record):
            yield warning(place(entry), f"no note under {rejected.ref} on {_short(entry.current)}; {repair}")
        candidate = record.get("candidate")
        if candidate and not candidate.get("upper_bound") and not scores.get(candidate["blob"]):
            yield warning(place(entry), f"no note under {scores.ref} on {_short(candidate['blob'])}; {repair}")
        if entry.kind == "epoch" and entry.meta and not meta.get(entry.current):
            yield warning(place(entry), f"no note under {meta.ref} on {_short(entry.current)}; {repair}")


def _noted(note: str, record: Mapping[str, Any]) -> bool:
    import yaml

    keys = ("run", "step", "kind")
    try:
        documents = list(yaml.safe_load_all(note))
    except yaml.YAMLError:
        return False
    wanted = [record.get(key) for key in keys]
    return any(isinstance(doc, dict) and [doc.get(key) for key in keys] == wanted for doc in documents)
