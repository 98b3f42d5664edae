from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import RepositoryError
from skillgit.git.objects import TreeEntry, decode_tree, encode_tree
from skillgit.git.repo import Repo
from tests.repos import git

NAMES = st.text(st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]), min_size=1)


@pytest.fixture(params=["sha1", "sha256"])
def opened(request: pytest.FixtureRequest, repo: Callable[..., Path]) -> Iterator[Repo]:
    with Repo.discover(repo(object_format=request.param)) as made:
        yield made


def folder_of(repo: Repo) -> Path:
    assert repo.work_tree is not None
    return repo.work_tree


@given(st.dictionaries(NAMES, st.sampled_from(["40000", "100644", "100755", "120000"]), max_size=8))
def test_trees_round_trip(names: dict[str, str]) -> None:
    entries = [TreeEntry(mode, name, hashlib.sha1(name.encode()).hexdigest()) for name, mode in names.items()]
    data = encode_tree(entries)
    assert set(decode_tree(data, 20)) == set(entries)
    assert encode_tree(decode_tree(data, 20)) == data


def test_ids_and_bytes_are_those_of_git(opened: Repo) -> None:
    for data in (b"", b"a\r\nb", b"\0\xff" * 5000, "日本".encode()):
        oid = opened.write_blob(data)
        opened.objects.flush()
        asked = opened.git("hash-object", "--stdin", input=data).text
        assert (oid, opened.git("cat-file", "blob", oid).stdout) == (asked, data)


def test_trees_are_in_the_order_of_git(opened: Repo) -> None:
    folder = folder_of(opened)
    for path in ("a/x", "a.md", "a-b", "ab", "é/ü", "A"):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(path, encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "Names")
    tree = git(folder, "rev-parse", "HEAD^{tree}")
    entries = opened.objects.tree(tree)
    assert opened.write_tree(reversed(entries)) == tree


def test_nothing_reaches_the_disk_before_the_flush(opened: Repo) -> None:
    oid = opened.write_blob(b"later")
    folder = folder_of(opened)
    with pytest.raises(AssertionError, match=r"(?i)not a valid object|could not get object"):
        git(folder, "cat-file", "-t", oid)
    assert opened.read_blob(oid) == b"later"
    opened.objects.flush()
    assert git(folder, "cat-file", "-t", oid) == "blob"
    assert opened.read_blob(oid) == b"later"


def test_history_written_here_passes_git_fsck(opened: Repo) -> None:
    head = opened.head
    assert head is not None
    tree = opened.replace_file(head, "new folder/ä/file.md", opened.write_blob(b"x"))
    commit = opened.write_commit(tree, [head], "Añade\n\nline")
    opened.objects.flush()
    folder = folder_of(opened)
    git(folder, "update-ref", "refs/heads/new", commit)
    assert git(folder, "fsck", "--strict", "--no-dangling") == ""
    assert git(folder, "log", "-1", "--format=%an <%ae> %ad|%cn <%ce>|%s", "--date=raw", "new") == (
        "Ada Author <author@example.org> 1750000000 +0200|Carl Committer <committer@example.org>|Añade"
    )


def test_missing_and_wrong_objects_are_named(opened: Repo) -> None:
    missing = "1" * 2 * opened.objects.width
    with pytest.raises(RepositoryError, match=f"blob {missing} is missing"):
        opened.read_blob(missing)
    head = opened.head
    assert head is not None
    with pytest.raises(RepositoryError, match="is a commit, not a blob"):
        opened.read_blob(head)


def test_a_killed_reader_is_started_again(opened: Repo) -> None:
    assert opened.head
    process = opened._batch._process
    assert process is not None
    process.kill()
    process.wait()
    assert opened.resolve("HEAD") == opened.head


def test_reading_goes_on_after_git_repacks(opened: Repo) -> None:
    folder = folder_of(opened)
    first = opened.head
    assert first is not None
    git(folder, "commit", "-q", "--allow-empty", "-m", "Second")
    second = git(folder, "rev-parse", "HEAD")
    git(folder, "gc", "-q", "--prune=now")
    assert opened.head == second
    assert opened.parents(second) == (first,)
    assert opened.read_file(second, "skills/demo/env.yaml")
