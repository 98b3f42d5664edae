from __future__ import annotations

from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, Name, Overrides, repository


def run(
    name: Name,
    override: Overrides = None,
    explain: Annotated[bool, typer.Option("--explain", help="what each key means")] = False,
    as_json: Json = False,
) -> None:
    """The settings in force, each with where it comes from: default, env.yaml or the command line.

    Example: skillgit config dates --explain

    JSON: a list of {key, value, origin, description}.
    """
    import json

    from skillgit import config
    from skillgit.workspace import skill_folder

    with repository() as repo:
        loaded = config.load(skill_folder(repo, name) / "env.yaml", override or ())
    texts = config.descriptions()
    if as_json:
        rows = [{"key": k, "value": v, "origin": o, "description": texts.get(k, "")} for k, v, o in loaded.rows()]
        return console.emit(rows)
    table = [[key, json.dumps(value, ensure_ascii=False), origin] for key, value, origin in loaded.rows()]
    for line, (key, *_) in zip(console.align(table), table, strict=True):
        console.say(line)
        if explain:
            console.lines(console.wrap(texts.get(key, ""), "    "))
    return None
