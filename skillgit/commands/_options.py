"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from skillgit import console
from skillgit.completing import revisions, skills

if TYPE_CHECKING:
    from skillgit.git.history import SkillHistory
    from skillgit.git.repo import Repo

Row = TypeVar("Row")
Name = Annotated[str, typer.Argument(metavar="NAME", help="the skill", show_default=False, autocompletion=skills)]
Revision = Annotated[
    str,
    typer.Argument(metavar="NAME[@REV]", help="a revision of a skill", show_default=False, autocompletion=revisions),
]
Json = Annotated[bool, typer.Option("--json", help="print JSON")]
NEWEST = 50
Most = Annotated[int, typer.Option("-n", min=0, metavar="N", help="only the newest N; 0 for all")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="no progress")]
Overrides = Annotated[
    list[str] | None, typer.Option("-o", metavar="KEY=VALUE", help="override a setting, e.g. -o train.epochs=2")
]


def newest(rows: Iterable[Row], most: int) -> Iterator[Row]:
    """The first ``most`` of rows that come newest first, all for 0; what is left out is said on stderr."""
    left = iter(rows)
    yield from islice(left, most or None)
    if most and next(left, None) is not None:
        console.note(f"older ones are left out; -n 0 shows all, -n {10 * most} more")


@contextmanager
def repository() -> Iterator[Repo]:
    """The repository of the current folder."""
    from skillgit.git.repo import Repo

    with Repo.discover(".") as repo:
        yield repo


def history_of(repo: Repo, spec: str) -> SkillHistory:
    """The history of the skill in ``NAME[@REV]``; its document's name comes from env.yaml where there is one."""
    from skillgit.config import check_name
    from skillgit.errors import ConfigError
    from skillgit.git.history import SkillHistory
    from skillgit.workspace import FOLDER, document_name

    name = check_name(spec.partition("@")[0])
    try:
        document = document_name(repo, name)
    except ConfigError:
        document = "SKILL.md"
    return SkillHistory(repo, name, f"{FOLDER}/{name}/{document}")


def trained(history: SkillHistory) -> SkillHistory:
    """The history, or RepositoryError when this skill has no training; what is missing of it is said on stderr."""
    from skillgit.errors import RepositoryError

    missing = history.missing()
    if history.tip() is None:
        what = missing or (f"skill '{history.name}' was never trained here", f"skillgit train {history.name}")
        raise RepositoryError(what[0], hint=what[1])
    if missing:
        console.note(f"{missing[0]}: {missing[1]}")
    return history
