"""The form in which the optimizer proposes edits, and how an answer becomes a patch. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillgit.skill import Edit, EditReport, Patch, Pattern, parse_edit
from skillgit.stages.ask import TEXT, WHOLE, list_of, schema_of

NULLABLE: Mapping[str, Any] = {"type": ["string", "null"]}
EDIT = {
    "op": {"type": "string", "enum": ["append", "insert_after", "replace", "delete"]},
    "target": NULLABLE,
    "content": TEXT,
    "title": TEXT,
    "reasoning": TEXT,
}
REFLECT_SCHEMA = schema_of(
    patterns=list_of(schema_of(pattern=TEXT, count=WHOLE, task_ids=list_of(TEXT))),
    reasoning=TEXT,
    edits=list_of(schema_of(**EDIT, task_ids=list_of(TEXT))),
)
MERGE_SCHEMA = schema_of(reasoning=TEXT, edits=list_of(schema_of(**EDIT, sources=list_of(WHOLE))))


@dataclass(frozen=True, slots=True)
class Proposals:
    """What reflection proposed: a patch for each minibatch that had something to say.

    ``unreadable`` reports the proposed edits that are none, ``fallbacks`` what went wrong on the way.
    """

    patches: tuple[Patch, ...]
    unreadable: tuple[EditReport, ...] = ()
    fallbacks: tuple[str, ...] = ()

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The patterns of all minibatches, the most frequent first."""
        found = [pattern for patch in self.patches for pattern in patch.patterns]
        return tuple(sorted(found, key=lambda pattern: -pattern.count))


def read_reflection(data: Mapping[str, Any], source: str, shown: Sequence[str]) -> tuple[Patch, tuple[EditReport, ...]]:
    """The patch of a reflection, and reports for the edits that are none; ``shown`` are the minibatch's task ids.

    Raises ValueError when the lists are no lists.
    """
    edits, unreadable = read_edits(data["edits"])
    evidence = [tuple(i for i in edit.evidence if i in shown) or tuple(shown) for edit in edits]
    edits = [replace(e, source=source, evidence=ids) for e, ids in zip(edits, evidence, strict=True)]
    patterns = tuple(_pattern(row, shown) for row in _rows(data["patterns"], "patterns") if row.get("pattern"))
    return Patch(tuple(edits), str(data.get("reasoning") or ""), source, patterns), tuple(unreadable)


def read_edits(rows: Any) -> tuple[list[Edit], list[EditReport]]:
    """The edits in an answer, and a report for each that is none."""
    edits: list[Edit] = []
    unreadable: list[EditReport] = []
    if not isinstance(rows, list):
        raise ValueError(f"'edits' must be a list, not {type(rows).__name__}")
    for row in rows:
        parsed = parse_edit(row) if isinstance(row, Mapping) else f"an edit must be an object, not {row!r}"
        if isinstance(parsed, Edit):
            edits.append(parsed)
        else:
            kept = Edit("append", json.dumps(row, ensure_ascii=False, default=str), title="an edit that cannot be read")
            unreadable.append(EditReport(kept, "invalid", parsed))
    return edits, unreadable


def _rows(rows: Any, name: str) -> list[Mapping[str, Any]]:
    if not isinstance(rows, list):
        raise ValueError(f"'{name}' must be a list, not {type(rows).__name__}")
    return [row for row in rows if isinstance(row, Mapping)]


def _pattern(row: Mapping[str, Any], shown: Sequence[str]) -> Pattern:
    ids = tuple(str(i) for i in row.get("task_ids") or () if str(i) in shown)
    count = row.get("count")
    counted = count if isinstance(count, int) and 0 < count <= len(shown) else max(1, len(ids))
    return Pattern(" ".join(str(row["pattern"]).split()), counted, ids)
