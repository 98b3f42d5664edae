from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import pytest

from skillgit.errors import FatalModelError
from skillgit.models import files

DEFAULT = "qwen2.5-coder-0.5b"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(files.CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF one")
    return path


@pytest.mark.parametrize("name", [DEFAULT, "qwen2.5-coder-1.5b"])
def test_the_pinned_data_is_whole(name: str) -> None:
    model = files.known()[name]
    parts, size = len(model.mirror.wheels), model.mirror.part_size
    assert (parts - 1) * size < model.size <= parts * size
    assert len(set(model.mirror.wheels)) == parts
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in (model.sha256, *model.mirror.wheels))
    assert "{}" in model.mirror.package and model.file.endswith(".gguf")


def test_the_default_comes_first() -> None:
    assert next(iter(files.known())) == DEFAULT


def test_where_files_are_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert files.cache_folder() == cache
    monkeypatch.delenv(files.CACHE)
    monkeypatch.setattr("sys.platform", "linux")
    assert files.cache_folder() == Path.home() / ".cache" / "skillgit" / "models"
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert files.cache_folder() == Path("/elsewhere/skillgit/models")


def test_a_known_model_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FatalModelError, match="not on this machine yet") as caught:
        files.locate(DEFAULT)
    assert caught.value.hint == f"skillgit models pull {DEFAULT}"
    assert files.identity(DEFAULT) == files.known()[DEFAULT].sha256


def test_the_users_file_is_meant_by_any_name(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(files.OVERRIDE, str(own))
    assert files.locate(DEFAULT) == files.locate("whatever") == own
    assert files.identity(DEFAULT) == hashlib.sha256(b"GGUF one").hexdigest()


def test_a_path_beats_the_users_file(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(files.OVERRIDE, str(tmp_path / "other.gguf"))
    assert files.locate(str(own)) == own


def test_a_path_to_nothing(tmp_path: Path) -> None:
    with pytest.raises(FatalModelError, match=r"there is no model file .*gone\.gguf"):
        files.locate(str(tmp_path / "gone.gguf"))


def test_a_file_is_hashed_again_only_when_it_changed(own: Path, cache: Path) -> None:
    first = files.identity(str(own))
    stamp = own.stat().st_mtime_ns
    own.write_bytes(b"GGUF two")
    os.utime(own, ns=(stamp, stamp))
    assert files.identity(str(own)) == first  # same size, same time: taken from hashes.json
    os.utime(own, ns=(stamp + 10**9, stamp + 10**9))
    assert files.identity(str(own)) == hashlib.sha256(b"GGUF two").hexdigest()


def test_broken_memory_of_hashes_is_replaced(own: Path, cache: Path) -> None:
    cache.mkdir(parents=True)
    for broken in ("{", "[]", '{"%s": 3}' % str(own.resolve())):  # noqa: UP031 - braces
        (cache / "hashes.json").write_text(broken, encoding="utf-8")
        assert files.identity(str(own)) == hashlib.sha256(b"GGUF one").hexdigest()
