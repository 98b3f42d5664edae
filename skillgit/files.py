"""Files for the user."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from skillgit.errors import UsageError


def write_whole(path: Path, data: bytes) -> None:
    """Write all of it or nothing; a file that is there keeps its mode. Raises UsageError."""
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_mask()
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(scratch).chmod(mode)
        Path(scratch).replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
