"""A made-up model file, cut into wheels as the mirror has it."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from skillgit.models.files import KnownModel, Mirror

PART_SIZE = 1000
DATA = b"a" * PART_SIZE + b"b" * PART_SIZE + b"the last part is short"


def make_wheel(folder: Path, number: int, data: bytes) -> str:
    """Writes the wheel of a part and returns its hash. Its code would leave a file behind if anything ran it."""
    package = f"odd_name_part{number}"
    info = f"{package}-0.1.dist-info"
    path = folder / f"{package}-0.1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in {
            f"{package}/__init__.py": f"open({str(folder / 'ran')!r}, 'w')\n",
            f"{package}/data/part{number:02d}.bin": data,
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: odd-name-part{number}\nVersion: 0.1\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/RECORD": "",
        }.items():
            wheel.writestr(name, content)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def make_mirror(folder: Path, data: bytes, part_size: int = PART_SIZE) -> tuple[str, ...]:
    """All wheels of the data, their hashes in order."""
    folder.mkdir()
    parts = [data[start : start + part_size] for start in range(0, len(data), part_size)]
    return tuple(make_wheel(folder, number, part) for number, part in enumerate(parts, start=1))


def known_model(
    wheels: tuple[str, ...], data: bytes, part_size: int = PART_SIZE, official: bytes | None = None
) -> KnownModel:
    mirror = Mirror("odd-name-part{}", "0.1", part_size, wheels)
    digest = hashlib.sha256(data if official is None else official).hexdigest()
    return KnownModel("toy", "toy.gguf", len(data), digest, "owner/toy", mirror)
