"""How an answer with edits becomes patches, and what becomes of the edits in it that are none. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillgit.document import clean
from skillgit.edit import ANCHORED
from skillgit.skill import Edit, EditReport, Patch, Pattern, parse_edit
from skillgit.stages.answers import rows, text
from skillgit.stages.modes import MODES, Wording

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Proposals:
    """What reflection proposed: a patch for each minibatch that had something to say.

    ``reminders`` are notes for the appendix, ``unreadable`` reports the proposed edits that are none, ``fallbacks`` what
    went wrong on the way.
    """

    patches: tuple[Patch, ...]
    unreadable: tuple[EditReport, ...] = ()
    fallbacks: tuple[str, ...] = ()
    reminders: tuple[Edit, ...] = ()

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The failure patterns of all minibatches, equal ones as one, the most frequent first."""
        found: dict[str, Pattern] = {}
        for new in (pattern for patch in self.patches if patch.source == "failure" for pattern in patch.patterns):
            key = new.pattern.casefold()
            old = found.get(key)
            ids = tuple(dict.fromkeys((*old.task_ids, *new.task_ids))) if old else ()
            found[key] = replace(old, count=old.count + new.count, task_ids=ids) if old else new
        return tuple(sorted(found.values(), key=lambda pattern: -pattern.count))


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reflection said: a patch, reminders, and reports for the edits that are none."""

    patch: Patch
    unreadable: tuple[EditReport, ...] = ()
    reminders: tuple[Edit, ...] = ()


def read_reflection(data: Row, source: str, shown: Sequence[str], mode: Wording = MODES["patch"]) -> Reading:
    """What the answer of a reflection means; ``shown`` are the minibatch's task ids.

    An edit that names none of the tasks shown rests on all of them. Raises ValueError when a list is no list.
    """
    read, unreadable = read_edits(mode.edits(data), mode.ops)
    edits = [_shown(replace(edit, source=source), shown) for edit, _ in read]
    patterns = [_pattern(row, shown) for row in rows(data["patterns"], "patterns") if isinstance(row, Mapping)]
    reasoning = text(data["reasoning"], "reasoning")
    patch = Patch(tuple(edits), reasoning, source, tuple(p for p in patterns if p.pattern))
    found = rows(data.get("reminders"), "reminders")
    notes = [_reminder(row, shown) for row in found if isinstance(row, Mapping)]
    return Reading(patch, unreadable, tuple(note for note in notes if note.content))


def _shown(edit: Edit, shown: Sequence[str]) -> Edit:
    """The edit with the evidence that was really there."""
    named = tuple(task_id for task_id in edit.evidence if task_id in shown)
    return replace(edit, evidence=named or tuple(shown))


def _reminder(row: Row, shown: Sequence[str]) -> Edit:
    note = text(row.get("text"), "text")
    named = row.get("task_ids")
    ids = tuple(str(task_id) for task_id in named) if isinstance(named, list) else ()
    return _shown(Edit("remind", note, title=f"remind: {' '.join(note.split())}", source="lapse", evidence=ids), shown)


def read_edits(value: Any, ops: Sequence[str] = ANCHORED) -> tuple[list[tuple[Edit, Row]], tuple[EditReport, ...]]:
    """The edits in an answer, each with the row it was read from, and a report for each row that is none."""
    edits: list[tuple[Edit, Row]] = []
    unreadable: list[EditReport] = []
    for row in rows(value, "edits"):
        parsed = parse_edit(row, ops)
        if isinstance(parsed, Edit):
            edits.append((parsed, row))
        else:
            written = clean(json.dumps(row, ensure_ascii=False, default=str))
            unreadable.append(
                EditReport(Edit("append", written, title="an edit that cannot be read"), "invalid", parsed)
            )
    return edits, tuple(unreadable)


def _pattern(row: Row, shown: Sequence[str]) -> Pattern:
    named = row.get("task_ids")
    ids = tuple(dict.fromkeys(str(i) for i in named if str(i) in shown)) if isinstance(named, list) else ()
    count = row.get("count")
    counted = count if isinstance(count, int) and 0 < count <= len(shown) else max(1, len(ids))
    kind = row.get("kind")
    words = " ".join(text(row.get("pattern"), "pattern").split())
    return Pattern(words, int(counted), ids, kind if kind in ("defect", "lapse") else "")
