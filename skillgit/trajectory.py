"""The record of a rollout, and how it is made while env.py talks to the target."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from typing import Any

from skillgit.models.base import NO_USAGE, Message, Model, Reply, Request, ToolCall, Usage
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
        data = {name: value for name, value in _set(self).items() if name not in ("task", "usage")}
        if self.messages:
            data["messages"] = [_message(message) for message in self.messages]
        return json.dumps({**data, "usage": _set(self.usage)}, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str, task: Task) -> Trajectory:
        """What ``to_json`` wrote, for its task."""
        data = json.loads(text)
        messages = tuple(_read(row) for row in data.pop("messages", ()))
        return cls(task, messages=messages, usage=Usage(**data.pop("usage")), **data)


def _set(value: Any) -> dict[str, Any]:
    """The fields of a dataclass that do not have their default."""
    return {
        field.name: getattr(value, field.name) for field in fields(value) if getattr(value, field.name) != field.default
    }


def _message(message: Message) -> dict[str, Any]:
    data = _set(message)
    if message.tool_calls:
        data["tool_calls"] = [_set(call) for call in message.tool_calls]
    return data


def _read(row: dict[str, Any]) -> Message:
    calls = tuple(ToolCall(**call) for call in row.pop("tool_calls", ()))
    return Message(**{**row, "images": tuple(row.get("images", ())), "tool_calls": calls})


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
        said = Message("assistant", reply.text, tool_calls=reply.tool_calls)
        self.messages = (*request.messages, *reply.steps, said)
        self.usage += reply.usage
        return reply

    async def close(self) -> None:
        """The one who opened the target closes it."""
