from __future__ import annotations

from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, Name, repository


def run(
    name: Name,
    env: Annotated[str, typer.Option("--env", metavar="ENV", help="start from a bundled environment")] = "",
    from_repo: Annotated[
        str, typer.Option("--from-repo", metavar="PATH", help="mine the tasks from this repository's history")
    ] = "",
    as_json: Json = False,
) -> None:
    """Make skills/NAME with a skill, its settings and its tasks. A file that exists is never overwritten.

    Example: skillgit init commit-type --env commit-type --from-repo .

    JSON: {written, kept, notes}.
    """
    from skillgit.scaffold import init

    with repository() as repo:
        made = init(repo, name, env=env, from_repo=from_repo)
    if as_json:
        return console.emit(made.as_dict())
    console.lines([f"made {path}" for path in made.written] + [f"kept {path}" for path in made.kept])
    for line in made.notes:
        console.say(line)
    console.say(
        f"\nnext: git add skills/{name} && git commit -m 'Add the skill {name}' && skillgit train {name} --dry-run"
    )
    return None
