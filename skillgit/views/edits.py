"""Edits as people read them: one with its diff and what it moved, two revisions, what was rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from skillgit.console import align, paint, wrap
from skillgit.views.entries import WORDS, bucket_text

CHANGED = frozenset({"applied", "applied_fuzzy", "appended_no_anchor"})


def show_lines(data: Mapping[str, Any]) -> list[str]:
    """A commit with its message, trailers and diff, and what the journal knows of its step."""
    head = paint(data["subject"], "bold")
    lines = [f"{paint(data['commit'][:12], 'yellow')}  {head}" if data["commit"] else head]
    lines += ["", *data["body"].splitlines()] if data["body"] else []
    lines += ["", *_pairs(data["trailers"])] if data["trailers"] else []
    lines += ["", *(coloured(data["diff"]) or ["the text was not changed"])]
    return [*lines, "", *_step(data)] if data["entry"] else lines


def _step(data: Mapping[str, Any]) -> list[str]:
    entry, verdict = data["entry"], data["verdict"]
    number = entry["epoch"] if entry["kind"] == "epoch" else entry["step"]
    place = f"run {entry['run']} {entry['kind']} {number}"
    lines = [f"{place}: {WORDS.get(entry['action'], entry['action'])}: {entry['reason']}"]
    lines += verdict_text(verdict) if verdict else []
    return [*lines, *_proposed(data["edits"])]


def verdict_text(verdict: Mapping[str, Any]) -> list[str]:
    """The scores of a verdict, and how the tasks moved."""
    low, high = verdict["interval"]
    scores = f"{verdict['before']:.4f} -> {'≤' if verdict['upper_bound'] else ''}{verdict['after']:.4f}"
    moved = verdict["movement"]
    return [
        f"  score     {scores} ({verdict['delta']:+.4f}, 95 % [{low:+.3f}, {high:+.3f}])",
        *_named("fixed", moved["fixed"]),
        *_named("broken", moved["broken"]),
        f"  unchanged {moved['unchanged']}",
    ]


def _named(what: str, tasks: Sequence[str]) -> list[str]:
    return wrap(f"{len(tasks)}: {' '.join(tasks)}" if tasks else "0", f"  {what:<9} ")


def _proposed(edits: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every edit of the step, with how it ended: the one that is shown had company."""
    if not edits:
        return []
    buckets = {"proposed": len(edits), **Counter(row["status"] for row in edits)}
    rows = [[f"    {row.get('commit', '')[:10] or row['status'].replace('_', ' ')}", edit_text(row)] for row in edits]
    return [f"  edits     {bucket_text(buckets)}", *align(rows)]


def edit_text(edit: Mapping[str, Any], width: int = 60) -> str:
    """An edit in a few words: ``append: say which form the answers have``."""
    text = " ".join((edit.get("title") or edit.get("content") or edit.get("target") or "").split())
    return f"{edit['op']}: {text if len(text) <= width else text[: width - 1] + '…'}"


def _pairs(trailers: Mapping[str, str]) -> list[str]:
    """Trailers in columns; long lists of tasks are wrapped."""
    width = max(map(len, trailers))
    return [line for key, value in trailers.items() for line in wrap(value, f"  {key:<{width}}  ")]


def coloured(diff: str) -> list[str]:
    """The lines of a unified diff, coloured on a terminal."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return [
        paint(line, "bold" if line.startswith(("+++ ", "--- ", "diff ")) else colours.get(line[:1], ""))
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
        kind = row.get("kind", "step")
        place = f"run {row['run']} {kind} {row['epoch'] if kind == 'epoch' else row['step']}"
        lines.append(f"- {place} on {row['on'][:10]}: {row['before']:.4f} -> {row['after']:.4f} ({row['reason']})")
        lines += [f"    {edit_text(edit)}" for edit in row["edits"] if edit.get("status") in CHANGED]
    return lines
