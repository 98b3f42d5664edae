from __future__ import annotations

from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, Name, Overrides, Quiet, history_of, repository, trained


def run(
    name: Name,
    task: Annotated[str, typer.Option("--task", metavar="ID", help="the task that fails now")],
    override: Overrides = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """The edit after which a task began to fail. Known scores are used first; versions are halved, and only those in question
    are measured.

    Example: skillgit bisect dates --task selection-18

    JSON: {skill, task, commit, title, before, looked, spend}.
    """
    from skillgit.bisect import bisect
    from skillgit.progress import reporter
    from skillgit.views.gate import spent_line

    with repository() as repo:
        trained(history_of(repo, name))
        watch = reporter(quiet=quiet)
        try:
            found = bisect(repo, name, task, watch, overrides=override or ())
        finally:
            watch.close()
    if as_json:
        return console.emit(found.as_dict())
    console.say(f"{task} fails since {found.commit[:10]}: {found.title}")
    console.say(f"it passed with {found.before[:10]}; {found.looked} versions looked at, {spent_line(found.spend)}")
    console.say(f"look closer: skillgit show {name}@{found.commit[:10]}")
    return None
