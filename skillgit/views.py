"""Records as the lines and rows that people read. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillgit.console import align, count, duration, money, paint, scored, signed

if TYPE_CHECKING:
    from skillgit.plan import Plan

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


def plan_lines(plan: Plan) -> list[str]:
    """The plan as a small table, with what it may cost at most."""
    sizes = ", ".join(f"{name} {size}" for name, size in plan.splits.items())
    steps = f"{plan.steps} step{'s'[: plan.steps != 1]}"
    head = f"plan: {plan.epochs} epoch{'s'[: plan.epochs != 1]}, {steps} (so {steps.replace('step', 'proposal')}); tasks: {sizes}"
    rows = [[f"  {row.stage}", row.role, f"{row.calls} calls", f"{count(row.tokens)} tokens"] for row in plan.rows]
    cost = ", ".join(f"{role} {money(usd)}" for role, usd in plan.usd.items())
    return [head, *align(rows, right=(2, 3)), f"  at most, estimated: {cost}", ""]


def entry_row(record: Mapping[str, Any], spend: Mapping[str, Any], steps: int = 0) -> list[str]:
    """One journal entry as cells: mark, where, what, score, delta, edits, calls, tokens, cost, time."""
    action = record["action"]
    return [
        MARKS.get(action, " "),
        _where(record, steps),
        WORDS.get(action, action),
        _score(record),
        _delta(record),
        _edits(record),
        *_spent(spend),
    ]


def _where(record: Mapping[str, Any], steps: int) -> str:
    if record["kind"] == "step":
        return f"step {record['step']}" + (f"/{steps}" if steps else "")
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
    return f"{done}/{edits['proposed']} edits"


def _spent(spend: Mapping[str, Any]) -> list[str]:
    rows = spend.get("spent", [])
    calls = sum(row["calls"] for row in rows)
    tokens = sum(row["input_tokens"] + row["output_tokens"] for row in rows)
    unknown = any(row["usd"] is None for row in rows)
    usd = None if unknown else sum(row["usd"] for row in rows)
    seconds = sum(spend.get("seconds", {}).values())
    return [f"{calls} calls", f"{count(tokens)} tok", money(usd), duration(seconds)]


def spent_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Calls and money of a run so far: ``152 calls $0.0210``."""
    calls = sum(row["calls"] for row in rows)
    usd = None if any(row["usd"] is None for row in rows) else sum(row["usd"] for row in rows)
    return f"{calls} calls {money(usd)}"


WIDTHS = (1, 11, 9, 7, 7, 10, 10, 10, 8, 6)


def entry_line(record: Mapping[str, Any], spend: Mapping[str, Any], steps: int = 0) -> str:
    """One journal entry as a line of fixed columns, with what fell back."""
    cells = entry_row(record, spend, steps)
    numbers = {3, 4, 5, 6, 7, 8, 9}
    padded = [c.rjust(w) if i in numbers else c.ljust(w) for i, (c, w) in enumerate(zip(cells, WIDTHS, strict=True))]
    line = " ".join(padded).rstrip()
    remarks = list(record.get("fallbacks", ()))
    if record.get("parse_failures"):
        remarks.append(
            f"{record['parse_failures']} answers of the optimizer could not be used and were asked for again"
        )
    return "\n".join([line, *(f"    {text}" for text in remarks)])


def bucket_text(edits: Mapping[str, int]) -> str:
    """Every bucket that occurs: ``6 proposed: 2 applied, 4 over budget``."""
    parts = [f"{number} {status.replace('_', ' ')}" for status, number in edits.items() if status != "proposed"]
    return f"{edits['proposed']} proposed" + (f": {', '.join(parts)}" if parts else "")


def summary_lines(summary: Mapping[str, Any]) -> list[str]:
    """How a run ended: scores of the three versions, steps, spend."""
    versions = {role: summary[role] for role in ("initial", "best", "current")}
    test = summary["test"]
    rows = [["", "selection", "test (untouched until now)" if test else "test: not evaluated"]]
    for role, version in versions.items():
        label = f"{role} {version['commit'][:10]}"
        rows.append([label, f"{version['hard']:.4f}  n={version['n']}", scored(test[role]) if test else ""])
    lines = align(rows)
    types = test.get("best", {}).get("types") if test else None
    if types:
        before = test["initial"].get("types", {})
        lines += ["", "best by task type (test):"]
        lines += align(
            [[f"  {k}", f"{before[k]['hard']:.3f} -> {v['hard']:.3f}", f"n={v['n']}"] for k, v in types.items()]
        )
    spend = summary["spend"]
    tokens = spend["input_tokens"] + spend["output_tokens"]
    did = ", ".join(f"{number} {WORDS.get(action, action)}" for action, number in summary["steps"].items())
    lines += ["", f"{did or 'no steps'}; {spend['calls']} calls, {count(tokens)} tokens, {money(spend['usd'])}"]
    if summary["unchanged"]:
        lines += ["the skill is UNCHANGED: no proposed edit passed the gate"]
    return lines


def spend_rows(stages: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Spend by stage as rows."""
    return [
        [
            row["stage"],
            row["role"],
            str(row["calls"]),
            count(row["input_tokens"] + row["output_tokens"]),
            money(row["usd"]),
        ]
        for row in stages
    ]


def log_line(row: Mapping[str, Any]) -> str:
    """One row of the log."""
    if "record" in row:
        return entry_line(row["record"], row["spend"])
    return f"~ {row['commit'][:10]}  {row['subject']}  (by hand)"


def show_lines(data: Mapping[str, Any]) -> list[str]:
    """A commit with its message, trailers, diff and movement."""
    lines = [f"{paint(data['commit'][:12], 'yellow')}  {paint(data['subject'], 'bold')}"]
    lines += ["", *data["body"].splitlines()] if data["body"] else []
    lines += ["", *align([[f"  {key}", value] for key, value in data["trailers"].items()])] if data["trailers"] else []
    lines += ["", *coloured(data["diff"])]
    verdict = data["verdict"]
    if verdict:
        moved = verdict["movement"]
        low, high = verdict["interval"]
        lines += ["", f"its step: {verdict['reason']}; difference {verdict['delta']:+.4f} [{low:+.3f}, {high:+.3f}]"]
        lines += [f"  fixed    {len(moved['fixed'])}: {' '.join(moved['fixed'])}".rstrip(": ")]
        lines += [f"  broken   {len(moved['broken'])}: {' '.join(moved['broken'])}".rstrip(": ")]
        lines += [f"  unchanged {moved['unchanged']}"]
    return lines


def coloured(diff: str) -> list[str]:
    """The lines of a unified diff, coloured on a terminal."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return [
        paint(line, "bold" if line.startswith(("+++", "---", "diff ")) else colours.get(line[:1], ""))
        for line in diff.splitlines()
    ]


def diff_lines(data: Mapping[str, Any]) -> list[str]:
    """The text difference, then the score difference task by task."""
    lines = coloured(data["diff"]) or ["the text is the same"]
    if not data["compared"]:
        return [*lines, "", "no task was scored with both; skillgit eval scores a revision"]
    (before, after), n = data["hard"], data["compared"]
    lines += ["", f"hard {before:.4f} -> {after:.4f} ({after - before:+.4f}) on the {n} tasks scored with both"]
    rows = [[f"  {row['task']}", f"{row['before'][0]:g} -> {row['after'][0]:g}"] for row in data["moved"]]
    return [*lines, *align(rows)]


def rejected_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rejected-edit buffer, newest first."""
    lines: list[str] = []
    for row in rows:
        where = (
            f"run {row['run']} {row.get('kind', 'step')} {row['epoch'] if row.get('kind') == 'epoch' else row['step']}"
        )
        lines.append(f"- {where} on {row['on'][:10]}: {row['before']:.4f} -> {row['after']:.4f} ({row['reason']})")
        for edit in row["edits"]:
            if edit.get("status") in ("applied", "applied_fuzzy", "appended_no_anchor"):
                text = " ".join((edit.get("title") or edit.get("content") or edit.get("target") or "").split())
                lines.append(f"    {edit['op']}: {text[:90]}")
    return lines


def status_lines(data: Mapping[str, Any]) -> list[str]:
    """Where a training stands, and the next command."""
    name = data["skill"]
    if not data["trained"]:
        return [f"{name}: not trained yet", f"next: skillgit train {name}"]
    last = data["last"]
    done = "complete" if data["finished"] else f"after step {data['step']} of epoch {data['epoch']}"
    lines = [f"{name}: run {data['run']}, {done} ({WORDS.get(last['action'], last['action'])}: {last['reason']})"]
    rows = []
    for role in ("current", "best"):
        one = data[role]
        test = (data["test"] or {}).get(role)
        tested = f"test {scored(test)}" if test else ""
        rows.append([f"  {role}", one["commit"][:10], f"selection {one['hard']:.4f}  n={one['n']}", tested])
    lines += align(rows)
    lines += ["  UNCHANGED: no edit has passed the gate so far"] if data["unchanged"] else []
    lines += ["  the branch was moved by hand; the next run scores its tip afresh"] if data["moved_by_hand"] else []
    lines += [f"  being trained by {data['lock']}"] if data["lock"] else []
    again = f"skillgit train {name}" + (" --new-run" if data["finished"] else "")
    return [*lines, f"next: {again}" if not data["lock"] else f"next: skillgit log {name}"]
