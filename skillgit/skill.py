"""Edits of the skill document: bounded, anchored, and each with a report. Pure.

A target must match exactly once outside the protected regions; nothing is ever guessed among several places. Bytes outside
an edit's place stay as they are.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from skillgit.document import (
    Regions,
    adapt,
    appendix_notes,
    body,
    check_document,
    deployable,
    digest,
    frontmatter,
    guidance,
    newline,
    regions,
    strip_markers,
    with_appendix,
    with_body,
    with_guidance,
)
from skillgit.errors import SkillError
from skillgit.matching import Match, find_exact, find_fuzzy, line_span

__all__ = [
    "APPLIED",
    "Applied",
    "Edit",
    "EditReport",
    "Op",
    "Patch",
    "Pattern",
    "Regions",
    "Status",
    "appendix_notes",
    "apply_edits",
    "body",
    "check_document",
    "deployable",
    "digest",
    "frontmatter",
    "guidance",
    "parse_edit",
    "regions",
    "strip_markers",
    "with_appendix",
    "with_body",
    "with_guidance",
]

Op = Literal["append", "insert_after", "replace", "delete"]
Status = Literal[
    "applied",
    "applied_fuzzy",
    "appended_no_anchor",
    "no_target",
    "ambiguous",
    "protected",
    "no_op",
    "duplicate",
    "over_budget",
    "invalid",
]
APPLIED: frozenset[str] = frozenset({"applied", "applied_fuzzy", "appended_no_anchor"})
SYNONYMS = {"add": "append", "insert": "insert_after", "insertafter": "insert_after", "remove": "delete"}


@dataclass(frozen=True, slots=True)
class Edit:
    """One bounded change. ``support`` counts the patches that backed it, ``evidence`` names their tasks.

    ``source`` is failure, success, slow, patch, lapse or rewrite.
    """

    op: Op
    content: str = ""
    target: str = ""
    title: str = ""
    reasoning: str = ""
    source: str = "failure"
    support: int = 1
    evidence: tuple[str, ...] = ()

    def digest(self) -> str:
        """Content address of what the edit does (12 hex)."""
        text = json.dumps([self.op, self.target, self.content])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "evidence": list(self.evidence)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Edit:
        known = {key: data[key] for key in cls.__dataclass_fields__ if key in data}
        return cls(**{**known, "evidence": tuple(data.get("evidence", ()))})


@dataclass(frozen=True, slots=True)
class Pattern:
    """A failure pattern or a success pattern: what, how often, on which tasks."""

    pattern: str
    count: int
    task_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Patch:
    """Edits with their common reasoning."""

    edits: tuple[Edit, ...]
    reasoning: str = ""
    source: str = "failure"
    patterns: tuple[Pattern, ...] = ()


@dataclass(frozen=True, slots=True)
class EditReport:
    """How a proposed edit ended; ``detail`` says why it was not applied, or where it matched."""

    edit: Edit
    status: Status
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Applied:
    """The document after the edits, one report for each edit, and the document after each one that changed it."""

    text: str
    reports: tuple[EditReport, ...]
    texts: tuple[str, ...]


class _Skip(Exception):
    def __init__(self, status: Status, detail: str = "") -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


def parse_edit(raw: object) -> Edit | str:
    """The edit in a model's answer, or why it is none. Null means absent; ``op`` is case-folded, synonyms are known."""
    if not isinstance(raw, Mapping):
        return f"an edit must be an object, not {type(raw).__name__}"
    op = str(raw.get("op") or "").strip().casefold().replace("-", "_").replace(" ", "_")
    op = SYNONYMS.get(op, op)
    if op not in get_args(Op):
        return f"unknown op '{raw.get('op')}'; known: {', '.join(get_args(Op))}"
    texts = {key: raw.get(key) or "" for key in ("content", "target", "title", "reasoning")}
    wrong = [key for key, value in texts.items() if not isinstance(value, str)]
    if wrong:
        return f"{wrong[0]} must be text, not {type(texts[wrong[0]]).__name__}"
    evidence = raw.get("task_ids") or raw.get("evidence") or ()
    ids = tuple(str(item) for item in evidence) if isinstance(evidence, (list, tuple)) else ()
    return Edit(op, evidence=ids, **texts)  # type: ignore[arg-type]


def apply_edits(
    text: str,
    edits: Sequence[Edit],
    *,
    missing_anchor: Literal["append", "skip"] = "skip",
    budget: int | None = None,
) -> Applied:
    """Apply edits one after another; at most ``budget`` may change the text.

    Every edit gets exactly one report. An edit that cannot be applied leaves the text as it is, and the next one is
    still tried.
    """
    reports: list[EditReport] = []
    texts: list[str] = []
    seen: set[str] = set()
    for edit in edits:
        try:
            if budget is not None and len(texts) >= budget:
                raise _Skip("over_budget", f"the budget of this step is {budget}")
            if edit.digest() in seen:
                raise _Skip("duplicate", "the same edit stands earlier in the list")
            changed, status, detail = _apply(text, edit, missing_anchor)
            _validate(text, changed)
        except _Skip as skip:
            reports.append(EditReport(edit, skip.status, skip.detail))
        else:
            text = changed
            texts.append(text)
            reports.append(EditReport(edit, status, detail))
        seen.add(edit.digest())
    assert len(reports) == len(edits)
    return Applied(text, tuple(reports), tuple(texts))


def _apply(text: str, edit: Edit, missing_anchor: str) -> tuple[str, Status, str]:
    line = newline(text)
    content = adapt(strip_markers(edit.content), line)
    if edit.op != "delete" and not content.strip():
        raise _Skip("no_op" if edit.op != "replace" else "invalid", f"{edit.op} without content changes nothing")
    if edit.op in ("append", "insert_after") and _stands(text, content):
        raise _Skip("duplicate", "this text stands in the skill already")
    if edit.op == "append":
        return _append(text, content, line), "applied", ""
    if not edit.target.strip():
        raise _Skip("invalid", f"{edit.op} needs a target")
    try:
        match = _locate(text, adapt(edit.target, line))
    except _Skip as skip:
        if edit.op == "insert_after" and skip.status == "no_target" and missing_anchor == "append":
            return _append(text, content, line), "appended_no_anchor", skip.detail
        raise
    status: Status = "applied_fuzzy" if match.fuzzy else "applied"
    return _OPS[edit.op](text, content, match, line), status, ""


def _locate(text: str, target: str) -> Match:
    spans = regions(text).spans()
    for find in (find_exact, find_fuzzy):
        matches = find(text, target)
        free = [m for m in matches if not any(m.start < end and start < m.end for start, end in spans)]
        if len(free) == 1:
            return free[0]
        if free:
            places = ", ".join(str(text.count("\n", 0, m.start) + 1) for m in free[:5])
            raise _Skip("ambiguous", f"the target stands {len(free)} times, on lines {places}")
        if matches:
            raise _Skip("protected", "the target lies in the frontmatter or a protected region")
    raise _Skip("no_target", "the target does not stand in the skill")


def _append(text: str, content: str, line: str) -> str:
    found = regions(text)
    first = min((span[0] for span in (found.slow, found.appendix) if span), default=len(text))
    floor = found.frontmatter[1] if found.frontmatter and found.frontmatter[1] <= first else 0
    place = floor + len(text[floor:first].rstrip("\r\n \t"))
    end = re.compile(r"[ \t]*(?:\r\n|\n|\r|\Z)").match(text, place)
    place = end.end() if end and text[floor:first].strip() else floor
    before, after = text[:place], text[place:]
    gap = "" if not before or before.endswith(("\n", "\r")) else line
    if before.strip() and not (_is_item(before.rstrip().splitlines()[-1]) and _is_item(content)):
        gap += line
    tail = "" if content.endswith(line) else line
    if after and not after.startswith(("\n", "\r")):
        tail += line
    return before + gap + content + tail + after


def _insert_after(text: str, content: str, match: Match, line: str) -> str:
    place = _line_end(text, _after_fence(text, match.end))
    if any(start < place < end for start, end in regions(text).spans()):
        raise _Skip("protected", "the place after the target lies in a protected region")
    before = text[:place]
    gap = "" if before.endswith(("\n", "\r")) else line
    return before + gap + content + ("" if content.endswith(line) else line) + text[place:]


def _replace(text: str, content: str, match: Match, line: str) -> str:
    old = text[match.start : match.end]
    if old.endswith(("\n", "\r")) and not content.endswith(line):
        content += line
    return text[: match.start] + content + text[match.end :]


def _delete(text: str, content: str, match: Match, line: str) -> str:
    start, end = line_span(text, match.start, match.end)
    left = text[start : match.start] + text[match.end : end]
    if re.fullmatch(r"[ \t]*(?:(?:[-*+]|\d+[.)])(?:[ \t]+\[[ xX]\])?[ \t]*)?(?:\r\n|\n|\r)?", left):
        return text[:start] + text[end:]
    return text[: match.start] + text[match.end :]


_OPS = {"insert_after": _insert_after, "replace": _replace, "delete": _delete}


def _line_end(text: str, place: int) -> int:
    """Just behind the line break of the line that ``place`` is the end of, or lies in."""
    if place and text[place - 1] in "\n\r":
        return place
    found = re.compile(r"\r\n|\n|\r").search(text, place)
    return found.end() if found else len(text)


FENCE = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>[^\r\n]*)")


def _after_fence(text: str, place: int) -> int:
    """The place itself, or the end of the closing fence when it lies in a code fence."""
    opened, at = "", 0
    for row in text.splitlines(keepends=True):
        match = FENCE.match(row)
        if match and not opened:
            opened = match["fence"]
        elif match and match["fence"].startswith(opened) and not match["info"].strip():
            opened = ""
            if at + len(row) >= place:
                return max(place, at + len(row))
        at += len(row)
        if at >= place and not opened:
            return place
    return place


def _is_item(line: str) -> bool:
    return bool(re.match(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]", line))


def _stands(text: str, content: str) -> bool:
    """Whether the content stands in the body as whole lines."""
    wanted = [row.strip() for row in content.split("\n") if row.strip()]
    have = "\n".join(row.strip() for row in adapt(body(text), "\n").split("\n") if row.strip())
    return f"\n{chr(10).join(wanted)}\n" in f"\n{have}\n"


def _validate(before: str, after: str) -> None:
    if after == before:
        raise _Skip("no_op", "the text stays as it is")
    try:
        after.encode("utf-8")
        old, new = regions(before), regions(after)
        kept = [before[a:b] for a, b in old.spans()] == [after[a:b] for a, b in new.spans()]
    except (SkillError, UnicodeEncodeError) as error:
        raise _Skip("invalid", f"the skill would not be valid: {error}") from None
    if not kept:
        raise _Skip("protected", "a protected region would change")
    if not body(after).strip() or "\0" in after:
        raise _Skip("invalid", "the skill would be empty" if "\0" not in after else "content holds a NUL character")
