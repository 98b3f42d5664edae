"""Judges of text: exact, normalized, contains, regex."""

from __future__ import annotations

import re
import string
from collections import Counter
from typing import ClassVar

from pydantic import Field, model_validator

from skillgit.errors import ConfigError, TaskError
from skillgit.judges.base import PASSED, Judge, Judgement, clipped, compiled, failed, references
from skillgit.splits import Task


def _folded(text: str, ignore_case: bool) -> str:
    return text.strip().casefold() if ignore_case else text.strip()


class Exact(Judge):
    """Equal to a reference after trimming white space at both ends."""

    ignore_case: bool = Field(False, description="upper and lower case are the same")

    def __call__(self, task: Task, answer: str) -> Judgement:
        got = _folded(answer, self.ignore_case)
        hit = any(got == _folded(reference, self.ignore_case) for reference in references(task))
        return PASSED if hit else failed(task, answer)


class Normalized(Judge):
    """SQuAD's exact match and token F1: lower case, no ASCII punctuation, no articles, single spaces.

    Rajpurkar et al. 2016, https://arxiv.org/abs/1606.05250. Hard is EM, soft the best F1 over the references.
    """

    def __call__(self, task: Task, answer: str) -> Judgement:
        got = normalize(answer)
        golds = [normalize(reference) for reference in references(task)]
        if got in golds:
            return PASSED
        return failed(task, answer, max((token_f1(got, gold) for gold in golds), default=0.0))


_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize(text: str) -> str:
    """SQuAD's normal form of an answer."""
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text.lower().translate(_PUNCTUATION)).split())


def token_f1(one: str, other: str) -> float:
    """F1 of the two token multisets, 0..1; 1 when both are empty."""
    first, second = one.split(), other.split()
    if not first or not second:
        return float(first == second)
    common = sum((Counter(first) & Counter(second)).values())
    return 2 * common / (len(first) + len(second))


class Contains(Judge):
    """Holds a reference, or with ``all`` every one of them; soft is then the share it holds."""

    ignore_case: bool = Field(True, description="upper and lower case are the same")
    all: bool = Field(False, description="every reference must be there, not just one")

    def __call__(self, task: Task, answer: str) -> Judgement:
        got = _folded(answer, self.ignore_case)
        wanted = [reference for reference in references(task) if reference.strip()]
        lacking = [reference for reference in wanted if _folded(reference, self.ignore_case) not in got]
        if wanted and len(lacking) < (1 if self.all else len(wanted)):
            return PASSED
        if not self.all:
            return failed(task, answer)
        lacks = ", ".join(repr(clipped(reference)) for reference in lacking)
        share = 1 - len(lacking) / len(wanted) if wanted else 0.0
        return Judgement(
            0.0, share, f"expected all of {len(wanted)} parts, got {clipped(answer)!r}, which lacks {lacks}"
        )


class Regex(Judge):
    """Matches the pattern of the judge, or the task's own."""

    needs_answer: ClassVar[bool] = False
    pattern: str = Field("", description="the regular expression an answer must match")
    field: str = Field("", description="the task field that holds the task's own pattern")
    full: bool = Field(False, description="the whole answer must match, not just a part of it")

    @model_validator(mode="after")
    def _one_pattern(self) -> Regex:
        if bool(self.pattern) == bool(self.field):
            raise ValueError("needs either 'pattern' or 'field' (the task field that holds the pattern)")
        if self.pattern:
            compiled(self.pattern)
        return self

    def __call__(self, task: Task, answer: str) -> Judgement:
        pattern = compiled(self.pattern) if self.pattern else self._own(task)
        if pattern.fullmatch(answer.strip()) if self.full else pattern.search(answer):
            return PASSED
        if references(task):
            return failed(task, answer)
        return Judgement(0.0, 0.0, f"expected an answer of another form, got {clipped(answer)!r}")

    def _own(self, task: Task) -> re.Pattern[str]:
        try:
            return compiled(str(task.fields.get(self.field) or ""))
        except ConfigError as error:
            raise TaskError(f"task '{task.id}', field '{self.field}': {error.message}") from None
