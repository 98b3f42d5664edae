from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json


def run(
    action: Annotated[
        str, typer.Argument(metavar="prepare", show_default=False, help="list them, or prepare one")
    ] = "",
    name: Annotated[str, typer.Argument(metavar="ENV", show_default=False, help="the environment to prepare")] = "",
    source: Annotated[
        Path | None,
        typer.Argument(metavar="SOURCE", show_default=False, help="your own download: a file or a folder"),
    ] = None,
    hub: Annotated[bool, typer.Option("--hub", help="fetch from the hub (pip install 'skillgit[hub]')")] = False,
    revision: Annotated[str, typer.Option("--revision", help="of the source; it is recorded")] = "",
    ids: Annotated[
        Path | None,
        typer.Option("--ids", metavar="PATH", help="which id is in which split: JSON, or a folder of splits"),
    ] = None,
    skill: Annotated[
        str, typer.Option("--skill", metavar="NAME", help="the skill it is for; else that named ENV")
    ] = "",
    as_json: Json = False,
) -> None:
    """The bundled environments; each is a start for a skill of your own.

    Example: skillgit envs prepare searchqa ~/searchqa.json

    prepare makes skills/NAME/data/tasks.jsonl from a benchmark's own data, which does not travel with skillgit.

    JSON: a list of {name, summary, path}; for prepare {tasks, fresh, environment, source, revision, licence, split_by, sizes,
    paper_sizes, sha256, splits}.
    """
    from skillgit.errors import UsageError

    if not action:
        return _list(as_json)
    if action != "prepare" or not name:
        raise UsageError(f"'envs {action}' is not known; allowed is: prepare ENV", hint="skillgit envs --help")
    if (source is None) != hub:
        raise UsageError(
            "prepare needs your own download or --hub, one of the two", hint=f"skillgit envs prepare {name} PATH"
        )
    return _prepare(name, source, revision, ids, skill or name, as_json)


def _list(as_json: bool) -> None:
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


def _prepare(env: str, source: Path | None, revision: str, ids: Path | None, skill: str, as_json: bool) -> None:
    from dataclasses import asdict

    from skillgit.commands._options import repository
    from skillgit.errors import RepositoryError
    from skillgit.preparing import prepare
    from skillgit.scaffold import environment_folder
    from skillgit.sources import Source
    from skillgit.workspace import FOLDER, skill_folder

    with repository() as repo:
        if repo.work_tree is None:
            raise RepositoryError("a bare repository has no working tree to write to", hint="prepare in a clone of it")
        into = skill_folder(repo, skill)
        made, fresh = prepare(environment_folder(env), Source(source, into, revision), ids)
    if as_json:
        return console.emit({"tasks": str(into / "data" / "tasks.jsonl"), "fresh": fresh, **asdict(made)})
    sizes = ", ".join(f"{split} {count}" for split, count in made.sizes.items())
    console.say(
        f"{'made' if fresh else 'unchanged'} {FOLDER}/{skill}/data/tasks.jsonl: {sizes} (split by {made.split_by})"
    )
    if made.paper_sizes and made.paper_sizes != made.sizes:
        console.say(f"the paper has {', '.join(f'{split} {count}' for split, count in made.paper_sizes.items())}")
    console.say(f"licence: {made.licence}; git ignores the data but for data/prepared.json, which lists the ids")
    console.say(f"\nnext: set tasks: data/tasks.jsonl in {FOLDER}/{skill}/env.yaml")
    return None
