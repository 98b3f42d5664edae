"""DocVQA: two scorers for ``judge.function``; hard is an ANLS of 0.999 and more, soft the ANLS."""

from __future__ import annotations

from skillgit.judges.base import PASSED, Judgement, failed, references
from skillgit.splits import Task

from .anls import RIGHT, Normal, anls, bare, normalized


def reference(task: Task, answer: str) -> Judgement:
    """The paper's: lower case and single spaces, nothing else."""
    return _judged(task, answer, normalized)


def lenient(task: Task, answer: str) -> Judgement:
    return _judged(task, answer, bare)


def _judged(task: Task, answer: str, normal: Normal) -> Judgement:
    if not answer.strip():
        return failed(task, answer)
    soft = anls(answer, references(task), normal)
    return PASSED if soft >= RIGHT else failed(task, answer, soft, note=_near_miss(task, answer, soft))


def _near_miss(task: Task, answer: str, soft: float) -> str:
    """What is nearly right: the paper's code says nothing of answers that differ little, though they fail."""
    golds = references(task)
    if anls(answer, golds, bare) >= RIGHT:
        return "the same but for an article, a currency sign or a mark at its ends"
    if any(gold.strip() and normalized(gold) in normalized(answer) for gold in golds):
        return "which holds the expected answer and more"
    if any(normalized(answer) in normalized(gold) for gold in golds):
        return "which is only a part of the expected answer"
    return f"which is near it (ANLS {soft:.3f})" if soft else ""
