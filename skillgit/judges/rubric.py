"""A judge that is a model: it scores an answer by each criterion of a rubric, several times if asked."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from importlib import resources
from statistics import median
from typing import Any, ClassVar

from pydantic import Field, PrivateAttr, field_validator

from skillgit.config import Section
from skillgit.errors import OutputError
from skillgit.judges.base import Judge, Judgement, clipped, references
from skillgit.models.base import Message, Reply, Request
from skillgit.parsing import parse_object
from skillgit.splits import Task

VERSION = "1"
"""Rises when the prompt or the reading of its answers changes: what was judged before is judged anew."""
TOP = 4
"""A criterion is scored from 0 to this."""
ATTEMPTS = 3
Ask = Callable[[Request], Awaitable[Reply]]
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "criteria": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "reason": {"type": "string"},
                    "score": {"type": "integer", "enum": list(range(TOP + 1))},
                },
                "required": ["name", "reason", "score"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["criteria"],
    "additionalProperties": False,
}


class Criterion(Section):
    """One thing an answer is judged by."""

    name: str = Field(min_length=1, description="a short name")
    description: str = Field(min_length=1, description="what full marks are given for")
    weight: float = Field(1.0, gt=0, description="its share in the score")


class Rubric(Judge):
    """Asks ``models.judge``. Soft is the weighted mean of the criteria, each the median of the votes; hard is 1 from
    ``pass_at`` on.
    """

    needs_answer: ClassVar[bool] = False
    costs: ClassVar[bool] = True
    asks: ClassVar[bool] = True
    criteria: tuple[Criterion, ...] = Field(min_length=1, description="what is judged: name, description, weight")
    votes: int = Field(1, ge=1, le=9, description="times the judge is asked, an odd number; the median counts")
    pass_at: float = Field(0.75, gt=0, le=1, description="an answer passes from this score on")
    show_answer: bool = Field(True, description="show the judge the reference answer, where there is one")
    _ask: Ask | None = PrivateAttr(None)

    @field_validator("criteria", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("criteria")
    @classmethod
    def _distinct(cls, value: tuple[Criterion, ...]) -> tuple[Criterion, ...]:
        names = [criterion.name for criterion in value]
        if len(set(names)) < len(names):
            raise ValueError(f"two criteria have the same name: {', '.join(names)}")
        return value

    @field_validator("votes")
    @classmethod
    def _odd(cls, value: int) -> int:
        if value % 2 == 0:
            raise ValueError("must be odd, so that the median is one of the votes")
        return value

    def bind(self, ask: Ask) -> None:
        """Take the model to ask."""
        self._ask = ask

    async def judge(self, task: Task, answer: str) -> Judgement:
        """Have an answer judged; an empty one fails unasked. Raises OutputError when no vote can be used."""
        if not answer.strip():
            return Judgement(0.0, 0.0, "the answer is empty")
        votes = [await self._vote(task, answer, number) for number in range(self.votes)]
        scores = {c.name: median(vote[c.name][0] for vote in votes) / TOP for c in self.criteria}
        weights = sum(criterion.weight for criterion in self.criteria)
        soft = sum(criterion.weight * scores[criterion.name] for criterion in self.criteria) / weights
        missing = [
            f"{name} {scores[name] * TOP:g}/{TOP}: {clipped(_why(votes, name))}" for name in scores if scores[name] < 1
        ]
        return Judgement(float(soft >= self.pass_at - 1e-9), soft, "; ".join(missing))

    async def _vote(self, task: Task, answer: str, number: int) -> dict[str, tuple[int, str]]:
        assert self._ask is not None, "a rubric is bound to a model before it judges"
        messages = self._messages(task, answer)
        request = Request(messages, schema=SCHEMA, schema_name="rubric", sample=number)
        wrong = ""
        for _ in range(ATTEMPTS):
            reply = await self._ask(request)
            try:
                return self._read(parse_object(reply.text, ("criteria",)))
            except ValueError as error:
                wrong = " ".join(str(error).split())
                again = Message(
                    "user", f"That answer cannot be used: {wrong}. Answer again with exactly one JSON object."
                )
                request = replace(request, messages=(*messages, Message("assistant", reply.text or "(empty)"), again))
        raise OutputError(f"the judge gave no usable answer in {ATTEMPTS} tries: {wrong}")

    def _read(self, data: Mapping[str, Any]) -> dict[str, tuple[int, str]]:
        rows = data["criteria"] if isinstance(data["criteria"], list) else []
        found = {}
        for row in rows:
            score = row.get("score") if isinstance(row, Mapping) else None
            if isinstance(score, int) and not isinstance(score, bool) and 0 <= score <= TOP:
                found[str(row.get("name"))] = (score, " ".join(str(row.get("reason") or "").split()))
        lacking = [criterion.name for criterion in self.criteria if criterion.name not in found]
        if lacking:
            raise ValueError(f"there is no score from 0 to {TOP} for '{lacking[0]}'")
        return found

    def _messages(self, task: Task, answer: str) -> tuple[Message, ...]:
        golds = references(task) if self.show_answer else []
        values = {
            "criteria": "\n".join(f"- {c.name}: {' '.join(c.description.split())}" for c in self.criteria),
            "task": _fenced(task.input),
            "reference": _fenced("\n\n".join(golds)) if golds else "(none)",
            "answer": _fenced(answer),
        }
        text = resources.files("skillgit").joinpath("prompts", "rubric.md").read_text(encoding="utf-8")
        system, _, user = text.partition("<!-- user -->")
        filled = [re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], part).strip() for part in (system, user)]
        return Message("system", filled[0]), Message("user", filled[1])


def _why(votes: list[dict[str, tuple[int, str]]], name: str) -> str:
    """The reason of the middle vote."""
    return sorted(vote[name] for vote in votes)[len(votes) // 2][1]


def _fenced(text: str) -> str:
    """The text in a fence that it cannot close."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    return f"{'`' * (longest + 1)}\n{text}\n{'`' * (longest + 1)}"
