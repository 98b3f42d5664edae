"""What the page tells, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from skillgit.inspecting import rejections, status
from skillgit.patchfile import unified_diff
from skillgit.reporting.curve import Point, points

if TYPE_CHECKING:
    from skillgit.git.history import SkillHistory
    from skillgit.git.journal import JournalEntry
    from skillgit.git.log import LogEntry

MOST_EDITS = 500
MOST_COLUMNS = 200


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the skill and the commit that wrote it; ``made`` is None for what was there before the training."""

    text: str
    made: LogEntry | None


@dataclass(frozen=True, slots=True)
class EditShown:
    """A commit of the branch with its diff."""

    commit: LogEntry
    diff: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """What each judged entry fixed (+1) and broke (-1): task -> column -> value. ``columns`` are (name, action)."""

    columns: tuple[tuple[str, str], ...]
    cells: Mapping[str, Mapping[int, int]]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything on the page."""

    name: str
    status: Mapping[str, Any]
    points: Sequence[Point]
    lines: Sequence[Line]
    edits: Sequence[EditShown]
    left_out: int
    rejected: Sequence[Mapping[str, Any]]
    matrix: Matrix
    costs: Sequence[Mapping[str, Any]]


def collect(history: SkillHistory) -> Report:
    """The report of a trained skill."""
    entries = list(history.journal.entries())[::-1]
    commits = list(history.log())
    return Report(
        history.name,
        status(history),
        points(entry.record for entry in entries),
        _lines(history, {commit.oid: commit for commit in commits}),
        [_edit(history, commit) for commit in islice(commits, MOST_EDITS)],
        max(0, len(commits) - MOST_EDITS),
        list(rejections(history)),
        matrix(entry.record for entry in entries[-10 * MOST_COLUMNS :]),
        costs(entries),
    )


def _edit(history: SkillHistory, commit: LogEntry) -> EditShown:
    parent = commit.parents[0] if commit.parents else None
    held = parent is not None and history.repo.entry(parent, history.path) is not None
    before = history.text(parent) if parent and held else ""
    return EditShown(commit, unified_diff(before, history.text(commit.oid), history.path))


def _lines(history: SkillHistory, commits: Mapping[str, LogEntry]) -> list[Line]:
    """The current skill by ``git blame``."""
    tip = history.resolve(history.name)
    told = history.repo.git("blame", "--line-porcelain", "--first-parent", tip, "--", history.path)
    found: list[Line] = []
    oid = ""
    for line in told.stdout.decode("utf-8", "replace").split("\n"):
        if line.startswith("\t"):
            found.append(Line(line[1:].rstrip("\r"), commits.get(oid)))
        elif len(word := line.split(" ", 1)[0]) in (40, 64) and all(c in "0123456789abcdef" for c in word):
            oid = word
    return found


def matrix(records: Any) -> Matrix:
    """Tasks that moved at least once, the one that moved most often first."""
    judged = [record for record in records if record.get("verdict")][-MOST_COLUMNS:]
    cells: dict[str, dict[int, int]] = {}
    columns = []
    for place, record in enumerate(judged):
        number = record["epoch"] if record["kind"] == "epoch" else record["step"]
        columns.append((f"{record['kind']} {number}", str(record["action"])))
        moved = record["verdict"]["movement"]
        for sign, tasks in ((1, moved["fixed"]), (-1, moved["broken"])):
            for task in tasks:
                cells.setdefault(task, {})[place] = sign
    order = sorted(cells, key=lambda task: (-len(cells[task]), task))
    return Matrix(tuple(columns), {task: cells[task] for task in order})


def costs(entries: Sequence[JournalEntry]) -> list[dict[str, Any]]:
    """Calls, tokens and money by stage and role; an unknown price makes its sum unknown."""
    sums: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in entries:
        for row in entry.spend.get("spent", []):
            empty = {"stage": row["stage"], "role": row["role"], "calls": 0, "tokens": 0, "usd": 0.0}
            kept = sums.setdefault((row["stage"], row["role"]), empty)
            kept["calls"] += row["calls"]
            kept["tokens"] += row["input_tokens"] + row["output_tokens"]
            kept["usd"] = None if kept["usd"] is None or row["usd"] is None else kept["usd"] + row["usd"]
    return sorted(sums.values(), key=lambda row: -row["tokens"])
