"""The page: one file, no script, no request to anywhere. Everything that a model or a person wrote is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from skillgit.console import count, money
from skillgit.reporting.facts import EditShown, Line, Matrix, Report
from skillgit.reporting.svg import DARK, STYLE, curve
from skillgit.views.entries import WORDS

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
SECTIONS = {
    "score": "Score",
    "skill": "Skill",
    "edits": "Edits",
    "rejected": "Rejected",
    "tasks": "Tasks",
    "cost": "Cost",
}
EVIDENCE = ("Skill-Source", "Skill-Support", "Skill-Evidence", "Skill-Score", "Skill-Gate", "Skill-Longitudinal")


def page(report: Report) -> str:
    """The whole document."""
    style = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
    links = "".join(f'<a href="#{key}">{title}</a>' for key, title in SECTIONS.items())
    parts = {
        "score": [f'<div class="wide">{curve(report.points, f"score of {report.name} over its steps")}</div>'],
        "skill": _skill(report.lines),
        "edits": _edits(report),
        "rejected": _rejected(report.rejected),
        "tasks": _tasks(report.matrix),
        "cost": _cost(report.costs),
    }
    body = "\n".join(
        f'<section id="{key}"><h2>{SECTIONS[key]}</h2>\n' + "\n".join(lines) + "\n</section>"
        for key, lines in parts.items()
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="color-scheme" content="light dark">
<title>{escape(report.name)}: training report</title>
<style>{style}{STYLE}{DARK}</style>
</head>
<body>
<h1>{escape(report.name)}</h1>
<nav>{links}</nav>
{_tiles(report)}
{body}
</body>
</html>
"""


def _tiles(report: Report) -> str:
    state, points = report.status, report.points
    first, last = points[0], points[-1]
    done = "complete" if state["finished"] else f"at step {state['step']}"
    tried = [point for point in points if point.tried is not None]
    taken = sum(point.action.startswith("accept") or point.action == "forced" for point in tried)
    usd = [row["usd"] for row in report.costs]
    tiles = {
        f"run {state['run']}, {done}": f"{last.current:.4f}",
        "at the start": f"{first.current:.4f}",
        "best": f"{max(point.best for point in points if point.run == last.run):.4f}",
        "candidates accepted": f"{taken} of {len(tried)}",
        "spent": "unpriced" if None in usd else money(sum(usd)),
    }
    tests = (state["test"] or {}).get("best")
    if tests:
        tiles["best on the test tasks"] = f"{tests['hard']:.4f}"
    cells = "".join(f'<div class="tile"><b>{escape(value)}</b>{escape(name)}</div>' for name, value in tiles.items())
    return f'<div class="tiles">{cells}</div>'


def _skill(lines: Iterable[Line]) -> Iterator[str]:
    yield '<div class="wide"><table class="skill">'
    for line in lines:
        made = line.made
        where = (
            f'<a href="#c{made.oid[:12]}" title="{escape(made.subject)}">{_place(made.trailers)}</a>' if made else ""
        )
        new = ' class="new"' if made else ""
        yield f'<tr><td class="from">{where}</td><td{new}>{escape(line.text) or " "}</td></tr>'
    yield "</table></div>"


def _place(trailers: Mapping[str, str]) -> str:
    if "Skill-Step" in trailers:
        return escape(f"step {trailers['Skill-Step']}")
    return escape(f"epoch {trailers.get('Skill-Epoch', '')}") if "Skill-Run" in trailers else "by hand"


def _edits(report: Report) -> Iterator[str]:
    for edit in report.edits:
        yield from _edit(edit)
    if report.left_out:
        yield f"<p>{report.left_out} older edits are left out.</p>"
    if not report.edits:
        yield "<p>No edit was accepted.</p>"


def _edit(edit: EditShown) -> Iterator[str]:
    commit = edit.commit
    yield f'<details id="c{commit.oid[:12]}"><summary>{escape(commit.subject.partition(": ")[2] or commit.subject)}'
    yield f" <small>{_place(commit.trailers)} · {commit.oid[:10]}</small></summary>"
    yield f'<p class="said">{escape(commit.body)}</p>' if commit.body else ""
    known = [(key.removeprefix("Skill-"), commit.trailers[key]) for key in EVIDENCE if key in commit.trailers]
    if known:
        rows = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in known)
        yield f"<table>{rows}</table>"
    yield _diff(edit.diff)
    yield "</details>"


def _diff(diff: str) -> str:
    kinds = {"+": "add", "-": "del", "@": "hunk"}
    rows = []
    for line in diff.splitlines():
        if not line.startswith(("diff --git ", "--- ", "+++ ", "index ")):
            rows.append(f'<span class="{kinds.get(line[:1], "")}">{escape(line) or " "}</span>')
    return f"<pre>{''.join(rows)}</pre>"


def _rejected(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    none = True
    for row in rows:
        none = False
        kind = str(row.get("kind", "step"))
        place = f"run {row['run']} {kind} {row['epoch'] if kind == 'epoch' else row['step']}"
        yield f"<details><summary>{escape(place)}: {row['before']:.4f} → {row['after']:.4f}"
        yield f" <small>{escape(str(row.get('reason', '')))}</small></summary>"
        for edit in row["edits"]:
            yield from _tried(edit)
        yield "</details>"
    if none:
        yield "<p>No edit was rejected.</p>"


def _tried(edit: Mapping[str, Any]) -> Iterator[str]:
    """A rejected edit: what it was to take away, and to put in."""
    op, status = str(edit.get("op", "")), str(edit.get("status", "")).replace("_", " ")
    evidence = " ".join(str(task) for task in edit.get("evidence") or ())
    yield f'<p><span class="tag">{escape(op)}</span><span class="tag soft">{escape(status)}</span>'
    yield f"{escape(str(edit.get('title', '')))} <small>{escape(evidence)}</small></p>"
    yield f'<p class="said">{escape(str(edit["reasoning"]))}</p>' if edit.get("reasoning") else ""
    gone = str(edit.get("target") or "") if op in ("replace", "delete") else ""
    lines = [f"-{line}" for line in gone.splitlines()] + [
        f"+{line}" for line in str(edit.get("content") or "").splitlines()
    ]
    yield _diff("\n".join(lines))


def _tasks(found: Matrix) -> Iterator[str]:
    if not found.cells:
        yield "<p>No task has moved between two skills that were compared.</p>"
        return
    yield "<p><span class='fixed'>+ fixed</span>, <span class='broken'>− broken</span>; a column is a candidate, "
    yield "crossed out when it was rejected.</p>"
    heads = "".join(
        f'<th class="{escape(action)}" title="{escape(f"{name}: {WORDS.get(action, action)}")}">'
        f"{'<s>' if action == 'reject' else ''}{escape(_column(name))}{'</s>' if action == 'reject' else ''}</th>"
        for name, action in found.columns
    )
    yield f'<div class="wide"><table class="matrix"><thead><tr><th>task</th>{heads}</tr></thead><tbody>'
    for task, cells in found.cells.items():
        row = "".join(_cell(cells.get(place, 0)) for place in range(len(found.columns)))
        yield f"<tr><th>{escape(task)}</th>{row}</tr>"
    yield "</tbody></table></div>"


def _column(name: str) -> str:
    kind, _, number = name.partition(" ")
    return number if kind == "step" else f"{kind[:1].upper()}{number}"


def _cell(value: int) -> str:
    return {1: '<td class="fixed">+</td>', -1: '<td class="broken">−</td>'}.get(value, "<td></td>")


def _cost(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    heads = "".join(f'<th class="number">{name}</th>' for name in ("calls", "tokens", "cost"))
    yield f'<div class="wide"><table><thead><tr><th>stage</th><th>model</th>{heads}</tr></thead><tbody>'
    for row in rows:
        cells = (str(row["calls"]), count(row["tokens"]), money(row["usd"]))
        numbers = "".join(f'<td class="number">{escape(cell)}</td>' for cell in cells)
        yield f"<tr><td>{escape(row['stage'])}</td><td>{escape(row['role'])}</td>{numbers}</tr>"
    yield "</tbody></table></div>"
