from __future__ import annotations

from skillgit import console
from skillgit.commands._options import Json


def run(as_json: Json = False) -> None:
    """The bundled environments; each is a start for a skill of your own.

    Example: skillgit init dates --env dates

    JSON: a list of {name, summary, path}.
    """
    from skillgit.env import bundled
    from skillgit.scaffold import summary_of

    rows = [{"name": name, "summary": summary_of(folder), "path": str(folder)} for name, folder in bundled().items()]
    if as_json:
        return console.emit(rows)
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        console.lines(console.wrap(row["summary"], f"{row['name']:<{width}}  "))
    console.say("\nskillgit init NAME --env ENV makes a skill from one of them")
    return None
