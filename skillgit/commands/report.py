from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, Name, history_of, repository, trained


def run(
    name: Name,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="the page; NAME-report.html by default")
    ] = "",
    as_json: Json = False,
) -> None:
    """One page with the whole training: score curve, the skill with where each line is from, every edit with its diff and
    evidence, what was rejected, tasks that were fixed and broken, cost by stage. It needs no network and no script.

    Example: skillgit report dates -o report.html

    JSON: {skill, file, bytes, edits, rejected}.
    """
    from skillgit.files import write_whole
    from skillgit.reporting.facts import collect
    from skillgit.reporting.page import page

    with repository() as repo:
        report = collect(trained(history_of(repo, name)))
    data = page(report).encode("utf-8", "replace")
    path = Path(output or f"{name}-report.html")
    write_whole(path, data)
    if as_json:
        told = {"edits": len(report.edits), "rejected": len(report.rejected)}
        return console.emit({"skill": name, "file": str(path), "bytes": len(data), **told})
    return console.say(f"wrote {path}")
