"""The score curve as a file: SVG as it is, PNG through an optional library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skillgit.errors import UsageError
from skillgit.files import write_whole
from skillgit.reporting.curve import Point
from skillgit.reporting.svg import curve, plain

ZOOM = 2
"""Pixels of a PNG for each unit of the picture."""


def draw(points: Sequence[Point], title: str, path: Path) -> None:
    """Write the curve to a ``.svg`` or ``.png`` file. Raises UsageError."""
    kind = path.suffix.lower()
    if kind not in (".svg", ".png"):
        raise UsageError(f"'{path}' is no picture that can be drawn; its name ends in .svg or .png")
    svg = curve(points, title, alone=True)
    write_whole(path, svg.encode("utf-8") if kind == ".svg" else _png(svg))


def _png(svg: str) -> bytes:
    try:
        import resvg_py
    except ImportError:
        raise UsageError(
            "a PNG needs the package resvg-py, which is not installed",
            hint="pip install 'skillgit[plot]', or draw an .svg",
        ) from None
    return bytes(resvg_py.svg_to_bytes(svg_string=plain(svg), zoom=ZOOM))
