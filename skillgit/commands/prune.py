from __future__ import annotations

from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, Name, Overrides, Quiet, history_of, repository, trained


def run(
    name: Name,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say which edits would be dropped")] = False,
    override: Overrides = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> int:
    """Drop the edits that are worth nothing, one commit an edit, if the score without them is not lower. Exits 1 when the
    gate says no. The edits' worth is measured first, where it is not known (skillgit attribute).

    Example: skillgit prune dates --dry-run

    JSON: {skill, action, reason, dropped, before, after, commit}; action is nothing, proposed (a dry run) or the gate's.
    """
    from skillgit.progress import reporter
    from skillgit.prune import prune
    from skillgit.views.entries import WORDS

    with repository() as repo:
        trained(history_of(repo, name))
        watch = reporter(quiet=quiet)
        try:
            result = prune(repo, name, watch, dry_run=dry_run, overrides=override or ())
        finally:
            watch.close()
    if as_json:
        console.emit(result.as_dict())
    else:
        moved = f" {result.before:.4f} -> {result.after:.4f}" if result.after is not None else ""
        console.say(f"{WORDS.get(result.action, result.action)}:{moved} ({result.reason})")
        console.lines(f"  {row.commit[:10]}  {row.worth:+.4f}  {row.title}" for row in result.dropped)
    return 1 if result.action == "reject" else 0
