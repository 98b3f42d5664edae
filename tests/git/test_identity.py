from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from skillgit.errors import RepositoryError
from skillgit.git.identity import Person
from skillgit.git.repo import Repo
from tests.repos import git


@pytest.fixture
def anonymous(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = repo()
    for role in ("AUTHOR", "COMMITTER"):
        for key in ("NAME", "EMAIL", "DATE"):
            monkeypatch.delenv(f"GIT_{role}_{key}")
    monkeypatch.delenv("EMAIL", raising=False)
    return folder


def written(folder: Path, when: datetime | None = None) -> str:
    with Repo.discover(folder) as repo:
        head = repo.head or ""
        commit = repo.write_commit(repo.tree_of(head), [head], "x", when=when)
        repo.objects.flush()
        return git(folder, "log", "-1", "--encoding=UTF-8", "--format=%an <%ae> / %cn <%ce>", commit)


def test_whoever_has_no_identity_is_skillgit(anonymous: Path) -> None:
    assert written(anonymous) == "skillgit <skillgit@localhost> / skillgit <skillgit@localhost>"
    git(anonymous, "config", "user.useConfigOnly", "true")
    assert written(anonymous) == "skillgit <skillgit@localhost> / skillgit <skillgit@localhost>"


def test_the_configured_identity(anonymous: Path) -> None:
    git(anonymous, "config", "user.name", "Jürgen  Ålesund 山")
    git(anonymous, "config", "user.email", "j@example.org")
    git(anonymous, "config", "author.name", "Writer")
    assert written(anonymous) == "Writer <j@example.org> / Jürgen  Ålesund 山 <j@example.org>"


def test_another_commit_encoding_changes_nothing(anonymous: Path) -> None:
    git(anonymous, "config", "i18n.commitEncoding", "ISO-8859-1")
    git(anonymous, "config", "user.name", "Jürgen")
    git(anonymous, "config", "user.email", "j@example.org")
    assert written(anonymous).startswith("Jürgen <j@example.org>")


def test_dates(repo: Callable[..., Path]) -> None:
    folder = repo()
    zone = timezone(timedelta(hours=-3, minutes=-30))
    with Repo.discover(folder) as found:
        head = found.head or ""
        tree = found.tree_of(head)
        fixed = found.write_commit(tree, [head], "x")
        given = found.write_commit(tree, [head], "x", when=datetime(2031, 2, 3, 4, 5, 6, tzinfo=zone))
        found.objects.flush()
        assert git(folder, "log", "-1", "--format=%aI %cI", fixed) == " ".join(["2025-06-15T17:06:40+02:00"] * 2)
        assert git(folder, "log", "-1", "--format=%aI %cI", given) == " ".join(["2031-02-03T04:05:06-03:30"] * 2)


def test_now_when_no_date_is_fixed() -> None:
    before = int(datetime.now().timestamp())
    seconds, zone = Person().stamp().split(" ")
    assert before <= int(seconds) <= int(datetime.now().timestamp())
    assert zone == datetime.now().astimezone().strftime("%z")


def test_a_wrong_date_is_an_error(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repo()
    monkeypatch.setenv("GIT_COMMITTER_DATE", "the day after never")
    with (
        Repo.discover(folder) as found,
        pytest.raises(RepositoryError, match="GIT_COMMITTER_DATE: invalid date format"),
    ):
        found.identity()
