from __future__ import annotations

import os
from enum import Enum
from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, Overrides, Quiet, repository


class FailOn(str, Enum):
    """When the check is red."""

    reject = "reject"
    worse = "worse"
    never = "never"


def run(
    action: Annotated[str, typer.Argument(metavar="gate|train", help="what to do")],
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="the skill to train", show_default=False)] = "",
    fail_on: Annotated[
        FailOn,
        typer.Option("--fail-on", help="reject: unless accepted; worse: when all of the 95 % interval is below 0"),
    ] = FailOn.worse,
    verify: Annotated[
        bool, typer.Option("--verify", help="gate: measure afresh the score that the newest trailers claim")
    ] = False,
    usd: Annotated[float | None, typer.Option("--usd", min=0, help="train: dollars this run may spend in all")] = None,
    new_run: Annotated[
        bool, typer.Option("--new-run", help="train: start another run where the last is complete")
    ] = False,
    override: Overrides = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> int:
    """What the actions of .github/actions run in a workflow, where GitHub tells what happened: judge the skills of a pull
    request, or train a skill and open a pull request with its edits.

    Example: skillgit github gate --fail-on reject

    JSON: the outputs of the step: gate {result, skills, fixed, broken}, train {result, pull-request}.
    """
    from skillgit.errors import UsageError
    from skillgit.github.context import Context
    from skillgit.progress import reporter

    if action not in ("gate", "train"):
        raise UsageError(f"'github {action}' is not known; allowed are: gate, train", hint="skillgit github --help")
    context, watch = Context.read(os.environ), reporter(quiet=quiet)
    try:
        if action == "gate":
            from skillgit.git.repo import Repo
            from skillgit.github.gating import gate

            ended = gate(
                context,
                lambda: Repo.discover("."),
                watch,
                fail_on=fail_on.value,
                verifying=verify,
                overrides=override or (),
            )
        else:
            from skillgit.github.training import train

            with repository() as repo:
                ended = train(context, repo, name, watch, usd=usd, new_run=new_run, overrides=override or ())
    finally:
        watch.close()
    context.put(ended.outputs)
    if as_json:
        console.emit(ended.outputs)
    return ended.code
