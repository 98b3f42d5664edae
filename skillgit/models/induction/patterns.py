"""What goes wrong again and again, in words for the log. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from skillgit.models.induction.lesson import Failure, code, ids, outline

LONGEST = 40  # characters of an answer that is quoted


def patterns(items: Sequence[Failure]) -> list[dict[str, Any]]:
    """Each failure in one pattern, the most frequent first."""
    shapes = {outline(item.answer) for item in items}
    answers = {item.answer for item in items}
    groups: dict[str, list[Failure]] = defaultdict(list)
    for item in items:
        groups[_pattern(item, shapes, answers)].append(item)
    rows = [{"pattern": text, "count": len(group), "task_ids": list(ids(group))} for text, group in groups.items()]
    return sorted(rows, key=lambda row: -int(row["count"]))


def _pattern(item: Failure, shapes: set[tuple[str, ...]], answers: set[str]) -> str:
    if not item.predicted:
        return "no answer"
    if item.answer != item.predicted and item.answer in item.predicted:
        return "the right answer among other words"
    if item.predicted in answers and len(item.answer) <= LONGEST:
        return f"{code(item.predicted)} where {code(item.answer)} is right"
    kind = f" ({item.type})" if item.type else ""
    return f"right form, wrong content{kind}" if outline(item.predicted) in shapes else f"another form{kind}"
