"""Lines of a skill with who wrote them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillgit.console import align, paint


def blame_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Commit, place and evidence once for each run of lines, then the lines."""
    table, before = [], ""
    for row in rows:
        same = row["commit"] == before
        before = row["commit"]
        tasks = f"{len(row['evidence'])} tasks" if row["evidence"] else ""
        cells = ["", "", ""] if same else [row["commit"][:10], _place(row), tasks]
        table.append([*cells, str(row["line"]), row["text"]])
    return [
        paint(line, "" if row["kind"] != "base" else "dim") for row, line in zip(rows, _aligned(table), strict=True)
    ]


def _aligned(table: list[list[str]]) -> list[str]:
    left = align([row[:4] for row in table], right=(2, 3))
    width = max(map(len, left), default=0)
    return [f"{head.ljust(width)}  {row[4]}".rstrip() for head, row in zip(left, table, strict=True)]


def _place(row: Mapping[str, Any]) -> str:
    if row["kind"] == "person":
        return "by hand"
    number = row["epoch"] if row["kind"] == "epoch" else row["step"]
    return f"{row['kind']} {number}" if number is not None else str(row["kind"])
