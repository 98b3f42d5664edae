"""Requests and replies in the form of Chat Completions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from skillgit.config import ModelSettings
from skillgit.errors import TaskError
from skillgit.models import images
from skillgit.models.base import NO_USAGE, Message, Reply, Request, Stop, ToolCall, Usage
from skillgit.models.presets import BY_PROVIDER
from skillgit.models.prices import priced
from skillgit.models.quirks import Attempt
from skillgit.models.refusals import Refusal, Refused
from skillgit.models.schemas import is_strict

STOPS: dict[str, Stop] = {"length": "length", "content_filter": "refusal"}


def parameters(request: Request, settings: ModelSettings, attempt: Attempt) -> dict[str, Any]:
    """What ``chat.completions.create`` is called with."""
    wanted: dict[str, Any] = {
        "messages": [_message(message) for message in request.messages],
        attempt.form("room"): request.max_tokens or settings.max_tokens,
    }
    if settings.temperature is not None and attempt.form("temperature"):
        wanted["temperature"] = settings.temperature
    if settings.seed is not None:
        wanted["seed"] = settings.seed + request.sample
    if settings.reasoning_effort:
        wanted["reasoning_effort"] = settings.reasoning_effort
    if request.schema is not None and (form := attempt.form("schema")):
        wanted["response_format"] = _format(request, form)
    if request.tools:
        wanted["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
            }
            for tool in request.tools
        ]
    return wanted


def _format(request: Request, form: str) -> dict[str, Any]:
    if form == "json_object":
        return {"type": form}
    schema = dict(request.schema or {})
    return {"type": form, form: {"name": request.schema_name, "schema": schema, "strict": is_strict(schema)}}


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        if message.images:
            raise TaskError("Chat Completions takes no images in the results of tools; use api: responses")
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    content: Any = message.content
    if message.images:
        content = [{"type": "text", "text": message.content}] if message.content else []
        content += [{"type": "image_url", "image_url": {"url": images.url(image)}} for image in message.images]
    data: dict[str, Any] = {"role": message.role, "content": content}
    if message.tool_calls:
        data["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in message.tool_calls
        ]
    for thought in message.thoughts:
        data |= thought
    return data


def reply(completion: Any, settings: ModelSettings) -> Reply:
    """A completion. Raises Refused for an error that a router put into a good answer."""
    error = getattr(completion, "error", None)
    if error:
        code = error.get("code") if isinstance(error, dict) else None
        raise Refused(Refusal.parse(code if isinstance(code, int) else 200, {"error": error}))
    choice = completion.choices[0]
    message, reason = choice.message, choice.finish_reason or ""
    calls = tuple(ToolCall(c.id, c.function.name, c.function.arguments) for c in message.tool_calls or ())
    usage = _usage(completion.usage, settings)
    if message.refusal:
        return Reply(message.refusal, usage, "refusal")
    thoughts = _carried(message, settings) if calls else ()
    stop = STOPS.get(reason, "tool_calls" if calls else "stop")
    return Reply(message.content or "", usage, stop, calls, thoughts=thoughts)


def _carried(message: Any, settings: ModelSettings) -> tuple[dict[str, Any], ...]:
    """The fields that this server wants back with the results of tools."""
    preset = BY_PROVIDER.get(settings.model.partition(":")[0])
    names = preset.carried if preset else ()
    return tuple({name: message.model_extra[name]} for name in names if (message.model_extra or {}).get(name))


def _usage(usage: Any, settings: ModelSettings) -> Usage:
    if usage is None or usage.prompt_tokens is None:
        return NO_USAGE
    details = usage.prompt_tokens_details
    read, written = (getattr(details, name, None) for name in ("cached_tokens", "cache_write_tokens"))
    counted = priced(settings, usage.prompt_tokens, usage.completion_tokens or 0, read, written)
    preset = BY_PROVIDER.get(settings.model.partition(":")[0])
    billed = getattr(usage, preset.billed, None) if preset and preset.billed else None
    return counted if settings.usd_per_million or billed is None else replace(counted, usd=float(billed))
