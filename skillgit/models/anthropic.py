"""Anthropic's models over the Messages API, with the skill's prompt cached."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skillgit.config import ModelSettings
from skillgit.errors import ProviderError
from skillgit.models import http
from skillgit.models.base import Message, Reply, Request, Stop, ToolCall, Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

STREAM_ABOVE = 16_000
"""Output limit, in tokens, above which the answer is streamed: the SDK refuses to wait for such a one in silence."""

STOPS: dict[str, Stop] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "refusal",
}


class AnthropicModel:
    """An Anthropic model. ``reasoning_effort`` turns adaptive thinking on."""

    is_agent = False

    def __init__(self, settings: ModelSettings, name: str) -> None:
        self._settings = settings
        self._model = name
        self._client: AsyncAnthropic | None = None
        self._opening = asyncio.Lock()
        self.name = settings.model
        self.fingerprint = http.fingerprint(settings)

    async def call(self, request: Request) -> Reply:
        """One attempt; the SDK's own retries are off."""
        client = await self._connected()
        import anthropic

        wanted = self._wanted(request)
        try:
            if wanted["max_tokens"] > STREAM_ABOVE:
                async with client.messages.stream(**wanted) as stream:
                    message = await stream.get_final_message()
            else:
                message = await client.messages.create(**wanted)
            return _reply(message)
        except anthropic.APIStatusError as error:
            said = http.words(error.body, error.message)
            raise http.status_error(self._settings, error.status_code, said, error.response.headers) from None
        except anthropic.APIConnectionError as error:
            cause = error.__cause__ or error
            text = f"{self.name}: no connection: {' '.join(str(cause).split()) or type(cause).__name__}"
            raise ProviderError(text, transient=True) from None
        except (anthropic.AnthropicError, ValueError, TypeError, AttributeError, AssertionError) as error:
            said = " ".join(str(error).split())
            text = f"{self.name}: the answer cannot be read: {type(error).__name__}: {said}"
            raise ProviderError(text, transient=True) from None

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _connected(self) -> AsyncAnthropic:
        async with self._opening:
            if self._client is None:
                from anthropic import AsyncAnthropic

                self._client = AsyncAnthropic(
                    api_key=http.api_key(self._settings, "ANTHROPIC_API_KEY"),
                    base_url=self._settings.base_url or None,
                    max_retries=0,
                    timeout=self._settings.timeout,
                )
            return self._client

    def _wanted(self, request: Request) -> dict[str, Any]:
        settings = self._settings
        output: dict[str, Any] = {}
        if settings.reasoning_effort:
            output["effort"] = settings.reasoning_effort
        if request.schema is not None:
            output["format"] = {"type": "json_schema", "schema": dict(request.schema)}
        system = "\n\n".join(message.content for message in request.messages if message.role == "system")
        wanted: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.max_tokens or settings.max_tokens,
            "messages": _turns([message for message in request.messages if message.role != "system"]),
        }
        if system:
            # the skill stands in the system prompt and is the same for every task of a step
            wanted["system"] = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
        if output:
            wanted["output_config"] = output
        if settings.reasoning_effort:
            wanted["thinking"] = {"type": "adaptive"}
        if request.tools:
            wanted["tools"] = [
                {"name": t.name, "description": t.description, "input_schema": dict(t.parameters)}
                for t in request.tools
            ]
        extra = dict(settings.extra)
        if settings.temperature is not None:  # no parameter of the SDK's any more: newer models refuse it
            extra["temperature"] = settings.temperature
        return wanted | ({"extra_body": extra} if extra else {})


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


def _blocks(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [{"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.content}]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": message.content}] if message.content else []
    blocks += [{"type": "image", "source": _source(image)} for image in message.images]
    blocks += [
        {"type": "tool_use", "id": c.id, "name": c.name, "input": json.loads(c.arguments or "{}")}
        for c in message.tool_calls
    ]
    return blocks


def _source(image: str) -> dict[str, str]:
    if image.startswith(("http://", "https://")):
        return {"type": "url", "url": image}
    if image.startswith("data:"):
        kind, _, data = image.removeprefix("data:").partition(";base64,")
        return {"type": "base64", "media_type": kind, "data": data}
    kind, data = http.image_data(image)
    return {"type": "base64", "media_type": kind, "data": data}


def _reply(message: Any) -> Reply:
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = tuple(
        ToolCall(block.id, block.name, json.dumps(block.input)) for block in message.content if block.type == "tool_use"
    )
    usage = message.usage
    cached = usage.cache_read_input_tokens or 0
    read = usage.input_tokens + cached + (usage.cache_creation_input_tokens or 0)
    return Reply(text, Usage(read, usage.output_tokens, cached), STOPS.get(message.stop_reason or "", "stop"), calls)
