"""The optimizer's answers in the memo: the same question of the same run is paid for once."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from skillgit.memo import Memo
from skillgit.models.base import Message, Reply, ToolCall, Usage


class Replies:
    """Looks an answer up by its key, else asks for it and keeps it."""

    def __init__(self, memo: Memo) -> None:
        self._memo = memo

    async def get_or_call(self, key: str, call: Callable[[], Awaitable[Reply]]) -> Reply:
        stored = self._memo.get("reply", key)
        if stored is not None:
            return from_json(stored)
        reply = await call()
        self._memo.put("reply", key, to_json(reply))
        return reply


def to_json(reply: Reply) -> str:
    return json.dumps(asdict(reply), ensure_ascii=False)


def from_json(text: str) -> Reply:
    data = json.loads(text)
    return Reply(
        data["text"],
        Usage(**data["usage"]),
        data["stop"],
        tuple(ToolCall(**call) for call in data["tool_calls"]),
        tuple(message_from(step) for step in data["steps"]),
    )


def message_from(data: dict[str, Any]) -> Message:
    calls = tuple(ToolCall(**call) for call in data["tool_calls"])
    return Message(data["role"], data["content"], tuple(data["images"]), calls, data["tool_call_id"])
