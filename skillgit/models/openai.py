"""OpenAI's models, and servers that speak their protocols: the Responses API or Chat Completions."""

from __future__ import annotations

import logging
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from skillgit.config import ModelSettings
from skillgit.errors import ConfigError
from skillgit.models import access, chat, refusals, responses, tokens
from skillgit.models.base import Reply, Request
from skillgit.models.presets import BY_PROVIDER, applied
from skillgit.models.prices import priced
from skillgit.models.quirks import LEFT_OUT, Attempt, Feature, optional
from skillgit.models.sdk import SdkModel

if TYPE_CHECKING:
    from openai import AsyncOpenAI

log = logging.getLogger("skillgit")

Api = Literal["responses", "chat"]
ROOM = ("max_completion_tokens", "max_tokens")
SCHEMA = ("json_schema", "json_object", LEFT_OUT)
SCHEMA_NAMES = ("response_format", "text.format", "json_schema", "json_object")
NO_KEY = "no-key-needed"
"""Stands for the key of a server that wants none, for the SDK insists on one; it is not sent."""


class OpenAIModel(SdkModel):
    """A model of OpenAI's. Chat Completions only when ``api: chat`` says so."""

    api: ClassVar[Api] = "responses"
    room: tuple[str, ...] = ROOM
    schema: tuple[str, ...] = SCHEMA

    def __init__(self, settings: ModelSettings, name: str) -> None:
        self._api: Api = self.api if settings.api == "auto" else settings.api
        fingerprint = access.fingerprint(settings, "OPENAI_BASE_URL", self._api)
        features = {
            "temperature": optional("temperature"),
            "schema": Feature(self.schema, SCHEMA_NAMES),
            "room": Feature(self.room, ROOM),
            "thoughts": optional("include", "reasoning.encrypted_content", "encrypted content", "Encrypted content"),
        }
        super().__init__(settings, name, fingerprint, features)
        self._estimates = False
        if settings.seed is not None and self._api == "responses":
            log.warning("%s: seed has no effect, as the Responses API takes none; api: chat does", self.name)

    def _connect(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        address = self._settings.base_url or None
        return AsyncOpenAI(api_key=self._key(), base_url=address, max_retries=0, timeout=self._settings.timeout)

    def _key(self) -> str:
        return access.api_key(self._settings, "OPENAI_API_KEY", "api.openai.com")

    async def _secret(self, client: AsyncOpenAI) -> str:
        """What opens the provider for the next request."""
        return client.api_key

    def _headers(self, secret: str) -> dict[str, Any]:
        """What a request has besides the SDK's own headers."""
        return {}

    async def _once(self, client: AsyncOpenAI, request: Request, attempt: Attempt) -> Reply:
        import openai

        form, create = self._form(client)
        wanted = form.parameters(request, self._settings, attempt)
        secret = await self._secret(client)
        with refusals.translated(openai, self._settings, secret):
            answer = await create(
                model=self._model, **wanted, extra_body=self._settings.extra, extra_headers=self._headers(secret)
            )
            with refusals.reading():
                reply: Reply = form.reply(answer, self._settings)
        return reply if reply.usage.calls else self._estimated(request, reply)

    def _form(self, client: AsyncOpenAI) -> tuple[ModuleType, Any]:
        """The module that knows the API, and the SDK's method, to which the parameters are data."""
        if self._api == "responses":
            return responses, client.responses.create
        return chat, client.chat.completions.create

    def _estimated(self, request: Request, reply: Reply) -> Reply:
        if not self._estimates:
            self._estimates = True
            log.warning("%s reports no tokens; they are estimated from the length of the texts", self.name)
        wrote = tokens.of_text(reply.text) + sum(tokens.of_text(call.arguments) for call in reply.tool_calls)
        return replace(reply, usage=priced(self._settings, tokens.of_request(request), wrote, None))


class CompatibleModel(OpenAIModel):
    """A server that speaks one of the protocols at ``base_url``: Chat Completions, unless ``api`` says otherwise.

    It gets a key only where ``api_key_env`` names one, and none of the headers that the environment holds for OpenAI.
    """

    api = "chat"
    room: tuple[str, ...] = ROOM[::-1]  # servers that know the older name only may pass over the newer one in silence

    def __init__(self, settings: ModelSettings, name: str) -> None:
        if not settings.base_url:
            raise ConfigError(f"{settings.model} needs base_url, e.g. http://localhost:8000/v1")
        super().__init__(settings, name)

    def _key(self) -> str:
        return access.api_key(self._settings, "", "") if self._settings.api_key_env else NO_KEY

    def _headers(self, secret: str) -> dict[str, Any]:
        return access.only_bearer("" if secret == NO_KEY else secret)


class PresetModel(CompatibleModel):
    """A well-known server, by a row of the presets. Its key goes to its own domain, as any provider's does."""

    def __init__(self, settings: ModelSettings, name: str) -> None:
        self._preset = BY_PROVIDER[settings.model.partition(":")[0]]
        self.room, self.schema = self._preset.room, self._preset.schema
        super().__init__(applied(self._preset, settings), name)

    def _key(self) -> str:
        if not self._preset.variable:
            return super()._key()
        return access.api_key(self._settings, self._preset.variable, *self._preset.hosts)
