"""Requests and replies in the form of Anthropic's Messages API."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from skillgit.config import ModelSettings
from skillgit.errors import ConfigError
from skillgit.models import images
from skillgit.models.base import Message, Reply, Request, Stop, ToolCall
from skillgit.models.prices import priced
from skillgit.models.quirks import Attempt
from skillgit.models.refusals import one_line

STOPS: dict[str, Stop] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "refusal",
}
SHARE = {"low": 0.25, "medium": 0.5, "high": 0.75}
"""Of the output limit, what models that know no adaptive thinking may think; MOST_SHARE above high."""
MOST_SHARE = 0.85
LEAST_THOUGHT = 1024
CACHED = {"type": "ephemeral"}
THINKING = ("thinking", "redacted_thinking")


def parameters(request: Request, settings: ModelSettings, attempt: Attempt) -> dict[str, Any]:
    """What ``messages.create`` and ``messages.stream`` are called with."""
    wanted: dict[str, Any] = {
        "max_tokens": request.max_tokens or settings.max_tokens,
        "messages": _turns([message for message in request.messages if message.role != "system"]),
    }
    system = "\n\n".join(message.content for message in request.messages if message.role == "system")
    if system:
        # the skill stands in the system prompt and is the same for every task of a step
        wanted["system"] = [{"type": "text", "text": system, "cache_control": CACHED}]
    if request.tools:
        _cached_up_to_here(wanted["messages"])
        wanted["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
            for tool in request.tools
        ]
    extra = dict(settings.extra)
    if settings.temperature is not None and attempt.form("temperature"):
        extra["temperature"] = settings.temperature  # no parameter of the SDK's any more: newer models refuse it
    if extra:
        wanted["extra_body"] = extra
    return wanted | _output(request, settings, attempt)


def _output(request: Request, settings: ModelSettings, attempt: Attempt) -> dict[str, Any]:
    output: dict[str, Any] = {}
    wanted: dict[str, Any] = {}
    if settings.reasoning_effort == "none":
        wanted["thinking"] = {"type": "disabled"}
    elif settings.reasoning_effort:
        if attempt.form("effort"):
            output["effort"] = settings.reasoning_effort
        room = request.max_tokens or settings.max_tokens
        wanted |= _thinking(attempt.form("thinking"), settings.reasoning_effort, room)
    if request.schema is not None and attempt.form("schema"):
        output["format"] = {"type": "json_schema", "schema": _accepted(request.schema_name, request.schema)}
    return wanted | ({"output_config": output} if output else {})


def _accepted(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with closed objects, and what the API does not know moved into descriptions."""
    from anthropic import transform_schema

    try:
        return transform_schema(dict(schema))
    except (ValueError, AssertionError) as error:
        raise ConfigError(f"the schema '{name}' cannot be asked for: {one_line(error)}") from None


def _thinking(form: str, effort: str, room: int) -> dict[str, Any]:
    if form == "adaptive":
        return {"thinking": {"type": form}}
    budget = int(room * SHARE.get(effort, MOST_SHARE))
    if budget < LEAST_THOUGHT:  # too little for the API: thoughts then come on top of the output limit
        budget, room = LEAST_THOUGHT, room + LEAST_THOUGHT
    return {"thinking": {"type": form, "budget_tokens": budget}, "max_tokens": room}


def _turns(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The conversation; results of parallel tool calls go into one turn, as the API wants it."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if turns and message.role == "tool" and turns[-1]["role"] == "user":
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    return turns


def _cached_up_to_here(turns: list[dict[str, Any]]) -> None:
    """A conversation with tools goes on from its last turn, and everything up to there is read again each time."""
    if turns and turns[-1]["role"] == "user" and turns[-1]["content"]:
        turns[-1]["content"][-1]["cache_control"] = CACHED


def _blocks(message: Message) -> list[dict[str, Any]]:
    if message.thoughts:
        return [dict(block) for block in message.thoughts]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": message.content}] if message.content else []
    blocks += [{"type": "image", "source": _source(image)} for image in message.images]
    if message.role == "tool":
        return [{"type": "tool_result", "tool_use_id": message.tool_call_id, "content": blocks or ""}]
    blocks += [
        {"type": "tool_use", "id": c.id, "name": c.name, "input": json.loads(c.arguments or "{}")}
        for c in message.tool_calls
    ]
    return blocks


def _source(image: str) -> dict[str, str]:
    if images.is_url(image):
        return {"type": "url", "url": image}
    kind, data = images.data(image)
    return {"type": "base64", "media_type": kind, "data": data}


def reply(message: Any, settings: ModelSettings) -> Reply:
    """A finished message. Raises ValueError when it broke off."""
    if message.stop_reason is None:
        raise ValueError("it was cut off")
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = tuple(
        ToolCall(block.id, block.name, json.dumps(block.input)) for block in message.content if block.type == "tool_use"
    )
    thought = calls and any(block.type in THINKING for block in message.content)
    usage = message.usage
    read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    counted = priced(settings, usage.input_tokens + read + written, usage.output_tokens, read, written)
    return Reply(
        text, counted, STOPS.get(message.stop_reason, "stop"), calls, thoughts=_whole(message) if thought else ()
    )


def _whole(message: Any) -> tuple[dict[str, Any], ...]:
    """All blocks in their order, as the API wants a turn with signed thoughts back."""
    return tuple(block.model_dump(mode="json", exclude_unset=True, exclude_none=True) for block in message.content)
