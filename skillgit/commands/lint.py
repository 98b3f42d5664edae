from __future__ import annotations

import os
from dataclasses import asdict
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, repository

if TYPE_CHECKING:
    from skillgit.lint.finding import Finding


class Format(str, Enum):
    """How findings are printed."""

    text = "text"
    github = "github"


def run(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[PATH]...", help="files and folders; every skill by default")
    ] = None,
    staged: Annotated[bool, typer.Option("--staged", help="what the next commit changes, as it is staged")] = False,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", metavar="RULE", help="leave a rule out (repeatable)")
    ] = None,
    style: Annotated[Format, typer.Option("--format", help="github: annotations of a workflow")] = Format.text,
    rules: Annotated[bool, typer.Option("--rules", help="list the rules")] = False,
    as_json: Json = False,
) -> int:
    """Check skill documents: Agent Skills rules, markers, size, hidden characters and orders, secrets, links, shell pipes.
    Exits 1 when there are errors. Rules in git's own setting skillgit.lintIgnore are left out, in the hook too.

    Example: skillgit lint skills --ignore link

    JSON: {checked, findings: [{path, line, rule, severity, message}]}.
    """
    from skillgit.errors import UsageError
    from skillgit.lint import NAMES, RULES
    from skillgit.views.lint import finding_lines, github_lines

    if rules:
        console.lines(console.align([[rule.name, rule.asks] for rule in RULES]))
        return 0
    left_out = [*(ignore or []), *_configured()]
    for name in left_out:
        if name not in NAMES:
            raise UsageError(f"there is no rule '{name}'; known: {', '.join(NAMES)}", hint="skillgit lint --rules")
    if staged and paths:
        raise UsageError("--staged checks what is staged; name no paths")
    checked, findings = _found(paths or [], staged, left_out)
    if as_json:
        console.emit({"checked": checked, "findings": [asdict(finding) for finding in findings]})
    else:
        console.lines(github_lines(findings) if style is Format.github else finding_lines(checked, findings))
    return 1 if any(finding.severity == "error" for finding in findings) else 0


def _configured() -> list[str]:
    """Rules that the repository leaves out; none outside of one."""
    from skillgit.errors import RepositoryError

    try:
        with repository() as repo:
            return repo.config.get("skillgit.lintignore", "").split()
    except RepositoryError:
        return []


def _found(paths: list[str], staged: bool, ignore: list[str]) -> tuple[list[str], list[Finding]]:
    from skillgit.errors import UsageError
    from skillgit.lint.sources import lint_paths, lint_staged

    if paths:
        return lint_paths(paths, ignore)
    with repository() as repo:
        if staged:
            return lint_staged(repo, ignore)
        if repo.work_tree is None:
            raise UsageError("a bare repository has no files to check; name paths")
        top = repo.work_tree
    return lint_paths([os.path.relpath(top)], ignore)
