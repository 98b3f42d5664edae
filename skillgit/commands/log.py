from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillgit import console
from skillgit.commands._options import NEWEST, Json, Most, Name, history_of, newest, repository, trained

if TYPE_CHECKING:
    from skillgit.git.history import SkillHistory


def run(
    name: Name,
    rejected: Annotated[bool, typer.Option("--rejected", help="also rejected and skipped steps")] = False,
    most: Most = NEWEST,
    graph: Annotated[
        bool, typer.Option("--graph", help="draw steps, edits and epochs, and the score above them")
    ] = False,
    plot: Annotated[str, typer.Option("--plot", metavar="FILE", help="the score curve as .svg or .png")] = "",
    as_json: Json = False,
) -> None:
    """A line for each step, newest first: gate, score and delta, edits that changed the text of those proposed, calls,
    tokens, cost, time. Commits by people are shown too. A score with ≤ is an upper bound: the evaluation stopped early.

    Example: skillgit log dates --rejected

    JSON: a list of {kind, when, commit, record, spend, worth}, as in the journal; kind is baseline, step, epoch, patch or
    final, worth what skillgit attribute found of each of its commits.
    A person's commit is {kind, when, commit, author, subject}, with kind person.
    """
    from skillgit.errors import UsageError
    from skillgit.inspecting import log_rows
    from skillgit.views.entries import heading, log_line, tint

    with repository() as repo:
        history = trained(history_of(repo, name))
        if (plot or graph) and as_json:
            raise UsageError("--json prints the log, --graph and --plot draw it; choose one")
        if plot or graph:
            return _drawn(history, rejected, most, graph, plot)
        rows = newest(log_rows(history, rejected=rejected), most)
        if as_json:
            return console.emit(list(rows))
        console.say(console.paint(heading(), "dim"))
        console.lines(console.paint(log_line(row), tint(row.get("record", {}))) for row in rows)
    return None


def _drawn(history: SkillHistory, rejected: bool, most: int, graph: bool, plot: str) -> None:
    from skillgit.reporting.curve import points, sparkline
    from skillgit.reporting.drawing import draw
    from skillgit.reporting.graph import graph_lines

    found = points([entry.record for entry in newest(history.journal.entries(), most)][::-1])
    if plot:
        draw(found, f"score of {history.name} over its steps", Path(plot))
        console.note(f"wrote {plot}")
    if graph:
        console.lines([*sparkline(found), ""])
        console.lines(newest(graph_lines(history, rejected=rejected), most))
