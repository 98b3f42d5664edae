"""OpenAI's models over the Responses API, and servers that speak Chat Completions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from skillgit.config import ModelSettings
from skillgit.errors import ConfigError, ProviderError
from skillgit.models import http
from skillgit.models.base import Message, Reply, Request, Stop, ToolCall, Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

log = logging.getLogger("skillgit")

REPLACED = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
DROPPABLE = frozenset({"temperature", "seed", "response_format", "reasoning_effort", "reasoning", "text"})
"""Parameters some models refuse; one that is refused is left out from then on, with a warning."""


class OpenAIModel:
    """An OpenAI model. ``api`` in ``extra`` (``responses`` or ``chat``) forces one of the two APIs."""

    variable = "OPENAI_API_KEY"
    default_api = "responses"
    is_agent = False

    def __init__(self, settings: ModelSettings, name: str) -> None:
        self._settings = settings
        self._model = name
        self._extra = dict(settings.extra)
        self._api = str(self._extra.pop("api", self.default_api))
        if self._api not in ("responses", "chat"):
            raise ConfigError(f"extra.api is '{self._api}'; allowed are responses and chat")
        self._client: AsyncOpenAI | None = None
        self._opening = asyncio.Lock()
        self._refused: set[str] = set()
        self.name = settings.model
        self.fingerprint = http.fingerprint(settings, self._api)

    async def call(self, request: Request) -> Reply:
        """One attempt; the SDK's own retries are off."""
        import openai

        client = await self._connected()
        work = self._responses if self._api == "responses" else self._chat
        try:
            return await self._adapting(lambda: work(client, request))
        except openai.APIStatusError as error:
            said = http.words(error.body, error.message)
            raise http.status_error(self._settings, error.status_code, said, error.response.headers) from None
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            text = f"{self.name}: no connection: {' '.join(str(cause).split()) or type(cause).__name__}"
            raise ProviderError(text, transient=True) from None
        except (openai.APIError, ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
            said = " ".join(str(error).split())
            text = f"{self.name}: the answer cannot be read: {type(error).__name__}: {said}"
            raise ProviderError(text, transient=True) from None

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _connected(self) -> AsyncOpenAI:
        async with self._opening:
            if self._client is None:
                from openai import AsyncOpenAI

                self._client = AsyncOpenAI(
                    api_key=self._key(),
                    base_url=self._settings.base_url or None,
                    max_retries=0,
                    timeout=self._settings.timeout,
                )
            return self._client

    def _key(self) -> str:
        return http.api_key(self._settings, self.variable)

    async def _adapting(self, work: Callable[[], Awaitable[Reply]]) -> Reply:
        """Leave out, or rename, a parameter that the model refuses; each only once, and never silently."""
        import openai

        while True:
            try:
                return await work()
            except openai.BadRequestError as error:
                name = _refused_parameter(error, self._refused)
                if name is None:
                    raise
                self._refused.add(name)
                log.warning("%s refuses the parameter %s; going on without it", self.name, name)

    async def _responses(self, client: AsyncOpenAI, request: Request) -> Reply:
        settings = self._settings
        wanted: dict[str, Any] = {
            "model": self._model,
            "input": [item for message in request.messages for item in _input_items(message)],
            "max_output_tokens": request.max_tokens or settings.max_tokens,
            "temperature": settings.temperature,
            "reasoning": {"effort": settings.reasoning_effort} if settings.reasoning_effort else None,
            "store": False,
        }
        if request.schema is not None:
            wanted["text"] = {"format": {"type": "json_schema", **_schema(request)}}
        if request.tools:
            wanted["tools"] = [
                {
                    "type": "function",
                    "name": t.name,
                    "description": t.description,
                    "parameters": dict(t.parameters),
                    "strict": False,
                }
                for t in request.tools
            ]
        create: Any = client.responses.create  # the parameters are data here, checked by the server
        response = await create(**self._kept(wanted))
        calls = tuple(ToolCall(i.call_id, i.name, i.arguments) for i in response.output if i.type == "function_call")
        return Reply(response.output_text, _usage(response.usage), _responses_stop(response, calls), calls)

    async def _chat(self, client: AsyncOpenAI, request: Request) -> Reply:
        settings = self._settings
        room = "max_tokens" if "max_completion_tokens" in self._refused else "max_completion_tokens"
        wanted: dict[str, Any] = {
            "model": self._model,
            "messages": [_chat_message(message) for message in request.messages],
            room: request.max_tokens or settings.max_tokens,
            "temperature": settings.temperature,
            "reasoning_effort": settings.reasoning_effort or None,
            "seed": None if settings.seed is None else settings.seed + request.sample,
        }
        if request.schema is not None:
            wanted["response_format"] = {"type": "json_schema", "json_schema": _schema(request)}
        if request.tools:
            wanted["tools"] = [
                {
                    "type": "function",
                    "function": {"name": t.name, "description": t.description, "parameters": dict(t.parameters)},
                }
                for t in request.tools
            ]
        create: Any = client.chat.completions.create
        response = await create(**self._kept(wanted))
        choice = response.choices[0]
        calls = tuple(ToolCall(c.id, c.function.name, c.function.arguments) for c in choice.message.tool_calls or ())
        if choice.message.refusal:
            return Reply(choice.message.refusal, _chat_usage(response.usage), "refusal")
        stops: dict[str, Stop] = {"length": "length", "tool_calls": "tool_calls", "content_filter": "refusal"}
        stop = stops.get(choice.finish_reason or "", "stop")
        return Reply(choice.message.content or "", _chat_usage(response.usage), stop, calls)

    def _kept(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        kept = {key: value for key, value in wanted.items() if value is not None and key not in self._refused}
        return kept | ({"extra_body": self._extra} if self._extra else {})


class CompatibleModel(OpenAIModel):
    """A server that speaks Chat Completions at ``base_url``; a key only where ``api_key_env`` names one."""

    variable = ""
    default_api = "chat"

    def __init__(self, settings: ModelSettings, name: str) -> None:
        if not settings.base_url:
            raise ConfigError(f"{settings.model} needs base_url, e.g. http://localhost:8000/v1")
        super().__init__(settings, name)

    def _key(self) -> str:
        return http.api_key(self._settings, self.variable) if self._settings.api_key_env else "none"


def _refused_parameter(error: Any, known: set[str]) -> str | None:
    said = http.words(error.body, error.message).lower()
    named = error.param or ""
    candidates = [*REPLACED, *sorted(DROPPABLE)]
    if not any(
        word in said
        for word in ("unsupported", "not support", "unknown", "unrecognized", "not allowed", "extra inputs")
    ):
        return None
    for name in candidates:
        if name not in known and (
            named == name or named.startswith(f"{name}.") or f"'{name}'" in said or f" {name} " in said
        ):
            return name
    return None


def _schema(request: Request) -> dict[str, Any]:
    return {"name": request.schema_name, "schema": dict(request.schema or {}), "strict": True}


def _input_items(message: Message) -> list[dict[str, Any]]:
    """A message in the form of the Responses API."""
    if message.role == "tool":
        return [{"type": "function_call_output", "call_id": message.tool_call_id, "output": message.content}]
    items: list[dict[str, Any]] = []
    if message.content or message.images:
        content: Any = message.content
        if message.images:
            content = [{"type": "input_text", "text": message.content}]
            content += [
                {"type": "input_image", "image_url": http.image_url(i), "detail": "auto"} for i in message.images
            ]
        items.append({"role": message.role, "content": content})
    items += [
        {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": c.arguments} for c in message.tool_calls
    ]
    return items


def _chat_message(message: Message) -> dict[str, Any]:
    """A message in the form of Chat Completions."""
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    content: Any = message.content
    if message.images:
        content = [{"type": "text", "text": message.content}]
        content += [{"type": "image_url", "image_url": {"url": http.image_url(i)}} for i in message.images]
    data: dict[str, Any] = {"role": message.role, "content": content}
    if message.tool_calls:
        data["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in message.tool_calls
        ]
    return data


def _responses_stop(response: Any, calls: tuple[ToolCall, ...]) -> Stop:
    reason = response.incomplete_details.reason if response.incomplete_details else ""
    if response.status == "failed":
        raise ProviderError(f"the provider gave up: {http.words(response.error, 'no reason given')}", transient=True)
    if reason == "max_output_tokens":
        return "length"
    refused = any(part.type == "refusal" for item in response.output if item.type == "message" for part in item.content)
    if refused or reason == "content_filter":
        return "refusal"
    return "tool_calls" if calls else "stop"


def _usage(usage: Any) -> Usage:
    if usage is None:
        return Usage()
    cached = usage.input_tokens_details.cached_tokens if usage.input_tokens_details else 0
    return Usage(usage.input_tokens, usage.output_tokens, cached or 0)


def _chat_usage(usage: Any) -> Usage:
    if usage is None:
        return Usage()
    details = usage.prompt_tokens_details
    return Usage(usage.prompt_tokens, usage.completion_tokens, (details.cached_tokens or 0) if details else 0)
