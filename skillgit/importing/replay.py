"""The versions between two texts of the reference system, edit by edit. Pure.

Its edits put other white space around new text than ours, so each is kept as what it did: a change of lines, to the byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillgit.document import body, frontmatter
from skillgit.errors import SkillError
from skillgit.patchfile import edits_from_diff, unified_diff
from skillgit.skill import APPLIED, Edit, apply_edits

START, END = "<!-- SLOW_UPDATE_START -->", "<!-- SLOW_UPDATE_END -->"
PATH = "SKILL.md"


@dataclass(frozen=True, slots=True)
class Change:
    """An edit as it is recorded, and the text after it."""

    edit: Edit
    text: str


def changes(before: str, after: str, edits: Sequence[Mapping[str, Any]]) -> list[Change] | None:
    """What leads from one text to the other: a change for each edit that had an effect, or one for all of them.

    None when the difference is not one that an edit may make (it touches a protected region).
    """
    texts = [before]
    for edit in edits:
        texts.append(_applied(texts[-1], edit))
    if texts[-1] != after:
        edits, texts = [{"title": "rewrite the skill" if not edits else ""}], [before, after]
    found: list[Change] = []
    for edit, old, new in zip(edits, texts, texts[1:], strict=False):
        lines = _between(old, new, edit)
        if lines is None:
            return None
        found += lines
    return found


def _between(old: str, new: str, meant: Mapping[str, Any]) -> list[Change] | None:
    if old == new:
        return []
    try:
        hunks = edits_from_diff(unified_diff(old, new, PATH), old, PATH)
        edits = [replace(hunk, **_said(meant)) for hunk in hunks]
        applied = apply_edits(old, edits)
    except SkillError:
        return None
    if applied.text != new or any(report.status not in APPLIED for report in applied.reports):
        return None
    return [Change(edit, text) for edit, text in zip(edits, applied.texts, strict=True)]


def _said(meant: Mapping[str, Any]) -> dict[str, Any]:
    said = {key: " ".join(str(meant.get(key) or "").split()) for key in ("title", "reasoning", "rationale")}
    support = meant.get("support_count")
    return {
        "title": said["title"] or _title(meant),
        "reasoning": said["reasoning"] or said["rationale"],
        "support": support if isinstance(support, int) and support > 0 else 1,
    }


def _title(meant: Mapping[str, Any]) -> str:
    op, words = str(meant.get("op") or "change"), str(meant.get("content") or meant.get("target") or "the skill")
    return f"{op.replace('_', ' ')}: {' '.join(words.split()).lstrip('#-* ')}"


def only_regions(before: str, after: str) -> bool:
    """Whether the texts differ in protected regions alone, as an epoch's end may change them."""
    try:
        return body(before).rstrip() == body(after).rstrip() and frontmatter(before) == frontmatter(after)
    except SkillError:
        return False


def _applied(text: str, edit: Mapping[str, Any]) -> str:
    """The text as the reference's own rules change it."""
    op, target = edit.get("op"), str(edit.get("target") or "")
    content = str(edit.get("content") or "").strip().replace(START, "").replace(END, "")
    region = text.find(START)
    at = text.find(target) if target else -1
    if at >= 0 and 0 <= region <= at < text.find(END) + len(END):
        return text
    if op == "append" or (op == "insert_after" and at < 0):
        head, tail = (text[:region], f"\n{text[region:]}") if region >= 0 else (text, "")
        return f"{head.rstrip()}\n\n{content}\n{tail}"
    if at < 0:
        return text
    if op == "insert_after":
        line = text.find("\n", at + len(target)) + 1 or len(text)
        return f"{text[:line]}\n{content}\n{text[line:]}"
    if op in ("replace", "delete"):
        return text[:at] + (content if op == "replace" else "") + text[at + len(target) :]
    return text
