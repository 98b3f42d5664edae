from __future__ import annotations

from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json

COLOURS = {"ok": "green", "warning": "yellow", "failed": "red"}


def run(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="also check this skill and call its models")] = "",
    as_json: Json = False,
) -> int:
    """Check git, identity, models and keys (one tiny call each), and say how to mend what fails. Exits 1 if something failed.

    Example: skillgit doctor dates
    """
    from skillgit.doctor import examine

    rows = []
    for row in examine(name):
        rows.append(row)
        if not as_json:
            console.say(f"{console.paint(row.state.ljust(8), COLOURS[row.state])} {row.what.ljust(14)} {row.detail}")
            if row.mend and row.state != "ok":
                console.say(f"{'':23} mend: {row.mend}")
    if as_json:
        console.emit([row.as_dict() for row in rows])
    return 1 if any(row.state == "failed" for row in rows) else 0
