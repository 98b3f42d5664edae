"""The documents that the tools see, and the tools: glob, read and grep. Nothing outside the folder is ever read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from skillgit.errors import ConfigError
from skillgit.models.base import Tool

MOST_FILES, MOST_LINES, MOST_CHARS, MOST_HITS = 50, 80, 4000, 20


def _tool(name: str, description: str, needed: Iterable[str], **kinds: str) -> Tool:
    properties = {argument: {"type": kind} for argument, kind in kinds.items()}
    return Tool(name, description, {"type": "object", "properties": properties, "required": list(needed)})


TOOLS = (
    _tool(
        "glob",
        f"Names of files that match a pattern such as *1939*; at most {MOST_FILES}.",
        ["pattern"],
        pattern="string",
    ),
    _tool(
        "read",
        f"Lines of a file from line start (1 is the first), at most {MOST_LINES} of them and {MOST_CHARS} characters.",
        ["path"],
        path="string",
        start="integer",
        limit="integer",
    ),
    _tool(
        "grep",
        f"Lines of one file that hold a text, in capitals or not, with their numbers; at most {MOST_HITS}.",
        ["pattern", "path"],
        pattern="string",
        path="string",
    ),
)


class Refused(Exception):
    """A tool cannot do what was asked; the target is told why."""


class Documents:
    """The text files of a folder, or the ``hinted`` ones of them where there are such. Names are relative to the folder."""

    def __init__(self, root: Path, hinted: Iterable[str] = ()) -> None:
        if not root.is_dir():
            raise ConfigError(f"options.documents: there is no folder {root}", hint="see the README of the environment")
        self.root = (root / "transformed" if (root / "transformed").is_dir() else root).resolve()
        known = {path.relative_to(self.root).as_posix(): path for path in sorted(self.root.rglob("*.txt"))}
        inside = {name: path for name, path in known.items() if path.resolve().is_relative_to(self.root)}
        named = {name: inside[name] for name in hinted if name in inside}
        self.files: Mapping[str, Path] = named or inside

    def call(self, name: str, arguments: str) -> str:
        """What a tool gives back; a mistake of the target's is told in a line that begins with ``error:``."""
        functions = {"glob": self.glob, "read": self.read, "grep": self.grep}
        try:
            given = json.loads(arguments or "{}")
            if name not in functions:
                raise Refused(f"there is no tool {name}; there are {', '.join(functions)}")
            return functions[name](**given)
        except Refused as error:
            return f"error: {error}"
        except (ValueError, TypeError):
            return f"error: {name} does not take {arguments[:200]}"

    def glob(self, pattern: str) -> str:
        found = [name for name in self.files if _matches(name, pattern)]
        more = [f"... {len(found) - MOST_FILES} more"] if len(found) > MOST_FILES else []
        return "\n".join([*found[:MOST_FILES], *more]) or "no file matches"

    def read(self, path: str, start: int = 1, limit: int = MOST_LINES) -> str:
        lines = self._lines(path)
        first = max(start, 1)
        taken = lines[first - 1 : first - 1 + min(max(limit, 1), MOST_LINES)]
        if not taken:
            raise Refused(f"{path} has {len(lines)} lines")
        shown = "\n".join(f"{first + n}: {line}" for n, line in enumerate(taken))
        cut = shown[:MOST_CHARS] + " [cut]" if len(shown) > MOST_CHARS else shown
        return f"{path}, lines {first} to {first + len(taken) - 1} of {len(lines)}\n{cut}"

    def grep(self, pattern: str, path: str) -> str:
        if not pattern.strip():
            raise Refused("the pattern is empty")
        wanted = pattern.casefold()
        found = [
            f"{n}: {line[:MOST_CHARS]}" for n, line in enumerate(self._lines(path), 1) if wanted in line.casefold()
        ]
        more = [f"... {len(found) - MOST_HITS} more"] if len(found) > MOST_HITS else []
        return "\n".join([*found[:MOST_HITS], *more]) or "no line holds it"

    def _lines(self, path: str) -> list[str]:
        if path not in self.files:
            raise Refused(f"there is no file {path} here; glob lists them")
        return self.files[path].read_text(encoding="utf-8", errors="replace").splitlines()


def _matches(name: str, pattern: str) -> bool:
    return bool(pattern) and (PurePosixPath(name).match(pattern) or pattern == "**" or pattern == "**/*")


def names(value: Any) -> list[str]:
    """A list given as a list, as JSON, or as lines or parts between commas."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = json.loads(value)
    if isinstance(value, str):
        value = value.replace(",", "\n").split("\n")
    return [str(part).strip() for part in value or () if str(part).strip()]
