"""Journal entries as lines of fixed columns that fit 80 characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillgit.console import clock, count, money, signed

MARKS = {"accept": "+", "accept_new_best": "*", "forced": "!", "reject": "-", "skip": ".", "undecided": "?"}
WORDS = {
    "accept": "accepted",
    "accept_new_best": "new best",
    "forced": "forced",
    "reject": "rejected",
    "skip": "skipped",
    "undecided": "undecided",
    "baseline": "baseline",
    "final": "complete",
}
TINTS = {"accept": "green", "accept_new_best": "green", "forced": "yellow", "undecided": "yellow"}
TINTS |= {"reject": "dim", "skip": "dim"}
COLUMNS = {
    "": 1,
    "entry": 12,
    "gate": 9,
    "score": 7,
    "delta": 7,
    "edits": 5,
    "calls": 6,
    "tokens": 6,
    "cost": 8,
    "time": 6,
}
NUMBERS = 3
"""The first column that is a number and stands at the right."""


def heading() -> str:
    """The line above the entries."""
    return columns(list(COLUMNS))


def entry_line(record: Mapping[str, Any], spend: Mapping[str, Any], steps: int = 0) -> str:
    """One journal entry as a line, and under it what fell back; ``steps`` is the number of steps of the run."""
    action = record["action"]
    judged = [WORDS.get(action, action), _score(record), _delta(record), _edits(record)]
    line = columns([MARKS.get(action, ""), _name(record, steps), *judged, *_spent(spend)])
    return "\n".join([line, *(f"    {text}" for text in _remarks(record))])


def tint(record: Mapping[str, Any]) -> str:
    """The colour of an entry on a terminal, "" for none."""
    return TINTS.get(record.get("action", ""), "")


def log_line(row: Mapping[str, Any]) -> str:
    """One row of the log: a journal entry, or a person's commit."""
    if row["kind"] == "person":
        return columns(["~", row["commit"][:10], "by hand"]) + f"   {row['subject']}"
    return "\n".join([entry_line(row["record"], row["spend"]), *(f"    {worth_text(one)}" for one in row["worth"])])


def worth_text(row: Mapping[str, Any]) -> str:
    """The worth of a commit in a few words."""
    return f"worth {row['worth']:+.4f}: {row['title']}" if row["alone"] else f"others rest on it: {row['title']}"


def spent_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Calls and money of a run so far: ``152 calls $0.0210``."""
    return f"{sum(row['calls'] for row in rows)} calls {_price(dollars(rows))}"


def dollars(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """The sum of the rows' costs, None when one of them is unknown."""
    costs = [row["usd"] for row in rows]
    return None if None in costs else sum(costs)


def bucket_text(edits: Mapping[str, int]) -> str:
    """Every bucket that occurs: ``6 proposed: 2 applied, 4 over budget``."""
    parts = [f"{number} {status.replace('_', ' ')}" for status, number in edits.items() if status != "proposed"]
    return f"{edits['proposed']} proposed" + (f": {', '.join(parts)}" if parts else "")


def columns(cells: Sequence[str]) -> str:
    """Cells under their headings."""
    padded = [
        cell.rjust(width) if n >= NUMBERS else cell.ljust(width)
        for n, (cell, width) in enumerate(zip(cells, COLUMNS.values(), strict=False))
    ]
    return " ".join(padded).rstrip()


def _name(record: Mapping[str, Any], steps: int) -> str:
    if record["kind"] == "step":
        return f"step {record['step']}" + (f"/{steps}" if steps else "")
    if record["kind"] in ("baseline", "final"):
        return f"run {record['run']}"
    return f"epoch {record['epoch']}" if record["kind"] == "epoch" else str(record["kind"])


def _score(record: Mapping[str, Any]) -> str:
    judged = record.get("verdict")
    if judged:
        return f"{'≤' if judged['upper_bound'] else ''}{judged['after']:.4f}"
    return f"{record['current']['hard']:.4f}" if record["kind"] in ("baseline", "final") else ""


def _delta(record: Mapping[str, Any]) -> str:
    return signed(record["verdict"]["delta"]) if record.get("verdict") else ""


def _edits(record: Mapping[str, Any]) -> str:
    edits = record.get("edits")
    if not edits:
        return ""
    done = sum(edits.get(status, 0) for status in ("applied", "applied_fuzzy", "appended_no_anchor"))
    return f"{done}/{edits['proposed']}"


def _spent(spend: Mapping[str, Any]) -> list[str]:
    rows = spend.get("spent", [])
    calls = sum(row["calls"] for row in rows)
    tokens = sum(row["input_tokens"] + row["output_tokens"] for row in rows)
    seconds = sum(spend.get("seconds", {}).values())
    return [str(calls), count(tokens), _price(dollars(rows)), clock(seconds)]


def _price(usd: float | None) -> str:
    return "unpriced" if usd is None else money(usd)


def _remarks(record: Mapping[str, Any]) -> list[str]:
    remarks = list(record.get("fallbacks", ()))
    copied = record.get("copied", ())
    remarks += (f"copied from {one['task']}: '{one['text']}'" for one in copied)
    if record.get("parse_failures"):
        remarks.append(
            f"{record['parse_failures']} answers of the optimizer could not be used and were asked for again"
        )
    return remarks
