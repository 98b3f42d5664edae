"""LiveMathematicianBench's months, or normalised items, as tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skillgit.errors import TaskError
from skillgit.sources import Row, Source, local_rows

LICENCE = "none stated by the site's repository, MIT by the author's copy on the hub; theorems are under their papers' licences"
SIZES = {"train": 35, "selection": 17, "test": 125}
MONTHS = "**/qa_*_final.json"


def prepare(source: Source) -> Iterator[dict[str, Any]]:
    path = source.path
    months = sorted(path.glob(MONTHS)) if path and not (path / "train").is_dir() else []
    rows = (row for month in months for row in local_rows(month)) if months else source.rows()
    for row in rows:
        yield _task(row)


def _task(row: Row) -> dict[str, Any]:
    name = row.get("id") or f"{row.get('month')}:{row.get('no')}"
    mcq = row.get("mcq") or row
    right, others, question = mcq.get("correct_choice"), mcq.get("choices"), mcq.get("question")
    if not isinstance(right, Mapping) or not isinstance(others, list) or not question:
        raise TaskError(f"item {name} lacks a question, choices or correct_choice")
    choices = {choice["label"]: choice["text"] for choice in [right, *others]}
    kinds = row.get("theorem_type") or "unknown"
    return {
        "id": name,
        "input": question,
        "answer": right["label"],
        "type": kinds if isinstance(kinds, str) else str(kinds[0]),
        "split": row.get("split", ""),
        "choices": [{"label": label, "text": choices[label]} for label in sorted(choices)],
        "weaker": (mcq.get("meta") or {}).get("weaker_true_label") or "",
        "theorem": row.get("theorem") or "",
        "sketch": row.get("sketch") or "",
        "paper": row.get("paper_link") or "",
    }
