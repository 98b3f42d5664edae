from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skillgit.errors import RaceError, RepositoryError
from skillgit.git.repo import Repo
from skillgit.git.transaction import LockedRefError, Transaction
from tests.repos import git


@pytest.fixture
def opened(repo: Callable[..., Path]) -> Iterator[Repo]:
    with Repo.discover(repo()) as made:
        yield made


def commits(repo: Repo, count: int) -> list[str]:
    made = [repo.head or ""]
    for n in range(count):
        made.append(repo.write_commit(repo.tree_of(made[0]), made[-1:], f"Number {n}"))
    return made[1:]


def test_all_refs_move_together_and_their_objects_are_there(opened: Repo) -> None:
    one, two = commits(opened, 2)
    transaction = Transaction(opened)
    transaction.set("refs/heads/skill/demo", two, None)
    transaction.set("refs/skillgit/demo/best", one, None)
    transaction.commit("skillgit: step\n1")
    assert opened.refs("refs/heads/skill") == {"refs/heads/skill/demo": two}
    assert opened.ref("refs/skillgit/demo/best") == one
    folder = str(opened.work_tree)
    assert git(folder, "reflog", "skill/demo", "--format=%gs %gn") == "skillgit: step 1 Carl Committer"
    assert git(folder, "fsck", "--strict") == ""


@pytest.mark.parametrize("expected", [None, "f" * 40, "head"])
def test_a_lost_race_names_the_ref_and_moves_nothing(opened: Repo, expected: str | None) -> None:
    one, two, three = commits(opened, 3)
    first = Transaction(opened)
    first.set("refs/skillgit/demo/best", one, None)
    first.commit("x")
    second = Transaction(opened)
    second.set("refs/heads/skill/demo", three, None)
    second.set("refs/skillgit/demo/best", two, opened.head if expected == "head" else expected)
    with pytest.raises(RaceError, match="refs/skillgit/demo/best was moved by somebody else; nothing was written"):
        second.commit("x")
    assert opened.ref("refs/skillgit/demo/best") == one
    assert opened.ref("refs/heads/skill/demo") is None


def test_a_ref_that_vanished(opened: Repo) -> None:
    one, two = commits(opened, 2)
    transaction = Transaction(opened)
    transaction.set("refs/heads/skill/demo", two, one)
    with pytest.raises(RaceError, match="refs/heads/skill/demo was moved"):
        transaction.commit("x")


def test_staying_where_it_is_checks_that_it_is_there(opened: Repo) -> None:
    one, two = commits(opened, 2)
    transaction = Transaction(opened)
    transaction.set("refs/heads/main", opened.head, opened.head)
    transaction.set("refs/heads/absent", None, None)
    transaction.set("refs/heads/new", one, None)
    transaction.commit("x")
    again = Transaction(opened)
    again.set("refs/heads/new", two, two)
    with pytest.raises(RaceError, match="refs/heads/new"):
        again.commit("x")


def test_deleting(opened: Repo) -> None:
    (one,) = commits(opened, 1)
    for new, old in ((one, None), (None, one)):
        transaction = Transaction(opened)
        transaction.set("refs/skillgit/demo/epochs/1-1", new, old)
        transaction.commit("x")
    assert opened.refs("refs/skillgit") == {}


def test_a_lock_in_the_way_names_its_file(opened: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillgit.git.transaction.LOCK_TIMEOUT", 100)
    (one,) = commits(opened, 1)
    lock = opened.git_dir / "refs" / "heads" / "side.lock"
    lock.write_text("", encoding="utf-8")
    transaction = Transaction(opened)
    transaction.set("refs/heads/side", one, None)
    with pytest.raises(LockedRefError, match="refs/heads/side is locked by another git process") as caught:
        transaction.commit("x")
    assert caught.value.hint == f"if no git is running: rm '{lock}'"


def test_a_name_that_is_a_folder_of_refs(opened: Repo) -> None:
    (one,) = commits(opened, 1)
    git(str(opened.work_tree), "branch", "skill")
    transaction = Transaction(opened)
    transaction.set("refs/heads/skill/demo", one, None)
    with pytest.raises(RepositoryError, match=r"refs/heads/skill/demo: .*'refs/heads/skill' exists") as caught:
        transaction.commit("x")
    assert not isinstance(caught.value, RaceError)


def test_no_hook_of_the_user_runs(opened: Repo) -> None:
    hooks = opened.git_dir / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("reference-transaction", "pre-commit", "post-commit", "commit-msg", "post-checkout"):
        (hooks / name).write_text("#!/bin/sh\ntouch ran\nexit 1\n", encoding="utf-8")
        (hooks / name).chmod(0o755)
    (one,) = commits(opened, 1)
    transaction = Transaction(opened)
    transaction.set("refs/heads/side", one, None)
    transaction.commit("x")
    assert opened.ref("refs/heads/side") == one
    assert opened.work_tree is not None
    assert not list(opened.work_tree.rglob("ran"))


def test_the_same_ref_twice_is_a_bug(opened: Repo) -> None:
    transaction = Transaction(opened)
    transaction.set("refs/heads/x", "1" * 40, None)
    with pytest.raises(ValueError, match="refs/heads/x is set twice"):
        transaction.set("refs/heads/x", "2" * 40, None)


def test_nothing_to_do(opened: Repo) -> None:
    Transaction(opened).commit("x")
