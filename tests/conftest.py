"""Every test runs in an empty home, with a fixed clock and identity for git, off the network."""

from __future__ import annotations

import ipaddress
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.repos import make_repo

REAL_HOME = str(Path.home().resolve())
REAL_CACHE = os.environ.get("SKILLGIT_CACHE") or str(Path.home() / ".cache" / "skillgit")
WRITABLE = (str(Path(__file__).resolve().parents[1]), str(Path(tempfile.gettempdir()).resolve()))
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
WRITES = {"os.mkdir": 0, "os.rename": 1, "os.remove": 0, "os.rmdir": 0, "os.symlink": 1, "sqlite3.connect": 0}
breaches: list[str] | None = None


def _outside(address: Any) -> bool:
    host = address[0] if isinstance(address, tuple) else None
    if host in (None, "", "localhost", b"localhost"):  # a path is a Unix socket
        return False
    try:
        return not ipaddress.ip_address(host if isinstance(host, str) else bytes(host).decode()).is_loopback
    except ValueError:
        return True


def _in_home(path: Any) -> bool:
    if not isinstance(path, (str, bytes, os.PathLike)) or not path:
        return False
    full = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - Path.resolve would raise audit events of its own
    return (
        full.startswith(REAL_HOME + os.sep)
        and not any(full == root or full.startswith(root + os.sep) for root in WRITABLE)
        and "__pycache__" not in full
    )


def _guard(event: str, args: tuple[Any, ...]) -> None:
    if breaches is None:
        return
    if event in ("socket.connect", "socket.sendto"):
        what = f"network: {args[1]}" if _outside(args[1]) else ""
    elif event == "socket.getaddrinfo":
        what = f"network: {args[0]}" if _outside((args[0],)) else ""
    elif event == "open":
        what = f"home: {args[0]}" if (args[2] or 0) & WRITING and _in_home(args[0]) else ""
    else:
        what = f"home: {event} {args[WRITES[event]]}" if event in WRITES and _in_home(args[WRITES[event]]) else ""
    if what:
        breaches.append(what)
        raise PermissionError(f"not in a test: {what}")


sys.addaudithook(_guard)


@pytest.fixture(autouse=True)
def isolated(request: pytest.FixtureRequest, tmp_path_factory: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The empty home. Tests marked ``model`` may use the network, once, for the model file."""
    global breaches
    home: Path = tmp_path_factory.mktemp("home")
    for name in os.environ:
        if name.startswith(("GIT_", "XDG_", "SKILLGIT_", "GITHUB_")) or name.endswith(("_API_KEY", "_AUTH_TOKEN")):
            monkeypatch.delenv(name)
    (home / ".gitconfig").write_text("[init]\n\tdefaultBranch = main\n", encoding="utf-8")
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role, person in (("AUTHOR", "Ada Author"), ("COMMITTER", "Carl Committer")):
        monkeypatch.setenv(f"GIT_{role}_NAME", person)
        monkeypatch.setenv(f"GIT_{role}_EMAIL", f"{role.lower()}@example.org")
        monkeypatch.setenv(f"GIT_{role}_DATE", "1750000000 +0200")
    breaches = None if request.node.get_closest_marker("model") else []
    yield home
    seen, breaches = breaches, None
    assert not seen, f"reached outside the test: {seen}"


@pytest.fixture
def repo(tmp_path: Path) -> Callable[..., Path]:
    """``repo(name="demo", *, skill, env, tasks, object_format, folder="repo")`` makes a repository, see make_repo."""

    def make(name: str = "demo", *, folder: str = "repo", **options: Any) -> Path:
        return make_repo(tmp_path / folder, name, **options)

    return make


@pytest.fixture
def local_model(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the default local model, out of the real cache, pulled if it is not there. For tests marked ``model``."""
    from skillgit.models import download, files

    monkeypatch.setenv(files.CACHE, REAL_CACHE)
    return download.pull(next(iter(files.known())))
