from __future__ import annotations

from skillgit import console
from skillgit.commands._options import Json, Revision, history_of, repository, trained


def run(revision: Revision, as_json: Json = False) -> None:
    """An edit with its diff, reasoning and evidence, and how each selection task moved in its step.

    Example: skillgit show dates@step-3
    """
    from skillgit.inspecting import shown
    from skillgit.views import show_lines

    with repository() as repo:
        history = trained(history_of(repo, revision))
        data = shown(history, revision)
    if as_json:
        return console.emit(data)
    console.lines(show_lines(data))
    return None
