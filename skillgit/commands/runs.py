from __future__ import annotations

from skillgit import console
from skillgit.commands._options import Json, Name, history_of, repository, trained


def run(name: Name, as_json: Json = False) -> None:
    """The runs of a skill side by side, oldest first: models, steps, best selection score, test score with its n, cost, and
    the settings in which a run differs from the one before.

    Example: skillgit runs dates

    JSON: a list of {run, target, optimizer, finished, steps, initial, best, test, spend, changed}; changed maps a setting to
    its value before and now.
    """
    from skillgit.inspecting import runs
    from skillgit.views.runs import runs_lines

    with repository() as repo:
        rows = runs(trained(history_of(repo, name)))
    return console.emit(rows) if as_json else console.lines(runs_lines(rows))
