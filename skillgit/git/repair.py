"""Rebuild the notes of a skill from its journal: a rebase or a squash button drops them, and a clone has none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skillgit.git.notes import Notes
from skillgit.git.publish import publish_notes
from skillgit.record import rejected_note
from skillgit.scores import parse_line

if TYPE_CHECKING:
    from skillgit.git.history import SkillHistory
    from skillgit.git.journal import JournalEntry

Wanted = tuple[str, str, str]
"""(namespace, object id, a piece of text that its note must hold)"""


def repair(history: SkillHistory) -> dict[str, int]:
    """Put back what the journal says and the notes lack; how many pieces were missing in each namespace.

    Notes are only added to. Scores outside of any training (``skillgit eval``) are not in the journal, and are measured
    again when they are asked for.
    """
    stores = {namespace: Notes(history.repo, namespace) for namespace in ("rejected", "scores", "meta")}
    missing: dict[str, dict[str, list[str]]] = {namespace: {} for namespace in stores}
    for entry in reversed(list(history.journal.entries())):
        for namespace, oid, piece in _wanted(history.name, entry):
            pieces = missing[namespace].setdefault(oid, [])
            held = stores[namespace].get(oid) + "".join(pieces)
            if piece not in held and not (namespace == "scores" and _items(piece) <= _items(held)):
                pieces.append(piece)
    additions = {
        namespace: {oid: "".join(pieces) for oid, pieces in found.items() if pieces}
        for namespace, found in missing.items()
    }
    if any(additions.values()):
        publish_notes(history.repo, additions, f"notes of {history.name} rebuilt")
    return {namespace: sum(map(len, found.values())) for namespace, found in missing.items()}


def _items(note: str) -> set[tuple[str, ...]]:
    """The scores in a note, one by one: the same ones may stand in other lines."""
    found = set()
    for record in filter(None, map(parse_line, note.splitlines())):
        where = (record["env"], record["target"], str(record["sample"]))
        found |= {(*where, task, *map(str, values)) for task, values in record["items"].items()}
    return found


def _wanted(name: str, entry: JournalEntry) -> Iterator[Wanted]:
    record = entry.record
    if entry.action == "reject":
        yield "rejected", entry.current, rejected_note(name, record, entry.patch)
    candidate = record.get("candidate") or (record["current"] if entry.kind == "baseline" else None)
    if candidate:
        for line in entry.read("scores.jsonl").splitlines(keepends=True):
            yield "scores", candidate["blob"], line
    if entry.kind == "baseline":
        for line in entry.read("best.jsonl").splitlines(keepends=True):
            yield "scores", record["best"]["blob"], line
    if entry.kind == "epoch" and entry.meta:
        yield "meta", entry.current, entry.meta if entry.meta.endswith("\n") else f"{entry.meta}\n"
