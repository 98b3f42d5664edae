"""OfficeQA's questions as tasks. They are given out by their owner only, so there is nothing to fetch: PATH is your own copy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skillgit.errors import TaskError
from skillgit.sources import Row, Source

from .documents import names

LICENCE = "CC BY-SA (data); the answers are gated by their owner: do not publish them"
SIZES = {"train": 50, "selection": 24, "test": 172}


def prepare(source: Source) -> Iterator[dict[str, Any]]:
    for number, row in enumerate(source.rows(), start=1):
        name = _first(row, "uid", "id")
        task = {"id": name, "input": _first(row, "question"), "answer": _first(row, "ground_truth", "answer")}
        lacking = [key for key, value in task.items() if value == ""]
        if lacking:
            raise TaskError(f"row {name or number} of OfficeQA lacks {', '.join(lacking)}; it has {', '.join(row)}")
        yield {
            **task,
            "type": _first(row, "category", "difficulty"),
            "split": row.get("split", ""),
            "source_files": names(row.get("source_files")),
            "source_docs": names(row.get("source_docs")),
        }


def _first(row: Row, *keys: str) -> str:
    return next((str(row[key]).strip() for key in keys if row.get(key) not in (None, "")), "")
