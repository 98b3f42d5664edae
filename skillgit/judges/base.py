"""What every judge has: its options, a score, and the reason for a failure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, ClassVar

from skillgit.config import Section
from skillgit.errors import ConfigError
from skillgit.splits import Task

MOST_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Judgement:
    """A score: hard is 0 or 1, soft in 0..1; ``reason`` says why an answer failed."""

    hard: float
    soft: float
    reason: str = ""


PASSED = Judgement(1.0, 1.0)


class Judge(Section):
    """Scores the answer to a task. Its fields are the options of ``judge:`` in env.yaml.

    A reason shows what was expected and what came, never a judge's pattern or source: the optimizer reads it.
    """

    needs_answer: ClassVar[bool] = True
    """Whether a task without a reference answer can never pass."""
    costs: ClassVar[bool] = False
    """Whether judging takes a process or a call, so that it must be awaited."""
    asks: ClassVar[bool] = False
    """Whether it asks ``models.judge``."""

    def __call__(self, task: Task, answer: str) -> Judgement:
        raise ConfigError("this judge takes a process or a call; in env.py write: await env.judged(...)")

    def golds(self, task: Task) -> list[str]:
        """Answers that must pass: those which prove, before anything is spent, that the judge judges."""
        return references(task)

    async def judge(self, task: Task, answer: str) -> Judgement:
        """Score an answer. Raises OutputError when the judge gives no score: the answer is not measured then."""
        return self(task, answer)


def references(task: Task) -> list[str]:
    """The acceptable answers of a task as text; a list means any of them."""
    values = task.answer if isinstance(task.answer, (list, tuple)) else [task.answer]
    return [as_text(value) for value in values if value is not None]


def as_text(value: Any) -> str:
    """A value as one would write it in an answer: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def failed(task: Task, answer: str, soft: float = 0.0, *, note: str = "") -> Judgement:
    """A failure with ``expected ... got ...``, and a remark on what came."""
    wanted = " or ".join(repr(clipped(reference)) for reference in references(task)[:3])
    return Judgement(0.0, soft, f"expected {wanted}, got {clipped(answer)!r}" + (f", {note}" if note else ""))


def clipped(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern. Raises ConfigError when it is empty or does not compile."""
    if not pattern:
        raise ConfigError("the pattern is empty; it would match every answer")
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"the pattern {pattern!r} does not compile: {error}") from None
