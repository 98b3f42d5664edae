"""Runs as people read them: the plan before, where one stands, how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillgit.console import align, count, money, scored
from skillgit.views.entries import WORDS

if TYPE_CHECKING:
    from skillgit.plan import Plan


def plan_lines(plan: Plan) -> list[str]:
    """The plan as a small table, with what it may cost at most."""
    sizes = ", ".join(f"{name} {size}" for name, size in plan.splits.items())
    steps = f"{plan.steps} step{'s'[: plan.steps != 1]}"
    head = f"plan: {plan.epochs} epoch{'s'[: plan.epochs != 1]}, {steps} (so {steps.replace('step', 'proposal')})"
    rows = [[f"  {row.stage}", row.role, f"{row.calls} calls", f"{count(row.tokens)} tokens"] for row in plan.rows]
    cost = ", ".join(f"{role} {money(usd)}" for role, usd in plan.usd.items())
    models = ", ".join(f"{role} {model}" for role, model in plan.models.items())
    return [head, f"tasks: {sizes}", f"models: {models}", *align(rows, right=(2, 3)), f"  at most, estimated: {cost}"]


def summary_lines(summary: Mapping[str, Any]) -> list[str]:
    """How a run ended: scores of the three versions, steps, spend."""
    test, spend = summary["test"], summary["spend"]
    rows = [["", "", "selection", "test (held out)" if test else "test: not evaluated"]]
    for role in ("initial", "best", "current"):
        version = summary[role]
        tested = scored(test[role]) if test else ""
        rows.append([role, version["commit"][:10], f"{version['hard']:.4f}  n={version['n']}", tested])
    did = ", ".join(f"{number} {WORDS.get(action, action)}" for action, number in summary["steps"].items())
    tokens = count(spend["input_tokens"] + spend["output_tokens"])
    total = f"{spend['calls']} calls, {tokens} tokens, {money(spend['usd'])}"
    lines = [*align(rows), *_by_type(test), "", f"{did or 'no steps'}; {total}"]
    if summary["unchanged"]:
        lines += ["the skill is UNCHANGED: no proposed edit passed the gate"]
    return lines


def _by_type(test: Mapping[str, Any]) -> list[str]:
    types = test.get("best", {}).get("types") if test else None
    if not types:
        return []
    before = test["initial"].get("types", {})
    rows = [[f"  {k}", f"{before[k]['hard']:.3f} -> {v['hard']:.3f}", f"n={v['n']}"] for k, v in types.items()]
    return ["", "best by task type (test):", *align(rows)]


def spend_lines(spend: Mapping[str, Any]) -> list[str]:
    """What each stage took."""
    rows = [["spend by stage", "", "calls", "tokens", "cost"]]
    for row in spend["stages"]:
        tokens = count(row["input_tokens"] + row["output_tokens"])
        rows.append([f"  {row['stage']}", row["role"], str(row["calls"]), tokens, money(row["usd"])])
    return align(rows, right=(2, 3, 4)) if len(rows) > 1 else []


def status_lines(data: Mapping[str, Any]) -> list[str]:
    """Where a training stands, and the next command."""
    name, missing = data["skill"], data["missing"]
    if missing:
        return [f"{name}: {missing['what']}", f"next: {missing['next']}"]
    if not data["trained"]:
        return [f"{name}: not trained yet", f"next: skillgit train {name}"]
    lines = [f"{name}: run {data['run']}, {_progress(data)}"]
    rows = [_version(role, data) for role in ("current", "best")]
    lines += align(rows)
    lines += ["  UNCHANGED: no edit has passed the gate so far"] if data["unchanged"] else []
    lines += ["  the branch was moved by hand; the next run scores its tip afresh"] if data["moved_by_hand"] else []
    if data["lock"]:
        return [*lines, f"  being trained by {data['lock']}", f"next: skillgit log {name}"]
    return [*lines, f"next: skillgit train {name}" + (" --new-run" if data["finished"] else "")]


def _progress(data: Mapping[str, Any]) -> str:
    last = data["last"]
    if data["finished"]:
        return "complete"
    said = f"{WORDS.get(last['action'], last['action'])}: {last['reason']}"
    if last["kind"] == "epoch":
        return f"after epoch {data['epoch']} ({said})"
    if data["outside"]:
        return f"after step {data['step']} and a change from outside ({said})"
    return f"after step {data['step']} ({said})" if data["step"] else f"at its start ({said})"


def _version(role: str, data: Mapping[str, Any]) -> Sequence[str]:
    one, test = data[role], (data["test"] or {}).get(role)
    return [
        f"  {role}",
        one["commit"][:10],
        f"selection {one['hard']:.4f}",
        f"n={one['n']}",
        f"test {scored(test)}" if test else "",
    ]


def runs_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line a run, and under it what was set otherwise than in the run before."""
    table = [["run", "steps", "accepted", "initial", "best", "test of best", "calls", "cost"]]
    for row in rows:
        steps, test = row["steps"], row["test"].get("best")
        accepted = steps.get("accept", 0) + steps.get("accept_new_best", 0)
        figures = [f"{row[role]['hard']:.4f}" for role in ("initial", "best")]
        tested = scored(test) if test else "not finished" if not row["finished"] else "not evaluated"
        spend = row["spend"]
        counts = [f"{sum(steps.values())}", f"{accepted}"]
        table.append([str(row["run"]), *counts, *figures, tested, f"{spend['calls']}", money(spend["usd"])])
    head, *lines = align(table, right=(0, 1, 2, 3, 4, 6, 7))
    out = [head]
    for row, line in zip(rows, lines, strict=True):
        out.append(line)
        if row is rows[0]:
            out.append(f"     {row['target']}, optimizer {row['optimizer']}")
        out += [f"     {key}: {_value(old)} -> {_value(new)}" for key, (old, new) in row["changed"].items()]
    return out


def _value(value: Any) -> str:
    return "unset" if value is None else str(value)
