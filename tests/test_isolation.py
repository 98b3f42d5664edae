"""The guard in conftest really stops what it says it stops."""

from __future__ import annotations

import socket
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import conftest
from tests.repos import git


@pytest.fixture
def caught() -> Iterator[list[str]]:
    assert conftest.breaches is not None
    yield conftest.breaches
    conftest.breaches.clear()


def test_network_is_off(caught: list[str]) -> None:
    with pytest.raises(PermissionError):
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    with pytest.raises(PermissionError):
        socket.getaddrinfo("example.org", 443)
    assert len(caught) == 2


def test_loopback_is_on() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        socket.create_connection(server.getsockname(), timeout=5).close()


def test_home_is_closed(caught: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(conftest, "REAL_HOME", str(tmp_path))
    monkeypatch.setattr(conftest, "WRITABLE", ())
    with pytest.raises(PermissionError):
        (tmp_path / "x").write_text("x", encoding="utf-8")
    with pytest.raises(PermissionError):
        (tmp_path / "d").mkdir()
    with pytest.raises(PermissionError):
        sqlite3.connect(tmp_path / "x.sqlite")
    assert len(caught) == 3
    assert list(tmp_path.iterdir()) == []


def test_commit_ids_are_constant(repo: Callable[..., Path]) -> None:
    folder = repo(tasks=[], env="{}\n", skill="x\n")
    assert git(folder, "rev-parse", "HEAD") == "40d1c2f15407cdb1b65516144e4c5b7dce50cd42"
