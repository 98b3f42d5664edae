"""What a check of tasks finds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with a set of tasks. With an ``error`` a training could not be trusted.

    ``tasks`` are the ids of the tasks it is about, the first twenty of them.
    """

    severity: Literal["error", "warning"]
    rule: str
    message: str
    tasks: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def error(rule: str, message: str, tasks: Iterable[str] = ()) -> Finding:
    return Finding("error", rule, message, tuple(tasks)[:MOST_NAMED])


def warning(rule: str, message: str, tasks: Iterable[str] = ()) -> Finding:
    return Finding("warning", rule, message, tuple(tasks)[:MOST_NAMED])
