"""Requests and replies in the form of OpenAI's Responses API."""

from __future__ import annotations

from typing import Any

from skillgit.config import ModelSettings
from skillgit.models import images
from skillgit.models.base import NO_USAGE, Message, Reply, Request, Stop, ToolCall, Usage
from skillgit.models.prices import priced
from skillgit.models.quirks import Attempt
from skillgit.models.refusals import Refusal, Refused
from skillgit.models.schemas import is_strict


def parameters(request: Request, settings: ModelSettings, attempt: Attempt) -> dict[str, Any]:
    """What ``responses.create`` is called with."""
    wanted: dict[str, Any] = {
        "input": [item for message in request.messages for item in _items(message)],
        "max_output_tokens": request.max_tokens or settings.max_tokens,
        "store": False,
    }
    if settings.temperature is not None and attempt.form("temperature"):
        wanted["temperature"] = settings.temperature
    if settings.reasoning_effort:
        wanted["reasoning"] = {"effort": settings.reasoning_effort}
    if request.schema is not None and (form := attempt.form("schema")):
        wanted["text"] = {"format": _format(request, form)}
    if request.tools:
        wanted["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
                "strict": is_strict(tool.parameters),
            }
            for tool in request.tools
        ]
        if attempt.form("thoughts"):
            wanted["include"] = ["reasoning.encrypted_content"]  # nothing is stored, so thoughts travel with the turns
    return wanted


def _format(request: Request, form: str) -> dict[str, Any]:
    if form == "json_object":
        return {"type": form}
    schema = dict(request.schema or {})
    return {"type": form, "name": request.schema_name, "schema": schema, "strict": is_strict(schema)}


def _items(message: Message) -> list[dict[str, Any]]:
    if message.thoughts:
        return [dict(item) for item in message.thoughts]
    content: Any = message.content
    if message.images:
        content = [{"type": "input_text", "text": message.content}] if message.content else []
        content += [{"type": "input_image", "image_url": images.url(i), "detail": "auto"} for i in message.images]
    if message.role == "tool":
        return [{"type": "function_call_output", "call_id": message.tool_call_id, "output": content}]
    items: list[dict[str, Any]] = [{"role": message.role, "content": content}] if content else []
    items += [
        {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": c.arguments} for c in message.tool_calls
    ]
    return items


def reply(response: Any, settings: ModelSettings) -> Reply:
    """A finished response. Raises Refused when the provider gave up on it, ValueError when it is not whole."""
    if response.status not in ("completed", "incomplete"):
        error = response.error.model_dump() if response.error else None
        raise Refused(Refusal.parse(200, error, f"the response is {response.status}"))
    messages = [item for item in response.output if item.type == "message"]
    refusals = [part.refusal for item in messages for part in item.content if part.type == "refusal"]
    calls = tuple(ToolCall(i.call_id, i.name, i.arguments) for i in response.output if i.type == "function_call")
    usage = _usage(response.usage, settings)
    reason = response.incomplete_details.reason if response.incomplete_details else ""
    stop: Stop = "tool_calls" if calls else "stop"
    if reason == "max_output_tokens":
        stop = "length"
    elif refusals or reason == "content_filter":
        stop = "refusal"
    elif response.status == "incomplete":
        raise ValueError(f"it is incomplete: {reason}")
    thought = calls and any(item.type == "reasoning" and item.encrypted_content for item in response.output)
    whole = tuple(item.model_dump(mode="json", exclude_unset=True, exclude_none=True) for item in response.output)
    return Reply(response.output_text or "".join(refusals), usage, stop, calls, thoughts=whole if thought else ())


def _usage(usage: Any, settings: ModelSettings) -> Usage:
    if usage is None or usage.input_tokens is None:
        return NO_USAGE
    details = usage.input_tokens_details
    read, written = (getattr(details, name, None) for name in ("cached_tokens", "cache_write_tokens"))
    return priced(settings, usage.input_tokens, usage.output_tokens or 0, read, written)
