from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillgit.errors import RepositoryError
from skillgit.git.notes import Notes
from skillgit.git.objects import FILE, TREE, TreeEntry
from skillgit.git.repo import Repo
from skillgit.git.transaction import Transaction
from tests.repos import git

REF = "--ref=skillgit/scores"


@pytest.fixture(params=["sha1", "sha256"])
def opened(request: pytest.FixtureRequest, repo: Callable[..., Path]) -> Iterator[Repo]:
    with Repo.discover(repo(object_format=request.param)) as made:
        yield made


def add(repo: Repo, additions: Mapping[str, str], namespace: str = "scores") -> Notes:
    notes = Notes(repo, namespace)
    transaction = Transaction(repo)
    transaction.set(notes.ref, *notes.stage(additions))
    transaction.commit("notes")
    return notes


def blobs(repo: Repo, count: int) -> list[str]:
    made = [repo.write_blob(f"text {n}".encode()) for n in range(count)]
    repo.objects.flush()
    return made


def top(repo: Repo) -> str:
    return str(repo.work_tree)


def test_git_shows_what_was_added(opened: Repo) -> None:
    one, two = blobs(opened, 2)
    notes = add(opened, {one: "first\n"})
    add(opened, {one: "second", two: "ä\n"})
    assert git(top(opened), "notes", REF, "show", one) == "first\nsecond"
    assert git(top(opened), "notes", REF, "show", two) == "ä"
    assert notes.get(one) == "first\nsecond\n"
    assert notes.many([one, two, "0" * len(one)]) == {one: "first\nsecond\n", two: "ä\n"}
    assert dict(notes.all()) == notes.many([one, two])
    assert sorted(line.split()[1] for line in git(top(opened), "notes", REF, "list").splitlines()) == sorted([one, two])
    assert git(top(opened), "fsck", "--strict", "--no-dangling") == ""


def test_what_git_added_is_read_and_kept(opened: Repo) -> None:
    one, two = blobs(opened, 2)
    git(top(opened), "notes", REF, "add", "-m", "by git", one)
    notes = add(opened, {two: "by us"})
    assert notes.get(one) == "by git\n"
    git(top(opened), "notes", REF, "append", "-m", "again by git", two)
    add(opened, {one: "again by us"})
    assert notes.get(two).split() == ["by", "us", "again", "by", "git"]
    assert git(top(opened), "notes", REF, "show", one) == "by git\nagain by us"
    git(top(opened), "notes", REF, "remove", one)
    assert notes.get(one) == ""


def test_trees_that_git_fanned_out(opened: Repo) -> None:
    """git fans out by itself once there are many notes; both sides go on writing into that tree."""
    ids = blobs(opened, 400)
    git(top(opened), "notes", REF, "add", "-m", "x", ids[0])
    copies = "".join(f"{ids[0]} {oid}\n" for oid in ids[1:])
    opened.git("notes", REF, "copy", "--stdin", input=copies.encode())
    notes = Notes(opened, "scores")
    tip = notes.tip()
    assert tip and {len(entry.name) for entry in opened.objects.tree(opened.tree_of(tip))} == {2}
    assert len(notes.many(ids)) == 400
    add(opened, {ids[0]: "more", "1" * len(ids[0]): "new"})
    assert git(top(opened), "notes", REF, "show", ids[0]) == "x\nmore"
    git(top(opened), "notes", REF, "append", "-m", "and git", ids[1])
    assert notes.get(ids[1]).split() == ["x", "and", "git"]
    assert len(git(top(opened), "notes", REF, "list").splitlines()) == 401


@pytest.mark.parametrize("cuts", [(), (2,), (2, 2), (2, 2, 2)])
def test_every_fan_out_is_read_and_appended_to_in_place(opened: Repo, cuts: tuple[int, ...]) -> None:
    (oid,) = blobs(opened, 1)
    rest, folders = oid, []
    for width in cuts:
        folders.append(rest[:width])
        rest = rest[width:]
    tree = opened.write_tree([TreeEntry(FILE, rest, opened.write_blob(b"old\n"))])
    for name in reversed(folders):
        tree = opened.write_tree([TreeEntry(TREE, name, tree)])
    transaction = Transaction(opened)
    transaction.set("refs/notes/skillgit/scores", opened.write_commit(tree, [], "x"), None)
    transaction.commit("x")
    notes = add(opened, {oid: "new"})
    assert notes.get(oid) == "old\nnew\n"
    assert git(top(opened), "notes", REF, "show", oid) == "old\nnew"
    assert len(git(top(opened), "ls-tree", "-r", "refs/notes/skillgit/scores").splitlines()) == 1


def test_union_merge_by_git_of_two_clones(opened: Repo) -> None:
    one, two = blobs(opened, 2)
    add(opened, {one: '{"a": 1}\n'})
    git(top(opened), "update-ref", "refs/notes/theirs", "refs/notes/skillgit/scores")
    git(top(opened), "notes", "--ref=theirs", "append", "-m", '{"b": 2}', one)
    git(top(opened), "notes", "--ref=theirs", "add", "-m", '{"c": 3}', two)
    notes = add(opened, {one: '{"d": 4}\n'})
    git(top(opened), "notes", REF, "merge", "-q", "-s", "cat_sort_uniq", "refs/notes/theirs")
    assert notes.get(one).split("\n") == ['{"a": 1}', '{"b": 2}', '{"d": 4}', ""]
    assert notes.get(two) == '{"c": 3}\n'


def test_files_that_are_no_notes_stay(opened: Repo) -> None:
    (oid,) = blobs(opened, 1)
    tree = opened.write_tree([TreeEntry(FILE, "README", opened.write_blob(b"hands off"))])
    transaction = Transaction(opened)
    transaction.set("refs/notes/skillgit/scores", opened.write_commit(tree, [], "x"), None)
    transaction.commit("x")
    notes = add(opened, {oid: "x"})
    assert git(top(opened), "show", "refs/notes/skillgit/scores:README") == "hands off"
    assert dict(notes.all()) == {oid: "x\n"}


def test_adding_twice_is_adding_once(opened: Repo) -> None:
    (oid,) = blobs(opened, 1)
    notes = add(opened, {oid: "x\n"})
    tip = notes.tip()
    assert notes.stage({oid: "x\n"}) == (tip, tip)


def test_a_rejected_note_shows_in_git_log(opened: Repo) -> None:
    head = opened.head or ""
    add(opened, {head: "---\nstep: 1\n"}, "rejected")
    add(opened, {head: "---\nstep: 2\n"}, "rejected")
    shown = git(top(opened), "log", "-1", "--notes=skillgit/rejected", head)
    assert "Notes (skillgit/rejected):" in shown
    assert shown.index("step: 1") < shown.index("step: 2")


def test_no_notes_yet(opened: Repo) -> None:
    notes = Notes(opened, "meta")
    assert (notes.tip(), notes.get("1" * 40), notes.many(["1" * 40]), list(notes.all())) == (None, "", {}, [])


def test_wrong_names(opened: Repo) -> None:
    with pytest.raises(ValueError, match="no such notes: other"):
        Notes(opened, "other")
    with pytest.raises(RepositoryError, match="'HEAD' is not an object id"):
        Notes(opened, "meta").stage({"HEAD": "x"})


ADDITIONS = st.dictionaries(st.integers(0, 30), st.text(st.characters(blacklist_categories=["Cs"]), min_size=1))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rounds=st.lists(ADDITIONS, max_size=4))
def test_any_sequence_of_additions(rounds: list[dict[int, str]], repo: Callable[..., Path], tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    if not folder.exists():
        repo()
    expected: dict[str, list[str]] = {}
    with Repo.discover(folder) as opened:
        git(folder, "update-ref", "-d", "refs/notes/skillgit/scores")
        for number, additions in enumerate(rounds):
            named = {hashlib.sha1(str(n).encode()).hexdigest(): f"{number} {text}" for n, text in additions.items()}
            for oid, text in named.items():
                expected.setdefault(oid, []).append(text if text.endswith("\n") else text + "\n")
            if named:
                add(opened, named)
        joined = {oid: "".join(texts) for oid, texts in expected.items()}
        assert dict(Notes(opened, "scores").all()) == joined
