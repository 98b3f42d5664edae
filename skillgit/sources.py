"""Where the rows of a benchmark come from: a file or folder that the user has, or the hub."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skillgit.errors import ConfigError, RefusedError, TaskError

Row = dict[str, Any]
FOLDERS = {
    "train": "train",
    **dict.fromkeys(("val", "validation", "valid_seen", "selection"), "selection"),
    **dict.fromkeys(("test", "valid_unseen"), "test"),
}
"""The folders of a download that comes in splits, and what the splits are called here."""
PARTIAL = ".part"


@dataclass(frozen=True)
class Source:
    """What ``prepare(source)`` of a benchmark's prepare.py reads from and may write to.

    ``path`` is the user's own download, None when the rows come from the hub at ``revision``. Files that tasks need, such as
    images, go under ``into``, the folder of the skill.
    """

    path: Path | None
    into: Path
    revision: str = ""

    def rows(
        self,
        *,
        hub: str = "",
        config: str | None = None,
        splits: Iterable[str] = ("train",),
        without: Iterable[str] = (),
    ) -> Iterator[Row]:
        """The rows, each with the ``split`` it lies in where the download comes in splits.

        ``hub`` is the data set's name there, "" for one that is not fetched from the hub; columns ``without`` which the rows
        do are not decoded. Raises TaskError, ConfigError, or RefusedError for one that only its owner gives out.
        """
        if self.path is not None:
            return local_rows(self.path)
        if not hub:
            raise RefusedError(
                "this benchmark is not fetched from the hub: its owner gives it out, or it lies elsewhere",
                hint="get it yourself as its README says, and name the folder",
            )
        return _hub_rows(hub, config, splits, self.revision, frozenset(without))

    @property
    def folder(self) -> Path:
        """What the paths in the rows are relative to."""
        path = self.path or Path()
        return path if path.is_dir() else path.parent

    def keep(self, name: str, data: bytes | Path) -> str:
        """Put a file under ``into``/data, whole or not at all, unless it is there already; returns its path from ``into``."""
        place = self.into / "data" / name
        if not place.is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            part = place.with_name(place.name + PARTIAL)
            if isinstance(data, Path):
                if not data.is_file():
                    raise TaskError(f"there is no file {data}", hint="is the download complete?")
                shutil.copyfile(data, part)
            else:
                part.write_bytes(data)
            part.replace(place)
        return f"data/{name}"


def local_rows(path: Path) -> Iterator[Row]:
    """Rows of a .json, .jsonl or .csv file, or of the folders train, val and test with one such file each."""
    if path.is_file():
        yield from _file_rows(path)
        return
    if not path.is_dir():
        raise ConfigError(f"there is no file or folder {path}")
    found = [(folder, split) for folder, split in FOLDERS.items() if (path / folder).is_dir()]
    if not found:
        raise TaskError(f"{path} has none of the folders train, val and test", hint="name the file itself")
    for folder, split in found:
        for row in _file_rows(_first(path / folder)):
            yield {**row, "split": split}


def _first(folder: Path) -> Path:
    files = sorted(file for file in folder.iterdir() if file.suffix in (".csv", ".json", ".jsonl"))
    if not files:
        raise TaskError(f"{folder} holds no .csv, .json or .jsonl file")
    return files[0]


def _file_rows(path: Path) -> Iterator[Row]:
    try:
        yield from _lines(path) if path.suffix == ".jsonl" else _cells(path) if path.suffix == ".csv" else _listed(path)
    except (OSError, ValueError, csv.Error) as error:
        raise TaskError(f"cannot read {path}: {error}") from None


def _lines(path: Path) -> Iterator[Row]:
    """One row at a time: a benchmark may be larger than the memory."""
    with path.open(encoding="utf-8-sig") as file:
        yield from (_row(json.loads(line), path) for line in file if line.strip())


def _cells(path: Path) -> Iterator[Row]:
    csv.field_size_limit(2**31 - 1)  # a row may bring a whole document along
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from csv.DictReader(file, strict=True)


def _listed(path: Path) -> Iterator[Row]:
    data = json.loads(path.read_text(encoding="utf-8-sig"))
    rows = data.get("data") if isinstance(data, dict) and isinstance(data.get("data"), list) else data
    if isinstance(rows, dict):
        rows = [{"id": key, **value} if isinstance(value, dict) else value for key, value in rows.items()]
    if not isinstance(rows, list):
        raise TaskError(f"{path}: expected a list of objects")
    yield from (_row(row, path) for row in rows)


def _row(value: Any, path: Path) -> Row:
    if not isinstance(value, dict):
        raise TaskError(f"{path}: expected a list of objects")
    return value


def pinned(source: Source, hub: str) -> Source:
    """A source on the hub at the commit that its revision, or its newest state, is now. Raises TaskError."""
    if source.path is not None or not hub or Path(hub).is_dir():
        return source
    _demand_hub()
    from httpx2 import HTTPError
    from huggingface_hub import HfApi

    try:
        found = HfApi().dataset_info(hub, revision=source.revision or None)
    except (HTTPError, OSError) as error:
        raise _silent(hub, error) from None
    return replace(source, revision=found.sha or source.revision)


def _demand_hub() -> None:
    from importlib.util import find_spec

    if find_spec("datasets") is None:
        raise ConfigError("reading from the hub needs the package 'datasets'", hint="pip install 'skillgit[hub]'")


def _silent(hub: str, error: Exception) -> TaskError:
    said = " ".join(str(error).split())[:300]
    return TaskError(f"the hub does not give '{hub}': {said}", hint="download it yourself, and name the file or folder")


def _hub_rows(
    name: str, config: str | None, splits: Iterable[str], revision: str, without: frozenset[str]
) -> Iterator[Row]:
    _demand_hub()
    import datasets
    from httpx2 import HTTPError

    for split in splits:
        try:
            found = datasets.load_dataset(name, config, split=split, revision=revision or None)
        except (HTTPError, OSError, ValueError) as error:
            raise _silent(name, error) from None
        yield from found.remove_columns(sorted(without.intersection(found.column_names)))
