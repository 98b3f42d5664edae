from __future__ import annotations

from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, Name, Overrides, Quiet, repository


def run(
    name: Name,
    override: Overrides = None,
    new_run: Annotated[bool, typer.Option("--new-run", help="start a new run from the current skill")] = False,
    start: Annotated[str, typer.Option("--start", metavar="REV", help="where a new skill branch starts")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="print the plan and stop; nothing is spent")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a skill on its tasks. After an interruption the same command goes on where it stopped.

    Example: skillgit train dates -o train.epochs=2 -o limits.usd=5

    JSON: {skill, run, finished, unchanged, initial, best, current, steps, test, spend}; with --dry-run the plan: {epochs,
    steps, splits, stages, usd, models}.
    """
    from skillgit.progress import reporter
    from skillgit.session import plan_training, run_training
    from skillgit.views.runs import plan_lines, spend_lines, summary_lines

    with repository() as repo:
        if dry_run:
            plan = plan_training(repo, name, overrides=override or ())
            return console.emit(plan.as_dict()) if as_json else console.lines(plan_lines(plan))
        watch = reporter(quiet=quiet)
        try:
            summary = run_training(repo, name, watch, overrides=override or (), new_run=new_run, start=start)
        finally:
            watch.close()
    data = summary.as_dict()
    if as_json:
        return console.emit(data)
    console.lines(["", *spend_lines(data["spend"]), "", *summary_lines(data)])
    console.say(f"\nlook closer: skillgit log {name}   git log skill/{name}")
    return None
