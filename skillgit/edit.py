"""An edit of the skill document, as models propose it and as the journal keeps it. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, cast, get_args

Op = Literal["append", "insert_after", "replace", "delete", "suggest", "rewrite", "remind"]
OPS: tuple[str, ...] = get_args(Op)
ANCHORED = ("append", "insert_after", "replace", "delete")
"""What an optimizer may propose as an edit; the others come of the update mode or of skill-aware reflection."""
TARGETED = ("insert_after", "replace", "delete")


@dataclass(frozen=True, slots=True)
class Edit:
    """One change.

    ``content`` is the new text (all but ``delete``), ``target`` the exact text that names the place (``insert_after``,
    ``replace``, ``delete``). ``rewrite`` puts ``content`` in the place of the whole body, ``remind`` adds it to the
    appendix, ``suggest`` says what a rewrite shall do and changes nothing itself. ``source`` is failure, success, slow,
    patch, lapse or prune; a ``patch`` comes from a person, and is taken to the byte, line endings included. ``support``
    counts the proposals behind it, ``evidence`` names tasks.
    """

    op: Op
    content: str = ""
    target: str = ""
    title: str = ""
    reasoning: str = ""
    source: str = "failure"
    support: int = 1
    evidence: tuple[str, ...] = ()

    @property
    def verbatim(self) -> bool:
        """Whether line endings and white space are meant as they are."""
        return self.source == "patch"

    def digest(self) -> str:
        """The content address of what it does (op, target, content), not of why: 12 hex digits."""
        return hashlib.sha256(json.dumps([self.op, self.target, self.content]).encode()).hexdigest()[:12]

    def as_dict(self) -> dict[str, Any]:
        """Plain data for YAML or JSON; ``from_dict`` gives the edit back."""
        return {**asdict(self), "evidence": list(self.evidence)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Edit:
        """The edit of ``as_dict``; further keys, as a journal's row has them, are passed over."""
        known = {field.name: data[field.name] for field in fields(cls) if field.name in data}
        return cls(**{**known, "evidence": tuple(known.get("evidence", ()))})


@dataclass(frozen=True, slots=True)
class Pattern:
    """A failure that recurs: what it is, how often it was seen, in which tasks.

    ``kind`` is defect or lapse where reflection is skill-aware.
    """

    pattern: str
    count: int
    task_ids: tuple[str, ...] = ()
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Patch:
    """Edits that were proposed together, with the reasoning behind them."""

    edits: tuple[Edit, ...]
    reasoning: str = ""
    source: str = "failure"
    patterns: tuple[Pattern, ...] = ()


def parse_edit(raw: Mapping[str, Any], ops: Collection[str] = ANCHORED) -> Edit | str:
    """The edit that a model's answer means, or why it means none; ``ops`` are those it may propose.

    ``op`` is case-folded, add, insert and remove are synonyms, null is as good as absent, and further keys are passed
    over. ``task_ids`` (or ``evidence``) become the evidence.
    """
    if not isinstance(raw, Mapping):
        return f"an edit is an object, not {type(raw).__name__}"
    content, target = raw.get("content") or "", raw.get("target") or ""
    for name, value in (("content", content), ("target", target)):
        if problem := not_text(value):
            return f"{name} {problem}"
    op = _op(raw.get("op"), bool(target.strip()))
    if op not in ops:
        return f"op {raw.get('op')!r} is unknown; it is one of {', '.join(ops)}"
    if op in TARGETED and not target.strip():
        return f"{op} needs a target"
    if op != "delete" and not content:
        return f"{op} needs content"
    return Edit(
        op=cast(Op, op),
        content="" if op == "delete" else content,
        target=target if op in TARGETED else "",
        title=" ".join(_words(raw.get("title")).split()),
        reasoning=_words(raw.get("reasoning")),
        evidence=_ids(raw.get("task_ids") or raw.get("evidence")),
    )


def _op(raw: object, has_target: bool) -> str:
    name = raw.strip().casefold().replace("-", "_").replace(" ", "_") if isinstance(raw, str) else ""
    if name in ("add", "insert"):
        return "insert_after" if has_target else "append"
    return "delete" if name == "remove" else name


def not_text(value: object) -> str:
    """Why the value cannot be part of a document; empty if it can."""
    if not isinstance(value, str):
        return f"is {type(value).__name__}, not text"
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        return "holds characters that are not text (NUL or unpaired surrogates)"
    return ""


def _words(value: object) -> str:
    return value.replace("\0", "").encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _ids(value: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_words(str(item)) for item in value)) if isinstance(value, list | tuple) else ()
