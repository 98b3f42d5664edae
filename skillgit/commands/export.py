from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, Revision, history_of, repository


def run(
    revision: Revision,
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="a file instead of stdout")] = "",
    plain: Annotated[bool, typer.Option("--plain", help="without the training markers")] = False,
    patch: Annotated[bool, typer.Option("--patch", help="the training as a unified diff against its base")] = False,
    as_json: Json = False,
) -> None:
    """The trained document (NAME@best unless a revision is named), ready to deploy.

    Example: skillgit export dates -o SKILL.md --plain

    JSON: {skill, commit, text}.
    """
    from skillgit.files import write_whole
    from skillgit.patchfile import unified_diff
    from skillgit.skill import deployable

    with repository() as repo:
        history = history_of(repo, revision)
        commit = history.resolve(revision if "@" in revision else f"{revision}@best")
        text = history.text(commit)
        if plain:
            text = deployable(text)
        if patch:
            text = unified_diff(history.text(history.base()), text, history.path)
    if output:
        write_whole(Path(output), text.encode("utf-8"))
        console.note(f"wrote {output}")
    if as_json:
        return console.emit({"skill": history.name, "commit": commit, "text": text})
    if output:
        return None
    return console.raw(text.encode("utf-8"))
