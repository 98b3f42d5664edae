"""What a check of tasks says, and where tasks go, as people read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillgit.console import align, paint

if TYPE_CHECKING:
    from skillgit.taskset.check import TasksReport
    from skillgit.taskset.placing import Placed

COLOURS = {"error": "red", "warning": "yellow"}
MOST_NAMED = 5


def report_lines(report: TasksReport) -> list[str]:
    """The numbers, and then each finding."""
    sizes = ", ".join(f"{name} {count}" for name, count in report.splits.items())
    margin = f"; the test score is known to ±{100 * report.test_margin:.0f} points" if report.test_margin else ""
    errors = sum(finding.severity == "error" for finding in report.findings)
    warnings = len(report.findings) - errors
    return [
        f"{report.skill}: {report.tasks} tasks: {sizes}{margin}",
        *_kinds("types", report.types),
        *_kinds("answers", {name: found["counts"] for name, found in report.answers.items() if _closed(report, name)}),
        f"judge {report.judge['kind']}: {report.judge['checked']} tasks tried{_skipped(report.judge)}",
        *_gate_lines(report.gate, report.splits["selection"]),
        *(
            f"{paint(found.severity, COLOURS[found.severity])}: {found.message}{_named(found.tasks)} [{found.rule}]"
            for found in report.findings
        ),
        f"{errors} errors, {warnings} warnings" if report.findings else "clean",
    ]


def _closed(report: TasksReport, name: str) -> bool:
    return bool(report.answers[name]["distinct"]) and report.answers[name]["distinct"] <= report.splits[name] / 4


def _skipped(judge: Mapping[str, Any]) -> str:
    return f" ({judge['skipped']})" if judge["skipped"] else ""


def _kinds(what: str, counted: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    rows = [
        [f"  {split}", ", ".join(f"{_short(kind)} {count}" for kind, count in list(kinds.items())[:8])]
        for split, kinds in counted.items()
        if kinds
    ]
    if rows:
        yield f"{what}:"
        yield from align(rows)


def _gate_lines(gate: Mapping[str, Any], selection: int) -> Iterator[str]:
    repeats = f", {gate['repeats']} repeats" if gate["repeats"] > 1 else ""
    yield (
        f"gate {gate['policy']} with {selection} selection tasks{repeats}, if {gate['noise']:.0%} of them come out differently "
        "by chance:"
    )
    for name in ("first", "last"):
        if name in gate:
            found = gate[name]
            gain = (
                "no gain is sure to be seen" if found["gain"] is None else f"a gain of {100 * found['gain']:.1f} points"
            )
            seen = gain if found["gain"] is None else f"{gain} is accepted in 4 of 5 cases"
            look = f"{name} of {gate['looks']} looks" if "last" in gate else "each look"
            yield f"  {look}: {seen}, an edit that does nothing in {found['useless']:.1%}"


def _named(ids: Sequence[str]) -> str:
    if not ids:
        return ""
    more = ", …" if len(ids) > MOST_NAMED else ""
    return f" ({', '.join(ids[:MOST_NAMED])}{more})"


def placed_lines(rows: Sequence[Placed]) -> list[str]:
    """A line for each task."""
    return align([[row.id, row.split, row.why] for row in rows])


def _short(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:24]}…"
