"""Commit messages: ``NAME: subject``, a wrapped body, and a block of ``Key: value`` trailers that git can read."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

WIDTH = 72
TRAILER = re.compile(r"(?P<key>[A-Za-z0-9][A-Za-z0-9-]*)[ \t]*:[ \t]*(?P<value>.*)")
# `git interpret-trailers` takes these lines for the end of the message
DIVIDER = re.compile(r"---(\s|$)|. -+ >8 -+$")
INDENT = re.compile(r"\s*(?:[-*+>]\s+|\d+[.)]\s+)?")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class CommitMessage:
    """What a training commit says. ``subject`` is without the skill's name; ``body`` is free text."""

    subject: str
    body: str = ""
    trailers: Mapping[str, str] = field(default_factory=dict)

    def render(self, name: str) -> str:
        """The message of a commit of skill ``name``."""
        subject = cut(self.subject).removeprefix(f"{name}:").strip() or "edit"
        return format_message(f"{name}: {subject}", self.body, self.trailers)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A message taken apart; a key given twice has its values joined by ``, ``."""

    subject: str
    body: str
    trailers: dict[str, str]


def format_message(subject: str, body: str, trailers: Mapping[str, str]) -> str:
    """Subject (one line, cut to 72 characters), body (wrapped at 72) and trailers (one line each), ending in a newline.

    Whatever the body holds, the trailers alone are what ``git interpret-trailers --parse`` finds.
    """
    parts = [cut(subject), "\n".join(_wrapped(body)), "\n".join(_trailer_lines(trailers))]
    return "\n\n".join(filter(None, parts)) + "\n"


def cut(subject: str, width: int = WIDTH) -> str:
    """One line of at most ``width`` characters, shortened at a word where that loses little."""
    line = " ".join(CONTROL.sub(" ", subject).split())
    if len(line) <= width:
        return line
    head = line[: width - 1]
    word = head.rpartition(" ")[0]
    return (word if len(word) > width * 2 // 3 else head).rstrip() + "…"


def parse_message(message: str) -> Parsed:
    """Subject, body and trailers. The last paragraph is the trailers if each of its lines looks like one."""
    head, *rest = message.strip("\n").split("\n\n", 1)
    subject, body = " ".join(head.split("\n")), rest[0].strip("\n") if rest else ""
    before, _, last = body.rpartition("\n\n")
    trailers = _parse_block(last)
    return Parsed(subject, before.strip("\n") if trailers else body, trailers)


def _parse_block(paragraph: str) -> dict[str, str]:
    found: dict[str, str] = {}
    key = ""
    for line in paragraph.split("\n"):
        if line[:1] in (" ", "\t") and key:
            found[key] += " " + line.strip()
        elif match := TRAILER.fullmatch(line):
            key, value = match["key"], match["value"].strip()
            found[key] = f"{found[key]}, {value}" if key in found else value
        elif not line.startswith("(cherry picked from commit"):
            return {}
    return found


def _trailer_lines(trailers: Mapping[str, str]) -> Iterator[str]:
    for key, value in trailers.items():
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", key):
            raise ValueError(f"'{key}' is not a trailer key")
        yield f"{key}: {' '.join(CONTROL.sub(' ', value).split())}".rstrip()


def _wrapped(body: str) -> Iterator[str]:
    """Long lines of prose are wrapped; lines of a code fence, and short ones, stay as they are."""
    text = CONTROL.sub("", body.replace("\r\n", "\n").replace("\r", "\n")).strip("\n")
    fenced = False
    for line in text.split("\n") if text.strip() else ():
        line = line.rstrip()
        if DIVIDER.match(line):
            line = " " + line
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if fenced or len(line) <= WIDTH:
            yield line
            continue
        match = INDENT.match(line)
        indent = " " * min(len(match[0]) if match else 0, WIDTH // 2)
        options = {"break_long_words": False, "break_on_hyphens": False, "subsequent_indent": indent}
        for part in textwrap.wrap(line, WIDTH, **options):  # type: ignore[arg-type]
            yield " " + part if DIVIDER.match(part) else part
