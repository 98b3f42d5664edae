from __future__ import annotations

from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, Overrides, Quiet, Revision, repository

Aa = Annotated[bool, typer.Option("--aa", help="the same revision twice: how often would noise be accepted?")]


def run(
    revision: Revision,
    against: Annotated[
        str, typer.Option("--against", metavar="REV", help="the revision to beat; base by default", show_default=False)
    ] = "",
    aa: Aa = False,
    override: Overrides = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> int:
    """Let the gate decide between two revisions, task by task, or (--aa) measure the gate itself: the same revision twice.
    Exits 1 when the gate says no. What is known is not measured again.

    Example: skillgit gate dates@best --against base

    JSON: {skill, revision, against, target, verdict, spend}; with --aa {skill, revision, target, looks, tasks, flipped,
    noise, rates, verdict, spend}, where rates has, for each policy, the chance of accepting a useless edit at one look and
    ever in a run.
    """
    from skillgit.errors import UsageError
    from skillgit.progress import reporter
    from skillgit.verdicts import compare_revisions, same_twice
    from skillgit.views.gate import calibration_lines, verdict_lines

    if aa and against:
        raise UsageError(
            f"--aa measures {revision} against itself, so --against {against} has no place beside it",
            hint=f"skillgit gate {revision} --aa",
        )
    with repository() as repo:
        watch = reporter(quiet=quiet)
        try:
            if aa:
                data = same_twice(repo, revision, watch, overrides=override or ()).as_dict()
            else:
                data = compare_revisions(
                    repo, revision, watch, against=against or "base", overrides=override or ()
                ).as_dict()
        finally:
            watch.close()
    if as_json:
        console.emit(data)
    else:
        console.lines(calibration_lines(data) if aa else verdict_lines(data))
    return 0 if aa or data["verdict"]["action"].startswith("accept") else 1
