"""What the gate says, as people read it: a verdict, its calibration, and what each edit is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgit.console import align, count, money
from skillgit.views.edits import verdict_text
from skillgit.views.entries import WORDS


def verdict_lines(data: Mapping[str, Any]) -> list[str]:
    """One revision against another."""
    verdict = data["verdict"]
    word = WORDS[verdict["action"]].replace("new best", "accepted")
    head = f"{data['revision']} against {data['against']} with {data['target']}"
    return [head, f"{word}: {verdict['reason']}", *verdict_text(verdict), spent_line(data["spend"])]


def calibration_lines(data: Mapping[str, Any]) -> list[str]:
    """The same revision twice."""
    verdict, looks = data["verdict"], data["looks"]
    rows = [["  policy", "one look", f"a run of {looks}"]]
    rows += [[f"  {name}", f"{rate['look']:.1%}", f"{rate['run']:.1%}"] for name, rate in data["rates"].items()]
    return [
        f"{data['revision']} twice with {data['target']}: {verdict['before']:.4f} and {verdict['after']:.4f}",
        f"{data['flipped']} of {data['tasks']} tasks came out differently",
        f"standard deviation of the difference of two scores: {data['noise']:.4f}",
        "chance of accepting an edit that does nothing:",
        *align(rows, right=(1, 2)),
        spent_line(data["spend"]),
    ]


def worth_lines(data: Mapping[str, Any]) -> list[str]:
    """What each change is worth, as a table."""
    rows = [["commit", "worth", "95 % interval", "kept", "cost", "change"]]
    for row in data["changes"]:
        rows.append([row["commit"][:10], *worth_cells(row), row["title"]])
    head = f"{data['skill']} ({data['commit'][:10]}): {data['score']:.4f} with everything"
    return [head, *align(rows, right=(1, 3, 4)), spent_line(data["spend"])]


def worth_cells(row: Mapping[str, Any]) -> list[str]:
    """Worth, interval, and the tasks kept and lost by a change; one that others rest on has none."""
    if not row["alone"]:
        return ["", "others rest on it", "", ""]
    low, high = row["interval"]
    return [f"{row['worth']:+.4f}", f"[{low:+.3f}, {high:+.3f}]", str(len(row["kept"])), str(len(row["cost"]))]


def spent_line(spend: Mapping[str, Any]) -> str:
    tokens = count(spend["input_tokens"] + spend["output_tokens"])
    return f"{spend['calls']} calls, {tokens} tokens, {money(spend['usd'])}"
