from __future__ import annotations

from skillgit import console
from skillgit.commands._options import Json, Revision, history_of, repository, trained


def run(revision: Revision, as_json: Json = False) -> None:
    """An edit with its diff, reasoning and evidence, and how each selection task moved in its step. NAME@step-3 shows what
    step 3 tried, even when it was rejected.

    Example: skillgit show dates@step-3

    JSON: {skill, commit, subject, body, trailers, diff, entry, edits, verdict}; entry, edits and verdict are the journal's,
    of the whole step; commit is null when nothing was committed.
    """
    from skillgit.inspecting import shown
    from skillgit.views.edits import show_lines

    with repository() as repo:
        history = trained(history_of(repo, revision))
        data = shown(history, revision)
    if as_json:
        return console.emit(data)
    console.lines(show_lines(data))
    return None
