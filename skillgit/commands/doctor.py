from __future__ import annotations

from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json
from skillgit.completing import skills

COLOURS = {"ok": "green", "warning": "yellow", "failed": "red"}


def run(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="also this skill and its models", autocompletion=skills)
    ] = "",
    as_json: Json = False,
) -> int:
    """Check git, identity, models and keys (one tiny call each), and say how to mend what fails. Exits 1 if something failed.

    Example: skillgit doctor dates

    JSON: a list of {what, state, detail, mend}; state is ok, warning or failed.
    """
    from skillgit.doctor import examine

    rows = []
    for row in examine(name):
        rows.append(row)
        if not as_json:
            first, *more = console.wrap(row.detail, f"{row.state:<8} {row.what:<14} ")
            console.lines([console.paint(first[:8], COLOURS[row.state]) + first[8:], *more])
            if row.mend and row.state != "ok":
                console.say(f"{'':24}mend: {row.mend}")
    if as_json:
        console.emit([row.as_dict() for row in rows])
    return 1 if any(row.state == "failed" for row in rows) else 0
