"""Write loose objects: as git would, but all of a step at once, and safe on the disk before a ref can name them.

Why not GitPython: as of 3.2 (gitdb 4.0) its object database knows SHA-1 only, takes twenty times as long, and neither
syncs what it writes nor keeps the permissions of a shared repository. Why not ``git unpack-objects``: it syncs one file
after the other, which a busy disk turns into a tenth of a second a step.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from skillgit.errors import RepositoryError

WORKERS = 8  # fsyncs in flight: a journaling file system commits them together
SYNCED = frozenset({"loose-object", "objects", "committed", "added", "all"})
OFF = ("false", "no", "off", "0", "")


class LooseStore:
    """The ``objects`` folder of a repository. ``sync`` makes each object durable before :meth:`store` returns."""

    def __init__(self, folder: Path, *, sync: bool) -> None:
        self._folder = folder
        self._sync = sync

    def store(self, objects: Mapping[str, bytes]) -> None:
        """Write id -> ``kind size NUL content``. RepositoryError when one could not be written."""
        try:
            if self._sync and len(objects) > 1:
                from concurrent.futures import ThreadPoolExecutor

                with ThreadPoolExecutor(WORKERS) as pool:
                    list(pool.map(self._store, objects, objects.values()))
            else:
                for oid, data in objects.items():
                    self._store(oid, data)
        except OSError as error:
            raise RepositoryError(f"cannot write objects in {self._folder}: {error.strerror}") from None

    def _store(self, oid: str, data: bytes) -> None:
        folder = self._folder / oid[:2]
        target = folder / oid[2:]
        if _freshened(target):
            return
        mode = stat.S_IMODE(self._folder.stat().st_mode)  # this one has what core.sharedRepository asks for
        if not folder.is_dir():
            folder.mkdir(exist_ok=True)
            folder.chmod(mode)
        # so called, `git gc` sweeps it up after a crash; whoever wrote the same name would write the same bytes
        temporary = folder / f"tmp_obj_{os.getpid()}_{oid[2:]}"
        try:
            with temporary.open("wb") as file:
                file.write(zlib.compress(data, 1))
                if self._sync:
                    file.flush()
                    os.fsync(file.fileno())
            temporary.chmod(mode & 0o444)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _freshened(path: Path) -> bool:
    """Whether the object is there; its time stamp keeps `git gc` in another terminal from pruning it."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    except PermissionError:  # another member's of a shared repository
        pass
    return True


def syncs(config: Mapping[str, str]) -> bool:
    """Whether objects are synced: as core.fsync says, and always if it says nothing.

    git's own default leaves loose objects out, but not refs: after a power cut a ref could name a lost object.
    """
    if config.get("core.fsyncmethod") == "writeout-only":
        return False
    if "core.fsync" not in config:
        return config.get("core.fsyncobjectfiles", "true").lower() not in OFF
    return _includes_loose(config["core.fsync"].split(","))


def _includes_loose(components: Sequence[str]) -> bool:
    synced = False
    for component in (part.strip() for part in components):
        if component == "none":
            synced = False
        elif component.lstrip("-") in SYNCED:
            synced = not component.startswith("-")
    return synced
