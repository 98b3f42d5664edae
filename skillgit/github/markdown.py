"""What the actions write, as GitHub's Markdown. Text of models and people is fenced, so that it is shown and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from skillgit.console import count, money

LONGEST_DIFF = 20_000
"""Characters of a diff that a comment holds; GitHub takes 65,536 in all."""
MOST_TASKS = 50
WORDS = {"accept": "better", "accept_new_best": "better", "reject": "not better", "undecided": "undecided"}


def gated(data: Mapping[str, Any], diff: str) -> str:
    """One skill of a pull request: what the gate says of its new text, and on what grounds."""
    verdict, spend = data["verdict"], data["spend"]
    moved, (low, high) = verdict["movement"], verdict["interval"]
    rows = [
        f"| selection tasks | {verdict['before']:.4f} -> {verdict['after']:.4f} (n = {verdict['evaluated']}) |",
        f"| difference, 95 % | {verdict['delta']:+.4f} [{low:+.3f}, {high:+.3f}] |",
        f"| tasks | {len(moved['fixed'])} fixed, {len(moved['broken'])} broken, {moved['unchanged']} unchanged |",
        f"| gate | {verdict['policy']}: {cell(verdict['reason'])} |",
        f"| target | {cell(data['target'])} |",
        f"| cost | {spend['calls']} calls, {count(spend['input_tokens'] + spend['output_tokens'])} tokens, "
        f"{money(spend['usd'])} |",
    ]
    head = f"### `{data['skill']}`: {WORDS.get(verdict['action'], verdict['action'])}"
    parts = [head, "| | |\n|---|---|\n" + "\n".join(rows)]
    parts += [folded(f"{what} tasks", listed(moved[what])) for what in ("fixed", "broken") if moved[what]]
    return "\n\n".join([*parts, folded("the change", fenced(diff, "diff"))])


def added(data: Mapping[str, Any]) -> str:
    """A skill that the base does not have: its own score, with nothing to compare it to."""
    scores = data["scores"]
    low, high = scores["interval"]
    line = f"{scores['hard']:.4f} [{low:.3f}, {high:.3f}] on n = {scores['n']} selection tasks, with {cell(data['target'])}"
    return f"### `{data['skill']}`: new\n\nThere is no earlier text to beat. It scores {line}."


def verified(skill: str, commit: str, claimed: float, scores: Mapping[str, Any], holds: bool) -> str:
    """A claim of a commit's trailers beside what was measured."""
    low, high = scores["interval"]
    found = f"{scores['hard']:.4f} [{low:.3f}, {high:.3f}] on n = {scores['n']} selection tasks"
    word = "holds" if holds else "does NOT hold"
    return (
        f"### `{skill}`: the recorded score {word}\n\n`{commit[:10]}` claims {claimed:.4f}; measured afresh: {found}."
    )


def trained(name: str, summary: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """The text of a training's pull request: scores, and a line for each edit that was accepted."""
    test, spend = summary.get("test") or {}, summary["spend"]
    table = ["| | commit | selection | test (held out) |", "|---|---|---|---|"]
    for role in ("initial", "best", "current"):
        version = summary[role]
        selection = f"{version['hard']:.4f} n = {version['n']}"
        table.append(f"| {role} | `{version['commit'][:10]}` | {selection} | {_tested(test.get(role))} |")
    edits = [f"- `{row['commit'][:10]}` {cell(row['title'])}" for row in rows]
    tokens = count(spend["input_tokens"] + spend["output_tokens"])
    cost = f"Spent so far: {spend['calls']} calls, {tokens} tokens, {money(spend['usd'])}."
    review = f"Each commit is one edit with its evidence. Merge it, or take edits back first: `skillgit revert {name}@COMMIT`."
    return "\n\n".join([f"Trained `{name}`.", "\n".join(table), "\n".join(edits), cost, review])


def _tested(figures: Mapping[str, Any] | None) -> str:
    if not figures:
        return "not yet"
    low, high = figures["interval"]
    return f"{figures['hard']:.4f} [{low:.3f}, {high:.3f}] n = {figures['n']}"


def fenced(text: str, language: str = "") -> str:
    """A code block that text cannot end, shortened when it is very long."""
    if len(text) > LONGEST_DIFF:
        text = text[:LONGEST_DIFF].rpartition("\n")[0] + f"\n... {len(text) - LONGEST_DIFF} characters more"
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def folded(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def listed(names: Sequence[str]) -> str:
    """Names as code, so that none of them is a link, a mention or markup."""
    shown = [fenced_inline(name) for name in names[:MOST_TASKS]]
    more = f", and {len(names) - MOST_TASKS} more" if len(names) > MOST_TASKS else ""
    return ", ".join(shown) + more


def fenced_inline(text: str) -> str:
    return "`" + " ".join(text.replace("`", "'").split()) + "`"


def cell(text: str) -> str:
    """Text in a table's cell or a list: one line, as code."""
    return fenced_inline(text.replace("|", "\\|"))
