"""Applying edits to the skill document, and how each of them ended. Pure.

Everything about the document is offered here: an edit is in ``edit``, what a document is made of in ``document``, what
stands in its regions in ``guidance``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from skillgit.document import (
    MARKER,
    Regions,
    Span,
    body,
    check_document,
    digest,
    frontmatter,
    is_protected,
    main_segment,
    protected,
    regions,
    segments,
    strip_markers,
    with_body,
)
from skillgit.edit import ANCHORED, OPS, TARGETED, Edit, Op, Patch, Pattern, not_text, parse_edit
from skillgit.errors import SkillError
from skillgit.guidance import appendix_notes, deployable, guidance, with_appendix, with_guidance
from skillgit.lines import (
    changed_part,
    ends_line,
    is_blank,
    line_number,
    newline,
    place_block,
    trim_blank_lines,
    unix,
    visible,
)
from skillgit.matching import MOST_PLACES, after_line, deletion, find, holds_block
from skillgit.size import tokens

__all__ = [
    "APPLIED",
    "STATUSES",
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
    "too_long",
    "copied",
    "worked_in",
    "left_out",
    "invalid",
]
STATUSES: tuple[Status, ...] = get_args(Status)
APPLIED: frozenset[Status] = frozenset(("applied", "applied_fuzzy", "appended_no_anchor"))


@dataclass(frozen=True, slots=True)
class EditReport:
    """How one edit ended, and in ``detail`` why it was not applied."""

    edit: Edit
    status: Status
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Applied:
    """The text after all edits, a report for each edit in order, and in ``texts`` the text after each change."""

    text: str
    reports: tuple[EditReport, ...]
    texts: tuple[str, ...]

    @property
    def buckets(self) -> dict[Status, int]:
        """How many edits ended in each status; every status is there, and the sum is that of the edits proposed."""
        counts = Counter(report.status for report in self.reports)
        return {status: counts[status] for status in STATUSES}


class _Refused(Exception):
    """Why an edit is not applied."""

    def __init__(self, status: Status, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


def apply_edits(
    text: str,
    edits: Sequence[Edit],
    *,
    missing_anchor: Literal["append", "skip"] = "skip",
    budget: int | None = None,
    max_tokens: int | None = None,
) -> Applied:
    """Apply the edits one after another, at most ``budget`` of them, each at its one place or not at all.

    An edit that is refused leaves the text as it was, and the next is tried. ``missing_anchor`` says what becomes of an
    ``insert_after`` whose target is nowhere. An edit that makes the document longer than ``max_tokens`` is refused. Raises
    SkillError when the text itself has broken markers or frontmatter.
    """
    protected(text)
    seen = set[str]()
    reports: list[EditReport] = []
    texts: list[str] = []
    for edit in edits:
        try:
            if edit.digest() in seen:
                raise _Refused("duplicate", "an earlier edit of the list is the same")
            status, changed = _change(text, edit, missing_anchor)
            _check(text, changed, edit)
            _check_size(text, changed, max_tokens)
            if budget is not None and len(texts) >= budget:
                raise _Refused("over_budget", f"the budget of {budget} is spent")
        except _Refused as refused:
            reports.append(EditReport(edit, refused.status, refused.detail))
        else:
            reports.append(EditReport(edit, status))
            texts.append(changed)
            text = changed
        seen.add(edit.digest())
    applied = Applied(text, tuple(reports), tuple(texts))
    done = sum(applied.buckets[status] for status in APPLIED)
    assert sum(applied.buckets.values()) == len(edits) and done == len(texts), "an edit ended in no bucket, or in two"
    return applied


def _change(text: str, edit: Edit, missing_anchor: str) -> tuple[Status, str]:
    """The changed text. ``_Refused`` says why there is none."""
    content = _content(text, edit)
    if edit.op == "rewrite":
        return "applied", _rewritten(text, content)
    if edit.op == "remind":
        return "applied", with_appendix(text, (*appendix_notes(text), content))
    if edit.op == "append":
        return "applied", _appended(text, content)
    hunk = edit.verbatim and edit.op == "replace"
    free = [(0, len(text))] if hunk else segments(text)
    found = find(text, edit.target, free, verbatim=edit.verbatim)
    if found.protected:
        raise _Refused("protected", "the target stands in a protected region")
    if len(found.places) > 1:
        raise _Refused("ambiguous", _listed(text, found.places))
    if not found.places:
        if edit.op == "insert_after" and missing_anchor == "append":
            return "appended_no_anchor", _appended(text, content)
        raise _Refused("no_target", "the target is not in the body")
    (place,) = found.places
    if edit.op == "insert_after":
        within = next(span for span in free if span[0] <= place[0] and place[1] <= span[1])
        at = after_line(text, place, within)
        place, content = (at, at), _as_lines(text, at, content)
    elif edit.op == "delete":
        place = deletion(text, place)
    elif hunk:
        place, content = _without_context(text, place, content)
    elif found.fuzzy:
        content = _without_edges(content, edit.target)
    return "applied_fuzzy" if found.fuzzy else "applied", text[: place[0]] + content + text[place[1] :]


def _content(text: str, edit: Edit) -> str:
    """What the edit brings in, without markers and with the line endings of the file."""
    if edit.op not in OPS or edit.op == "suggest":
        raise _Refused("invalid", f"op {edit.op!r} cannot be applied; it is one of {', '.join(ANCHORED)}")
    if edit.op in TARGETED and not edit.target.strip():
        raise _Refused("invalid", f"{edit.op} needs a target")
    if edit.op == "delete":
        return ""
    if problem := not_text(edit.content):
        raise _Refused("invalid", f"content {problem}")
    content = edit.content if edit.verbatim and edit.op == "replace" else strip_markers(edit.content)
    if edit.op == "replace":
        if not content.strip():
            raise _Refused("invalid", "replace needs content; delete takes text away")
    elif not content.strip():
        raise _Refused("no_op", "there is no text in the content")
    elif edit.op == "remind":
        if content.strip() in appendix_notes(text):
            raise _Refused("duplicate", "the appendix says this already")
    elif edit.op != "rewrite" and any(holds_block(text[start:end], content) for start, end in segments(text)):
        raise _Refused("duplicate", "the body says this already")
    return content if edit.verbatim else unix(content).replace("\n", newline(text))


def _rewritten(text: str, content: str) -> str:
    try:
        return with_body(text, content)
    except SkillError as error:
        raise _Refused("invalid", error.message) from error


def _appended(text: str, content: str) -> str:
    at, block = place_block(text, *main_segment(text), trim_blank_lines(content))
    return text[:at] + block + text[at:]


def _as_lines(text: str, at: int, content: str) -> str:
    """The content as lines of their own when inserted at ``at``, which is where a line begins or the text ends."""
    if at == len(text) and not ends_line(text):
        return newline(text) + content
    return content if ends_line(content) else content + newline(text)


def _without_context(text: str, place: Span, content: str) -> tuple[Span, str]:
    """A hunk without what it has in common with the text: that may stand in a region, and hold its markers."""
    start, end, content = changed_part(text, *place, content)
    if is_protected(regions(text), start, end):
        raise _Refused("protected", "the patch changes a protected region")
    if MARKER.search(content):
        raise _Refused("protected", "the patch brings in a region's marker")
    return (start, end), content


def _without_edges(content: str, target: str) -> str:
    """A fuzzy place leaves out the white space around the target, so what of it is around the content goes too."""
    lead, trail = target[: len(target) - len(target.lstrip())], target[len(target.rstrip()) :]
    eol = newline(content)
    return content.removeprefix(unix(lead).replace("\n", eol)).removesuffix(unix(trail).replace("\n", eol))


def _check_size(text: str, changed: str, most: int | None) -> None:
    size = tokens(changed)
    if most is not None and most < size > tokens(text):
        raise _Refused("too_long", f"the document would have {size} tokens; edits.max_tokens is {most}")


def _check(text: str, changed: str, edit: Edit) -> None:
    """What holds for every text that an edit leaves."""
    if changed == text:
        raise _Refused("no_op", "it changes nothing")
    if not edit.verbatim and visible(changed) == visible(text):
        raise _Refused("no_op", "it changes only blank lines or trailing spaces")
    try:
        now = _kept(changed, edit)
    except SkillError as error:
        raise _Refused("invalid", f"it would break the document: {error.message}") from error
    if now != _kept(text, edit):
        raise _Refused("invalid", "it would change a protected region")
    if is_blank(body(changed)):
        raise _Refused("invalid", "it would leave an empty body")


def _kept(text: str, edit: Edit) -> tuple[str, ...]:
    """The protected parts that this edit must leave alone; a reminder is for the appendix."""
    if edit.op != "remind":
        return protected(text)
    found = regions(text)
    return tuple(text[slice(*span)] for span in (found.frontmatter, found.slow) if span)


def _listed(text: str, places: Sequence[Span]) -> str:
    lines = ", ".join(str(line_number(text, start)) for start, _ in places[:MOST_PLACES])
    count = f"more than {MOST_PLACES}" if len(places) > MOST_PLACES else str(len(places))
    return f"the target stands at {count} places: lines {lines}"
