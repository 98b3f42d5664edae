"""Requests and replies as JSON, and what makes two requests the same."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from skillgit.models.base import Message, Reply, Request, ToolCall, Usage


def given(value: Any) -> dict[str, Any]:
    """The fields of a dataclass that do not have their default."""
    return {
        field.name: getattr(value, field.name) for field in fields(value) if getattr(value, field.name) != field.default
    }


def message_data(message: Message) -> dict[str, Any]:
    """A turn, without what is empty."""
    data = given(message)
    if message.tool_calls:
        data["tool_calls"] = [given(call) for call in message.tool_calls]
    return data


def message_from(data: dict[str, Any]) -> Message:
    """What ``message_data`` gave, also after it was JSON."""
    calls = tuple(ToolCall(**call) for call in data.get("tool_calls", ()))
    listed = {name: tuple(data.get(name, ())) for name in ("images", "thoughts")}
    return Message(**{**data, **listed, "tool_calls": calls})


def request_data(request: Request) -> dict[str, Any]:
    """A request, without what is empty; what an optimizer that is a program reads besides the prompt is left out."""
    data: dict[str, Any] = {"messages": [message_data(message) for message in request.messages]}
    if request.schema is not None:
        data |= {"schema_name": request.schema_name, "schema": dict(request.schema)}
    if request.tools:
        data["tools"] = [given(tool) for tool in request.tools]
    if request.skill:
        data["skill"] = given(request.skill)
    if request.files:
        data["files"] = dict(request.files)
    return data | {name: getattr(request, name) for name in ("max_tokens", "sample") if getattr(request, name)}


def digest(request: Request) -> str:
    """16 hex digits: the same for the same question on any machine, so files count by their content."""
    data = request_data(request)
    for message in data["messages"]:
        if "images" in message:
            message["images"] = [_content(image) for image in message["images"]]
    if "files" in data:
        data["files"] = {name: _content(path) for name, path in data["files"].items()}
    text = json.dumps(data, sort_keys=True)  # plain ASCII, whatever the prompt holds
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def _content(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except (OSError, ValueError):  # an address, or data as it is
        return path


def reply_data(reply: Reply) -> dict[str, Any]:
    """A reply, without what is empty."""
    data: dict[str, Any] = {"text": reply.text, **given(reply), "usage": given(reply.usage)}
    if reply.tool_calls:
        data["tool_calls"] = [given(call) for call in reply.tool_calls]
    if reply.steps:
        data["steps"] = [message_data(step) for step in reply.steps]
    return data


def reply_from(data: dict[str, Any]) -> Reply:
    """What ``reply_data`` gave, also after it was JSON. Raises ValueError when it is no reply."""
    try:
        calls = tuple(ToolCall(**call) for call in data.get("tool_calls", ()))
        steps = tuple(message_from(step) for step in data.get("steps", ()))
        usage = Usage(**data.get("usage", {}))
        listed = {"tool_calls": calls, "steps": steps, "thoughts": tuple(data.get("thoughts", ()))}
        return Reply(**{**data, **listed, "usage": usage})
    except (TypeError, AttributeError) as error:
        raise ValueError(f"it is no reply: {error}") from None
