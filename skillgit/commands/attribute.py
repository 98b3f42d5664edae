from __future__ import annotations

from skillgit import console
from skillgit.commands._options import Json, Name, Overrides, Quiet, history_of, repository, trained


def run(name: Name, override: Overrides = None, quiet: Quiet = False, as_json: Json = False) -> None:
    """What each edit is worth: the current skill is scored without it, by leaving it out of the history in memory. The
    result is kept in a note, which skillgit log shows. An edit that later ones rest on is said to be so.

    Example: skillgit attribute dates -o gate.repeats=3

    JSON: {skill, commit, score, changes: [{commit, title, alone, worth, interval, n, kept, cost}], spend}; kept are the tasks
    that are lost without the edit, cost those that are won.
    """
    from skillgit.attribution import attribute
    from skillgit.progress import reporter
    from skillgit.views.gate import worth_lines

    with repository() as repo:
        trained(history_of(repo, name))
        watch = reporter(quiet=quiet)
        try:
            data = attribute(repo, name, watch, overrides=override or ()).as_dict()
        finally:
            watch.close()
    return console.emit(data) if as_json else console.lines(worth_lines(data))
