from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, Name, Overrides, Quiet, repository
from skillgit.errors import UsageError


def run(
    name: Name,
    patch: Annotated[str, typer.Argument(metavar="FILE.patch", help="a unified diff, - for stdin", show_default=False)],
    override: Overrides = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> int:
    """Judge a unified diff of the skill by the same gate as a step, and commit it when it helps. Exits 1 when it does not.

    Example: git diff -- skills/dates/SKILL.md | skillgit apply dates -

    JSON: {skill, action, reason, before, after, edits, commit}.
    """
    from skillgit.progress import reporter
    from skillgit.propose import apply_patch
    from skillgit.views.entries import WORDS, bucket_text

    try:
        text = sys.stdin.read() if patch == "-" else Path(patch).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the patch {patch}: {error}") from None
    with repository() as repo:
        watch = reporter(quiet=quiet)
        try:
            result = apply_patch(repo, name, text, watch, overrides=override or ())
        finally:
            watch.close()
    if as_json:
        console.emit(result.as_dict())
    else:
        moved = f"{result.before:.4f} -> {result.after:.4f}"
        console.say(f"{WORDS[result.action]}: {moved} ({result.reason}); {bucket_text(result.edits)}")
    return 0 if result.action.startswith("accept") else 1
