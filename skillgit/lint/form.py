"""The Agent Skills rules, and what a document needs to be trained. Pure.

They say what the reference validator of agentskills.io says (a test compares the two); that package needs Python 3.11.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from skillgit import document
from skillgit.errors import SkillError
from skillgit.lint.finding import Document, Found

NAME = 64
DESCRIPTION = 1024
COMPATIBILITY = 500
FIELDS = ("name", "description", "license", "allowed-tools", "metadata", "compatibility")
LINES = 500
BYTES = 20_000
MOST_BYTES = 200_000
PLACE = re.compile(r"\Adocument:(\d+): ")


def frontmatter(doc: Document) -> Iterator[Found]:
    """There is frontmatter, and it is YAML."""
    try:
        fields = document.frontmatter(doc.text, "document")
    except SkillError as error:
        yield _placed(error)
        return
    if doc.is_skill and not fields:
        yield Found(1, "no frontmatter; begin with 'name' and 'description' between two lines '---'")


def name(doc: Document) -> Iterator[Found]:
    """A name of 1 to 64 lower-case letters, digits and single inner hyphens: that of the folder."""
    if not doc.is_skill or not doc.fields:
        return
    value, line = doc.fields.get("name"), doc.field_line("name")
    if not isinstance(value, str) or not value.strip():
        yield Found(
            line, f"name is {_kind(value)}; it is text, e.g. 'commit-type' (in quotes if it looks like a number)"
        )
        return
    value = unicodedata.normalize("NFKC", value.strip())
    if len(value) > NAME:
        yield Found(line, f"name has {len(value)} characters, at most {NAME} are allowed")
    if value != value.lower() or not all(c.isalnum() or c == "-" for c in value):
        yield Found(line, f"name '{value}' may hold lower-case letters, digits and hyphens only")
    if value.startswith("-") or value.endswith("-") or "--" in value:
        yield Found(line, f"name '{value}' may have single hyphens, inside only")
    if doc.folder and unicodedata.normalize("NFKC", doc.folder) != value:
        yield Found(line, f"name '{value}' is not the name of its folder, '{doc.folder}'")


def description(doc: Document) -> Iterator[Found]:
    """A description of 1 to 1,024 characters."""
    if not doc.is_skill or not doc.fields:
        return
    value, line = doc.fields.get("description"), doc.field_line("description")
    if not isinstance(value, str) or not value.strip():
        yield Found(line, f"description is {_kind(value)}; say what the skill does and when an agent should load it")
    elif len(value) > DESCRIPTION:
        yield Found(line, f"description has {len(value)} characters, at most {DESCRIPTION} are allowed")


def fields(doc: Document) -> Iterator[Found]:
    """Only the fields that Agent Skills have; further ones belong under metadata."""
    if not doc.is_skill:
        return
    for field in doc.fields:
        if field not in FIELDS:
            known = ", ".join(FIELDS)
            yield Found(
                doc.field_line(field), f"'{field}' is no field of a skill; known: {known}; others go in metadata"
            )
    value = doc.fields.get("compatibility", "")
    if not isinstance(value, str):
        yield Found(doc.field_line("compatibility"), f"compatibility is {_kind(value)}; it is text")
    elif len(value) > COMPATIBILITY:
        at_most = f"at most {COMPATIBILITY} are allowed"
        yield Found(doc.field_line("compatibility"), f"compatibility has {len(value)} characters, {at_most}")


def markers(doc: Document) -> Iterator[Found]:
    """Training markers pair up, each alone on its line."""
    try:
        document.frontmatter(doc.text)
    except SkillError:
        return
    try:
        document.regions(doc.text, "document")
    except SkillError as error:
        yield _placed(error)


def size(doc: Document) -> Iterator[Found]:
    """Under 500 lines and 20 kB (about 5,000 tokens); never empty, never above 200 kB."""
    count, weight = len(doc.text.splitlines()), len(doc.text.encode("utf-8", "replace"))
    if not doc.text.strip("\ufeff \t\r\n"):
        yield Found(1, "the document is empty")
    elif weight > MOST_BYTES:
        yield Found(1, f"the document has {weight} bytes, at most {MOST_BYTES} are allowed")
    elif count > LINES or weight > BYTES:
        why = f"{count} lines and {weight} bytes; agents load all of it"
        yield Found(1, f"{why}, so keep it under {LINES} lines and {BYTES} bytes", "warning")


def _placed(error: SkillError) -> Found:
    match = PLACE.match(error.message)
    return Found(int(match[1]) if match else 1, PLACE.sub("", error.message))


def _kind(value: object) -> str:
    if value is None:
        return "missing"
    return "empty" if isinstance(value, str) else f"{type(value).__name__} {value!r}"
