"""The record of a rollout, and how it is made while env.py talks to the target."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from skillgit.models.base import NO_USAGE, Message, Model, Reply, Request, Usage
from skillgit.models.transcript import given, message_data, message_from
from skillgit.splits import Task


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The record of a rollout. ``error`` says why it was not measured; its scores mean nothing then.

    ``messages`` are the prompts and all that followed, ``output`` the last reply, ``answer`` what was judged. ``hard`` is
    0 or 1, ``soft`` in 0..1.
    """

    task: Task
    sample: int = 0
    messages: tuple[Message, ...] = ()
    output: str = ""
    answer: str = ""
    hard: float = 0.0
    soft: float = 0.0
    reason: str = ""
    error: str = ""
    usage: Usage = NO_USAGE

    @classmethod
    def failed(cls, task: Task, sample: int, error: str) -> Trajectory:
        """A rollout that could not be measured."""
        return cls(task, sample, error=error)

    def to_json(self) -> str:
        """Everything but the task, which the reader has; what is empty is left out."""
        data = {name: value for name, value in given(self).items() if name not in ("task", "usage")}
        if self.messages:
            data["messages"] = [message_data(message) for message in self.messages]
        return json.dumps({**data, "usage": given(self.usage)}, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str, task: Task) -> Trajectory:
        """What ``to_json`` wrote, for its task."""
        data = json.loads(text)
        messages = tuple(message_from(row) for row in data.pop("messages", ()))
        return cls(task, messages=messages, usage=Usage(**data.pop("usage")), **data)


class Recorded:
    """The target as the rollout of an env.py sees it: it may call it as often as it likes.

    Each call carries the repeat index of the rollout. ``messages`` is the conversation up to the last reply (which holds all
    turns, as each call sends those before it) and ``usage`` the sum over the calls.
    """

    def __init__(self, model: Model, sample: int) -> None:
        self._model = model
        self._sample = sample
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.is_agent = model.is_agent
        self.messages: tuple[Message, ...] = ()
        self.usage = NO_USAGE

    async def call(self, request: Request) -> Reply:
        """Ask the target."""
        reply = await self._model.call(replace(request, sample=self._sample))
        self.messages = (*request.messages, *reply.steps, reply.turn())
        self.usage += reply.usage
        return reply

    async def close(self) -> None:
        """The one who opened the target closes it."""
