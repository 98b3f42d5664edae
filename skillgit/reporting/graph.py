"""The history drawn with characters: steps with their edits, epochs as the merges they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from skillgit.inspecting import TAKEN, People
from skillgit.views.edits import edit_text
from skillgit.views.entries import WORDS

if TYPE_CHECKING:
    from skillgit.git.history import SkillHistory
    from skillgit.git.journal import JournalEntry


def graph_lines(history: SkillHistory, *, rejected: bool) -> Iterator[str]:
    """Newest first. ``*`` is on the branch, ``x`` was tried in vain; an epoch's side branch joins where it was squashed."""
    people = People(history)
    for entry in history.journal.entries():
        yield from (f"~ {commit.oid[:10]} by hand: {commit.subject}" for commit in people.after(entry.current))
        if entry.action in TAKEN or entry.kind in ("baseline", "final"):
            yield from _epoch(history, entry) if entry.kind == "epoch" else _taken(entry)
        elif rejected:
            yield f"x {_head(entry)}"
    yield from (f"~ {commit.oid[:10]} by hand: {commit.subject}" for commit in people.after(people.base))


def _taken(entry: JournalEntry) -> Iterator[str]:
    yield f"* {_head(entry)}"
    rows = [row for row in entry.patch if row.get("commit")]
    yield from (f"|   {row['commit'][:10]} {edit_text(row)}" for row in reversed(rows))


def _epoch(history: SkillHistory, entry: JournalEntry) -> Iterator[str]:
    yield f"*   {_head(entry)}"
    yield "|\\"
    side = history.repo.ref(history.epoch_ref(f"{entry.run}-{entry.epoch}"))
    for row in reversed(entry.patch):
        yield f"| * {side[:10] if side else '?' * 10} {edit_text(row)}"
    yield "|/"


def _head(entry: JournalEntry) -> str:
    record: dict[str, Any] = entry.record
    verdict = record.get("verdict")
    number = {"step": entry.step, "epoch": entry.epoch}.get(entry.kind)
    name = f"{entry.kind} {number}" if number is not None else f"run {entry.run}"
    said = WORDS.get(entry.action, entry.action)
    if verdict:
        limit = "≤" if verdict["upper_bound"] else ""
        return f"{name} {said} {limit}{verdict['after']:.4f} ({verdict['delta']:+.4f})"
    score = f" {record['current']['hard']:.4f}" if entry.kind in ("baseline", "final") else ""
    return f"{name} {said}{score}"
