from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, history_of, repository
from skillgit.errors import RefusedError, UsageError

if TYPE_CHECKING:
    from skillgit.git.repo import Repo
    from skillgit.hooks.install import Placed

WORDS = {"install": "put the hooks in place", "uninstall": "take them away", "status": "which are in place"}
SNIPPET = """\
the pre-commit framework is set up here; to let it run the lint, add to .pre-commit-config.yaml:
  - repo: URL-OF-SKILLGIT
    rev: VERSION
    hooks: [{id: skillgit-lint}, {id: skillgit-trailers}]"""


def run(
    action: Annotated[str, typer.Argument(metavar="install|uninstall|status", help="what to do")],
    arguments: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    as_json: Json = False,
) -> None:
    """Git hooks: lint of staged skills, trailers, proof before a push, notes that follow rewritten commits.

    Hooks that are there are kept byte for byte and run first. With core.hooksPath and husky too.

    Example: skillgit hooks install

    JSON: a list of {name, path, state, kept}.
    """
    with repository() as repo:
        if action in WORDS:
            return _placing(repo, action, as_json)
        hook = {"commit-msg": _message, "pre-push": _push, "post-rewrite": _rewritten, "post-merge": _merged}.get(
            action
        )
        if hook is None:
            raise UsageError(f"there is no 'hooks {action}'; known: {', '.join(WORDS)}", hint="skillgit hooks --help")
        return hook(repo, arguments or [])


def _placing(repo: Repo, action: str, as_json: bool) -> None:
    from skillgit.hooks import install

    rows = {"install": install.install, "uninstall": install.uninstall, "status": install.state}[action](repo)
    if as_json:
        return console.emit([asdict(row) for row in rows])
    console.lines(console.align([_line(row) for row in rows]))
    if action == "install" and install.uses_framework(repo):
        console.say(SNIPPET)
    return None


def _line(row: Placed) -> list[str]:
    return [row.state, row.name, row.path, f"after {Path(row.kept).name}" if row.kept else ""]


def _message(repo: Repo, arguments: list[str]) -> None:
    from skillgit.hooks.message import problems

    branch = repo.git("symbolic-ref", "--quiet", "--short", "HEAD", check=False).text
    if not arguments or not branch.startswith("skill/"):
        return
    text = Path(arguments[0]).read_text(encoding="utf-8", errors="replace")
    found = list(problems(text, branch.removeprefix("skill/")))
    if found:
        raise RefusedError("; ".join(found), hint="git commit --no-verify takes it as it is")


def _push(repo: Repo, arguments: list[str]) -> None:
    from skillgit.hooks.pushing import BRANCH, judge, read_pushes, send_records

    pushes = read_pushes(sys.stdin.read())
    skills = {
        push.remote.removeprefix(BRANCH): push.oid
        for push in pushes
        if push.remote.startswith(BRANCH) and not push.deletes
    }
    for name, oid in skills.items():
        judge(history_of(repo, name), oid)
    if skills and arguments:
        for ref in send_records(repo, arguments[0], skills, pushes):
            console.note(f"pushed {ref}")


def _rewritten(repo: Repo, arguments: list[str]) -> None:
    from skillgit.hooks.rewriting import follow, pairs

    _tell(follow(repo, pairs(sys.stdin.read())))


def _merged(repo: Repo, arguments: list[str]) -> None:
    from skillgit.hooks.rewriting import follow, returned

    before, after = repo.resolve("ORIG_HEAD"), repo.head
    if before and after:
        _tell(follow(repo, returned(repo, before, after)))


def _tell(count: int) -> None:
    if count:
        console.note(f"notes of skillgit followed {count} rewritten commit{'s'[: count != 1]}")
