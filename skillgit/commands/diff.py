from __future__ import annotations

from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, Revision, history_of, repository, trained
from skillgit.completing import revisions


def run(
    old: Revision,
    new: Annotated[
        str,
        typer.Argument(metavar="[NAME@REV]", help="the other; the tip by default", autocompletion=revisions),
    ] = "",
    as_json: Json = False,
) -> None:
    """Two revisions of a skill: how the text differs, and how the known scores differ, task by task.

    Example: skillgit diff dates@base dates@best

    JSON: {skill, old, new, diff, compared, hard, soft, moved}; hard and soft are pairs of means over the compared tasks.
    """
    from skillgit.inspecting import difference
    from skillgit.views.edits import diff_lines

    with repository() as repo:
        history = trained(history_of(repo, old))
        data = difference(history, old, new or history.name)
    if as_json:
        return console.emit(data)
    console.lines(diff_lines(data))
    return None
