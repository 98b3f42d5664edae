"""What a lint looks at, and what it finds."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from skillgit.document import frontmatter
from skillgit.errors import SkillError
from skillgit.lines import BREAK

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Document:
    """A skill document: ``path`` as it is named in findings (with ``/``), its text, and the name of its folder."""

    path: str
    text: str
    folder: str = ""

    @property
    def is_skill(self) -> bool:
        """Whether it claims to be an Agent Skill; any other document is a prompt, and needs no frontmatter."""
        return self.path.rpartition("/")[2] == "SKILL.md"

    @cached_property
    def fields(self) -> dict[str, Any]:
        """The frontmatter, empty where it cannot be read."""
        try:
            return frontmatter(self.text)
        except SkillError:
            return {}

    @cached_property
    def lines(self) -> list[str]:
        return BREAK.split(self.text)

    def line(self, offset: int) -> int:
        """The number of the line that holds the character at ``offset``."""
        return 1 + bisect_right(self._breaks, offset)

    @cached_property
    def _breaks(self) -> list[int]:
        return [match.end() for match in BREAK.finditer(self.text)]

    def field_line(self, name: str) -> int:
        """Where a frontmatter field stands."""
        return next((n for n, line in enumerate(self.lines, start=1) if line.startswith(f"{name}:")), 1)


@dataclass(frozen=True, slots=True)
class Found:
    """A place and what is wrong there."""

    line: int
    message: str
    severity: Severity = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """``error``: must not be shipped. ``warning``: look at it."""

    path: str
    line: int
    rule: str
    severity: Severity
    message: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its name, what it asks for, and the function that checks it."""

    name: str
    asks: str
    check: Callable[[Document], Iterable[Found]]


def printable(text: str) -> str:
    """The text with escapes for what a terminal would not show, or would obey."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
