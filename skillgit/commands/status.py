from __future__ import annotations

from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, history_of, repository
from skillgit.completing import skills


def run(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="a skill; all of them by default", autocompletion=skills)
    ] = "",
    as_json: Json = False,
) -> None:
    """Where each training stands, what comes next, and who holds the lock.

    Example: skillgit status dates

    JSON: {skill, trained, missing, run, epoch, step, last, finished, current, best, outside, unchanged, moved_by_hand, test,
    lock}; without NAME a list of them. missing is {what, next} where the branch or the journal of a training is not here.
    """
    from skillgit.inspecting import status
    from skillgit.views.runs import status_lines
    from skillgit.workspace import skill_names

    with repository() as repo:
        names = [name] if name else skill_names(repo)
        data = [status(history_of(repo, one)) for one in names]
    if as_json:
        return console.emit(data[0] if name else data)
    if not data:
        console.say("there are no skills here; skillgit init NAME makes one")
    for number, one in enumerate(data):
        console.lines([""] * bool(number) + status_lines(one))
    return None
