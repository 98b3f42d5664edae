from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from skillgit.errors import RepositoryError
from skillgit.git.loose import LooseStore, syncs
from skillgit.git.repo import Repo
from tests.repos import git

OBJECTS = {f"{n:02x}" + "0" * 38: b"blob 1\0x" for n in range(20)}


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    calls: list[int] = []
    fsync = os.fsync
    monkeypatch.setattr("os.fsync", lambda fd: calls.append(os.fstat(fd).st_size) or fsync(fd))
    return calls


@pytest.mark.parametrize("sync", [True, False])
def test_every_object_is_synced_when_asked_for(tmp_path: Path, synced: list[int], sync: bool) -> None:
    LooseStore(tmp_path, sync=sync).store(OBJECTS)
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == len(OBJECTS)
    assert len(synced) == (len(OBJECTS) if sync else 0)
    assert 0 not in synced, "synced before anything was written"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, True),
        ({"core.fsync": "all"}, True),
        ({"core.fsync": "none"}, False),
        ({"core.fsync": "committed"}, True),
        ({"core.fsync": "committed, -loose-object"}, False),
        ({"core.fsync": "none,objects"}, True),
        ({"core.fsync": "reference"}, False),
        ({"core.fsyncmethod": "writeout-only"}, False),
        ({"core.fsyncmethod": "batch"}, True),
        ({"core.fsyncobjectfiles": "false"}, False),
        ({"core.fsyncobjectfiles": "true"}, True),
    ],
)
def test_what_the_user_configured(config: Mapping[str, str], expected: bool) -> None:
    assert syncs(config) == expected


def test_the_repository_asks_its_configuration(repo: Callable[..., Path], synced: list[int]) -> None:
    folder = repo()
    git(folder, "config", "core.fsync", "none")
    with Repo.discover(folder) as found:
        found.write_blob(b"x")
        found.objects.flush()
    assert synced == []


@pytest.mark.parametrize("sync", [True, False])
def test_a_disk_that_is_full_leaves_no_half_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sync: bool) -> None:
    def full(self: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(RepositoryError, match=f"cannot write objects in {tmp_path}: No space left on device"):
        LooseStore(tmp_path, sync=sync).store(OBJECTS)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "00").write_text("a file in the way", encoding="utf-8")
    with pytest.raises(RepositoryError, match=r"cannot write objects in .*: Not a directory"):
        LooseStore(tmp_path, sync=False).store(OBJECTS)


def test_an_object_that_is_there_is_only_made_young(repo: Callable[..., Path]) -> None:
    """`git gc --prune` in another terminal must not take away what a step is about to name."""
    folder = repo()
    with Repo.discover(folder) as found:
        oid = found.write_blob(b"old")
        found.objects.flush()
        path = folder / ".git" / "objects" / oid[:2] / oid[2:]
        os.utime(path, (1, 1))
        inode = path.stat().st_ino
        found.write_blob(b"old")
        found.objects.flush()
        assert path.stat().st_ino == inode
        git(folder, "prune", "--expire=1.hour.ago")
        assert found.read_blob(oid) == b"old"


def test_another_members_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = LooseStore(tmp_path, sync=False)
    store.store(OBJECTS)

    def forbidden(path: Path) -> None:
        raise PermissionError

    monkeypatch.setattr("os.utime", forbidden)
    store.store(OBJECTS)


@pytest.mark.parametrize(("shared", "file", "folder"), [("group", 0o440, 0o770), ("0640", 0o440, 0o750)])
def test_permissions_of_a_shared_repository(tmp_path: Path, shared: str, file: int, folder: int) -> None:
    umask = os.umask(0o077)
    try:
        git(tmp_path, "init", "-q", f"--shared={shared}", "r")
        with Repo.discover(tmp_path / "r") as found:
            oid = found.write_blob(b"x")
            found.objects.flush()
    finally:
        os.umask(umask)
    path = tmp_path / "r" / ".git" / "objects" / oid[:2] / oid[2:]
    assert stat.S_IMODE(path.stat().st_mode) == file
    assert stat.S_IMODE(path.parent.stat().st_mode) & 0o777 == folder


def test_permissions_of_a_plain_repository(repo: Callable[..., Path]) -> None:
    folder = repo()
    with Repo.discover(folder) as found:
        oid = found.write_blob(b"x")
        found.objects.flush()
    by_git = git(folder, "hash-object", "-w", "skills/demo/SKILL.md")
    one, other = (folder / ".git" / "objects" / name[:2] / name[2:] for name in (oid, by_git))
    assert one.stat().st_mode == other.stat().st_mode
    assert one.parent.stat().st_mode == other.parent.stat().st_mode
