"""Before a skill branch is pushed: it is proven, its tip was judged, and its records go along."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillgit.errors import RefusedError, RepositoryError
from skillgit.git.fsck import check
from skillgit.git.history import SkillHistory
from skillgit.git.notes import PREFIX, Notes

if TYPE_CHECKING:
    from skillgit.git.repo import Repo

BRANCH = "refs/heads/skill/"


@dataclass(frozen=True, slots=True)
class Push:
    """A line that git gives pre-push. ``oid`` is all zeros when the ref is deleted."""

    local: str
    oid: str
    remote: str
    old: str

    @property
    def deletes(self) -> bool:
        return not self.oid.strip("0")


def read_pushes(text: str) -> list[Push]:
    """The refs that are pushed."""
    rows = [line.split() for line in text.splitlines()]
    return [Push(*row) for row in rows if len(row) == 4]


def judge(history: SkillHistory, oid: str) -> None:
    """RefusedError when the history does not hold together, or when nobody measured what is pushed."""
    name = history.name
    tip, recorded = history.tip(), history.journal.tip()
    if recorded is None or tip is None:
        raise RefusedError(f"skill/{name} has no journal here", hint=f"skillgit train {name}")
    errors = [finding for finding in check(history.repo, name, history.path) if finding.severity == "error"]
    if errors:
        raise RefusedError(f"skill/{name} is not proven: {errors[0]}", hint=f"skillgit fsck {name}")
    if oid == recorded.current or Notes(history.repo, "scores").get(history.blob(oid)):
        return
    judged = {entry.current for entry in history.journal.entries()}
    if oid not in judged:
        raise RefusedError(
            f"no verdict is recorded for {oid[:12]}, the tip of skill/{name}",
            hint=f"skillgit train {name} scores it; git push --no-verify pushes it as it is",
        )


def send_records(repo: Repo, remote: str, names: Iterable[str], pushed: Sequence[Push]) -> list[str]:
    """Push journal, best and notes that the push itself does not carry; the refs that were sent.

    RepositoryError when the remote has others: nothing is forced.
    """
    carried = {push.remote for push in pushed}
    refs = [ref for name in names for ref in repo.refs(f"refs/skillgit/{name}")]
    refs += list(repo.refs(PREFIX.rstrip("/")))
    there = {line.split()[1]: line.split()[0] for line in repo.git("ls-remote", remote, "refs/*").text.splitlines()}
    here = repo.refs("refs")
    wanted = [ref for ref in refs if ref not in carried and there.get(ref) != here[ref]]
    if not wanted:
        return []
    answer = repo.git("push", "--quiet", "--no-verify", "--atomic", remote, *(f"{r}:{r}" for r in wanted), check=False)
    if answer.returncode:
        raise RepositoryError(
            f"{remote} has records that are not here, so journal and notes were not pushed",
            hint=f"skillgit sync {remote}",
        )
    return wanted
