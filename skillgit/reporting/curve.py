"""Score over steps: the points of a curve, and a sparkline of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BARS = "▁▂▃▄▅▆▇█"
MARKS = {"accept": "+", "accept_new_best": "*", "forced": "!", "reject": "-", "undecided": "?", "skip": "."}
TAKEN = ("accept", "accept_new_best", "forced")


@dataclass(frozen=True, slots=True)
class Point:
    """A journal entry on the curve.

    ``current`` and ``best`` are the scores after it, ``tried`` that of its candidate (None without one);
    ``at_most``: the evaluation stopped early, and ``tried`` is an upper bound.
    """

    run: int
    epoch: int
    step: int
    kind: str
    action: str
    current: float
    best: float
    tried: float | None = None
    at_most: bool = False

    @property
    def name(self) -> str:
        """How it is called: ``step 3``, ``epoch 1``, ``run 2``."""
        number = {"step": self.step, "epoch": self.epoch}.get(self.kind)
        return f"{self.kind} {number}" if number is not None else f"run {self.run} {self.kind}"


def points(records: Iterable[Mapping[str, Any]]) -> list[Point]:
    """The points of journal records, given oldest first, by the metric of their gate."""
    rows = [record for record in records if record["kind"] != "final"]
    found: list[Point] = []
    current = best = 0.0
    for place, record in enumerate(rows):
        verdict = record.get("verdict") or {}
        if record["kind"] == "baseline":
            current = _compared(rows[place + 1 :], record)
            best = max(best, current) if found and found[-1].run == record["run"] else current
        elif verdict and record["action"] in TAKEN:
            current = verdict["after"]
        if record["action"] == "accept_new_best":
            best = current
        tried = verdict.get("after")
        where = (record["run"], record.get("epoch", 0), record.get("step", 0), record["kind"], record["action"])
        found.append(Point(*where, current, best, tried, bool(verdict.get("upper_bound"))))
    return found


def _compared(later: Sequence[Mapping[str, Any]], record: Mapping[str, Any]) -> float:
    """What the first verdict after a baseline was compared with; records hold it by the gate's own metric."""
    for row in later:
        if row["run"] != record["run"] or row["kind"] == "baseline":
            break
        if row.get("verdict"):
            return float(row["verdict"]["before"])
    return float(record["current"]["hard"])


def sparkline(found: Sequence[Point], width: int = 60) -> list[str]:
    """The newest ``width`` points: a line of bars for the score that stood, and below it how each attempt ended."""
    shown = found[-width:]
    if not shown:
        return []
    values = [point.current for point in shown]
    low, high = min(values), max(values)
    span = high - low
    bars = "".join(BARS[round((value - low) / span * (len(BARS) - 1)) if span else 0] for value in values)
    marks = "".join(MARKS.get(point.action, " ") for point in shown)
    return [f"score {bars}  {values[0]:.4f} -> {values[-1]:.4f}", f"      {marks}".rstrip()]
