"""SearchQA's rows as tasks: from the hub, or from a materialised split or file of the same fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skillgit.errors import TaskError
from skillgit.sources import Source

HUB = "lucadiliello/searchqa"
LICENCE = (
    "none stated by the data set; the clues come from a quiz show, the snippets from a web search: for research only"
)
SIZES = {"train": 400, "selection": 200, "test": 1400}


def prepare(source: Source) -> Iterator[dict[str, Any]]:
    for row in source.rows(hub=HUB, splits=("train", "validation")):
        name = row.get("id") or row.get("key")
        golds = [str(gold) for gold in row.get("answers") or () if str(gold).strip()]
        if not name or not row.get("question") or not golds:
            raise TaskError(
                f"row {name or '?'} of SearchQA lacks one of key, question and answers; it has {', '.join(row)}"
            )
        task = {"id": name, "input": row["question"], "answer": golds, "type": "qa"}
        yield {**task, "context": row.get("context") or "", "split": row.get("split", "")}
