from __future__ import annotations

from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, Overrides, Quiet, Revision, history_of, repository, trained


def run(
    revision: Revision,
    no_gate: Annotated[bool, typer.Option("--no-gate", help="take it back whatever the score")] = False,
    override: Overrides = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> int:
    """Take one edit back as a new commit, if the score without it is not lower. What came after it stays; an edit that later
    ones rest on is said to be so. Exits 1 when the gate says no.

    Example: skillgit revert dates@3429577

    JSON: {skill, reverted, title, action, reason, before, after, commit}.
    """
    from skillgit.progress import reporter
    from skillgit.revert import revert
    from skillgit.views.entries import WORDS

    with repository() as repo:
        trained(history_of(repo, revision))
        watch = reporter(quiet=quiet)
        try:
            result = revert(repo, revision, watch, gated=not no_gate, overrides=override or ())
        finally:
            watch.close()
    if as_json:
        console.emit(result.as_dict())
    else:
        console.say(f"{WORDS[result.action]}: revert '{result.title}': {result.reason}")
    return 1 if result.action == "reject" else 0
