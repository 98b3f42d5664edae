"""What the kinds of lesson share: a failure to learn from, an edit to propose, the lines that edits write. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from skillgit.edit import not_text

Kind = Literal["form", "choice", "bare", "copy", "words", "example"]
OPENINGS: Mapping[Kind, str] = {
    "form": "- Write the answer in the form of ",
    "choice": "- Answer with exactly one of: ",
    "bare": "- Give the answer alone, ",
    "copy": "- Copy the answer from the task",
    "words": "- These words point to ",
    "example": "- Example: ",
}
"""How the line of a lesson begins. The skill's text is the only memory: lessons are found again by these words."""

RUN = re.compile(r"[0-9]+|[^\W\d_]+|\s+|[^\w\s]|_|\d")
CODE = re.compile(r"`` (.+?) ``|`([^`\n]+)`")


@dataclass(frozen=True, slots=True)
class Failure:
    """A task that went wrong: its input, the expected answer, and what came instead."""

    id: str
    input: str
    answer: str
    type: str = ""
    predicted: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One edit with the tasks it was learned from, in the shape of the reflect answer."""

    op: Literal["append", "replace", "delete"]
    content: str
    title: str
    reasoning: str
    task_ids: tuple[str, ...]
    target: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "task_ids": list(self.task_ids)}


def write(content: str, *, over: str, title: str, reasoning: str, from_: Sequence[Failure]) -> Proposal:
    """Append a line, or put it in the place of the line ``over``."""
    return Proposal("replace" if over else "append", content, title, reasoning, ids(from_), over)


def failures(trajectories: Iterable[Mapping[str, Any]]) -> tuple[Failure, ...]:
    """The trajectories that show what was expected, one for each (input, answer), in the given order."""
    found: dict[tuple[str, str], Failure] = {}
    for item in trajectories:
        answer, task = plain(item.get("answer")), plain(item.get("input"))
        if answer and task and not not_text(answer + task):
            predicted = plain(item.get("predicted")) or plain(item.get("output"))
            failure = Failure(str(item["id"]), task, answer, str(item.get("type") or ""), predicted)
            found.setdefault((task, answer), failure)
    return tuple(found.values())


def plain(value: object) -> str:
    """An answer as the text a target would write; a list of texts means any of them, so the first is taken."""
    if value is None:
        return ""
    if isinstance(value, list | tuple) and value and all(isinstance(part, str) for part in value):
        value = value[0]
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def ids(items: Iterable[Failure]) -> tuple[str, ...]:
    return tuple(item.id for item in items)


def runs(text: str) -> list[str]:
    """The text cut into numbers, words, gaps and single marks."""
    return RUN.findall(text)


def outline(text: str) -> tuple[str, ...]:
    """The text with 0 for each number, a for each word, a blank for each gap; marks stay as they are."""
    return tuple("0" if r.isdecimal() else "a" if r.isalpha() else " " if r.isspace() else r for r in runs(text))


def code(text: str) -> str:
    """The text as inline code."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def codes(line: str) -> list[str]:
    """The inline code in a line, in order."""
    return [double or single for double, single in CODE.findall(line)]


def lines(document: str, kind: Kind) -> Iterator[str]:
    """The document's lines that hold a lesson of that kind."""
    return (line for line in document.splitlines() if line.startswith(OPENINGS[kind]))


def kind_of(edit: Mapping[str, Any]) -> Kind | None:
    """The kind of lesson that an edit writes or deletes; None for an edit of someone else's."""
    text = edit.get("content") or edit.get("target") or ""
    return next((kind for kind, opening in OPENINGS.items() if text.startswith(opening)), None)
