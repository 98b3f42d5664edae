from __future__ import annotations

from skillgit import console
from skillgit.commands._options import NEWEST, Json, Most, Name, history_of, newest, repository, trained


def run(name: Name, most: Most = NEWEST, as_json: Json = False) -> None:
    """The rejected-edit buffer: what was tried on which version and failed, so that it is not tried again.

    Example: skillgit rejected dates

    JSON: a list of {on, skill, run, epoch, step, kind, gate, reason, before, after, candidate, edits, patterns}.
    """
    from skillgit.inspecting import rejections
    from skillgit.views.edits import rejected_lines

    with repository() as repo:
        data = list(newest(rejections(trained(history_of(repo, name))), most))
    if as_json:
        return console.emit(data)
    console.lines(rejected_lines(data) or ["nothing was rejected"])
    return None
