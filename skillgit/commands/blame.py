from __future__ import annotations

from skillgit import console
from skillgit.commands._options import Json, Revision, history_of, repository, trained


def run(revision: Revision, as_json: Json = False) -> None:
    """Each line of the skill with the change that wrote it, and how many tasks it rests on.

    Example: skillgit blame dates@best

    JSON: a list of {line, text, commit, kind, run, epoch, step, title, evidence}; kind is base, step, patch, epoch or person.
    """
    from skillgit.blaming import blame
    from skillgit.views.blame import blame_lines

    with repository() as repo:
        rows = blame(trained(history_of(repo, revision)), revision)
    return console.emit(rows) if as_json else console.lines(blame_lines(rows))
