"""What fsck reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """``error``: the history says something untrue. ``warning``: an index is behind, and can be rebuilt."""

    severity: Literal["error", "warning"]
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.where}: {self.message}"


def error(where: str, message: str) -> Finding:
    return Finding("error", where, message)


def warning(where: str, message: str) -> Finding:
    return Finding("warning", where, message)
