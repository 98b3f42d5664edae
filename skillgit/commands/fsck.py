from __future__ import annotations

from dataclasses import asdict

from skillgit import console
from skillgit.commands._options import Json, Name, history_of, repository, trained


def run(name: Name, as_json: Json = False) -> int:
    """Prove that each edit gives its commit, that accepted scores obey the gate, and that journal, branch and notes agree.

    Example: skillgit fsck dates

    JSON: a list of {severity, where, message}; empty when all is well.
    """
    from skillgit.git.fsck import check

    with repository() as repo:
        trained(history_of(repo, name))
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
