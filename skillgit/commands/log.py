from __future__ import annotations

from itertools import islice
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
    """A line for each step, newest first: gate, score and delta, edits that changed the text of those proposed, calls,
    tokens, cost, time. Commits by people are shown too. A score with ≤ is an upper bound: the evaluation stopped early.

    Example: skillgit log dates --rejected

    JSON: a list of {kind, when, commit, record, spend, worth}, as in the journal; kind is baseline, step, epoch, patch or
    final, worth what skillgit attribute found of each of its commits.
    A person's commit is {kind, when, commit, author, subject}, with kind person.
    """
    from skillgit.inspecting import log_rows
    from skillgit.views.entries import heading, log_line, tint

    with repository() as repo:
        history = trained(history_of(repo, name))
        rows = islice(log_rows(history, rejected=rejected), most)
        if as_json:
            return console.emit(list(rows))
        console.say(console.paint(heading(), "dim"))
        console.lines(console.paint(log_line(row), tint(row.get("record", {}))) for row in rows)
    return None
