from __future__ import annotations

from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, Name, history_of, repository, trained


def run(
    name: Name,
    rejected: Annotated[bool, typer.Option("--rejected", help="also rejected and skipped steps")] = False,
    most: Annotated[int | None, typer.Option("-n", min=1, help="only the newest N")] = None,
    as_json: Json = False,
) -> None:
    """A line for each step, newest first: gate, score and delta, edits, calls, tokens, cost. Commits by people are shown too.

    Example: skillgit log dates --rejected
    """
    from skillgit.inspecting import log_rows
    from skillgit.views import log_line

    with repository() as repo:
        history = trained(history_of(repo, name))
        rows = log_rows(history, rejected=rejected, most=most)
        if as_json:
            return console.emit(rows)
        console.lines([log_line(row) for row in rows])
    return None
