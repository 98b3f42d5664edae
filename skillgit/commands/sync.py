from __future__ import annotations

from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, repository

WORDS = {
    "same": "up to date",
    "push": "pushed",
    "pull": "pulled",
    "theirs": "taken over from there",
    "diverged": "DIVERGED; nothing was changed",
}


def run(
    remote: Annotated[str, typer.Argument(metavar="REMOTE", help="the remote")] = "origin",
    theirs: Annotated[
        str, typer.Option("--theirs", metavar="NAME", help="of a diverged skill take the remote's line; ours is kept")
    ] = "",
    configure: Annotated[bool, typer.Option("--configure", help="have plain git fetch and push carry it all")] = False,
    as_json: Json = False,
) -> int:
    """Fetch and push trainings: skill branches, journals, best skills and notes. Notes of both sides are merged, branches are
    fast-forwarded, nothing is forced. Exits 1 when a skill has diverged.

    Example: skillgit sync origin

    JSON: {remote, skills, notes, kept}; skills maps a skill to same, push, pull, theirs or diverged. With --configure a list
    of the settings that were added.
    """
    from skillgit.git.sync import configure as set_up
    from skillgit.git.sync import sync

    with repository() as repo:
        if configure:
            added = set_up(repo, remote)
            if as_json:
                console.emit(added)
            else:
                console.lines([f"set {line}" for line in added] or ["everything was set already"])
            return 0
        done = sync(repo, remote, theirs=theirs)
    if as_json:
        console.emit(done.as_dict())
    else:
        console.lines(console.align([[f"{name}:", WORDS[way]] for name, way in done.skills.items()]))
        console.lines(f"notes of {namespace}: {what}" for namespace, what in done.notes.items())
        for name, ref in done.kept.items():
            path = f"skills/{name}/SKILL.md"
            console.say(f"your own line of {name} is kept in {ref}; to bring its edits in, through the gate:")
            console.say(f"  git diff -U1 skill/{name}...{ref} -- {path} | skillgit apply {name} -")
        if not done.skills and not done.notes:
            console.say(f"neither side has a training; {remote} is reached")
    diverged = [name for name, way in done.skills.items() if way == "diverged"]
    for name in diverged:
        console.error(
            f"skill/{name} has other commits here than in {remote}",
            f"skillgit sync {remote} --theirs {name} takes theirs, keeps yours, and says how to bring your edits in",
        )
    return 1 if diverged else 0
