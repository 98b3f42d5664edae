from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, Name, history_of, repository, trained


def run(
    name: Name,
    rebuild: Annotated[
        bool, typer.Option("--repair", help="first put back the notes that the journal knows of")
    ] = False,
    as_json: Json = False,
) -> int:
    """Prove that each edit gives its commit, that accepted scores obey the gate, and that journal, branch and notes agree.

    Example: skillgit fsck dates

    JSON: a list of {severity, where, message}; empty when all is well.
    """
    from skillgit.git.fsck import check
    from skillgit.git.repair import repair

    with repository() as repo:
        history = trained(history_of(repo, name))
        if rebuild:
            told = ", ".join(f"{namespace} {count}" for namespace, count in repair(history).items() if count)
            console.note(f"notes put back: {told or 'none was missing'}")
        findings = list(check(repo, name))
    errors = [finding for finding in findings if finding.severity == "error"]
    if as_json:
        console.emit([asdict(finding) for finding in findings])
    else:
        console.lines([f"{finding.severity}: {finding.where}: {finding.message}" for finding in findings])
        console.say(
            f"{name}: {len(errors)} errors, {len(findings) - len(errors)} warnings" if findings else f"{name}: clean"
        )
    return 1 if errors else 0
