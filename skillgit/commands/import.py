from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, repository
from skillgit.errors import UsageError


def run(
    kind: Annotated[str, typer.Argument(metavar="skill|skillopt", help="what is imported")],
    path: Annotated[Path, typer.Argument(metavar="PATH", help="a skill, a prompt file, or the folder of a run")],
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="the skill's name here")] = "",
    as_json: Json = False,
) -> None:
    """Adopt a skill or prompt file, or a run folder of SkillOpt with its whole history. No file is overwritten.

    Example: skillgit import skillopt ~/skillopt/outputs/searchqa qa

    JSON: {written, kept, notes} of a skill; {skill, steps, accepted, commits, by_hand, best} of a run.
    """
    if kind == "skill":
        return _skill(path, name, as_json)
    if kind != "skillopt":
        raise UsageError(f"'{kind}' cannot be imported; known: skill, skillopt", hint="skillgit import --help")
    if not name:
        raise UsageError("name the skill that the run becomes", hint=f"skillgit import skillopt {path} NAME")
    return _run(path, name, as_json)


def _skill(path: Path, name: str, as_json: bool) -> None:
    from skillgit.importing.adopt import adopt

    with repository() as repo:
        made = adopt(repo, path, name)
    if as_json:
        return console.emit(made.as_dict())
    console.lines([f"made {one}" for one in made.written] + [f"kept {one}" for one in made.kept] + list(made.notes))
    folder = "/".join((*made.written, *made.kept)[0].split("/")[:2])
    console.say(f"\nnext: git add {folder} && git commit -m 'Add the skill' && skillgit doctor")
    return None


def _run(path: Path, name: str, as_json: bool) -> None:
    from skillgit.config import check_name
    from skillgit.importing.run_folder import read_run
    from skillgit.importing.skillopt import import_run

    folder = read_run(path)
    with repository() as repo:
        done = import_run(repo, check_name(name), folder)
    if as_json:
        return console.emit(asdict(done))
    console.say(f"{name}: {done.steps} steps, {done.accepted} accepted, {done.commits} commits on skill/{name}")
    if done.by_hand:
        console.say(f"{done.by_hand} changes touch what no edit may touch; they are commits without trailers")
    console.say(f"\nnext: skillgit log {name} --rejected; skillgit export {name} -o SKILL.md")
    return None
