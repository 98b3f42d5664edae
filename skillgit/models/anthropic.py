"""Anthropic's models over the Messages API, with the skill's prompt cached."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from skillgit.config import ModelSettings
from skillgit.models import access, messages, refusals
from skillgit.models.base import Reply, Request
from skillgit.models.quirks import Attempt, Feature, optional
from skillgit.models.sdk import SdkModel

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

log = logging.getLogger("skillgit")

STREAM_ABOVE = 16_000
"""Output limit, in tokens, above which the answer is streamed: a connection that is silent for minutes gets cut."""

FEATURES = {
    "temperature": optional("temperature"),
    "effort": optional("output_config.effort", "output_config", "effort"),
    "thinking": Feature(("adaptive", "enabled"), ("thinking", "adaptive")),
    "schema": optional("output_config.format", "output_format", "output_config", "json_schema", "structured outputs"),
}


class AnthropicModel(SdkModel):
    """An Anthropic model. ``reasoning_effort`` turns thinking on."""

    def __init__(self, settings: ModelSettings, name: str) -> None:
        super().__init__(settings, name, access.fingerprint(settings, "ANTHROPIC_BASE_URL"), FEATURES)
        if settings.seed is not None:
            log.warning("%s: seed has no effect, as the Messages API takes none", self.name)

    def _connect(self) -> AsyncAnthropic:
        from anthropic import AsyncAnthropic

        return AsyncAnthropic(
            api_key=access.api_key(self._settings, "ANTHROPIC_API_KEY", "api.anthropic.com"),
            base_url=self._settings.base_url or None,
            max_retries=0,
            timeout=self._settings.timeout,
        )

    async def _once(self, client: AsyncAnthropic, request: Request, attempt: Attempt) -> Reply:
        import anthropic

        wanted: dict[str, Any] = {"model": self._model, **messages.parameters(request, self._settings, attempt)}
        with refusals.translated(anthropic, self._settings, str(client.api_key)):
            if wanted["max_tokens"] > STREAM_ABOVE:
                answer = await _streamed(client, wanted)
            else:
                answer = await client.messages.create(**wanted)
            with refusals.reading():
                return messages.reply(answer, self._settings)


async def _streamed(client: AsyncAnthropic, wanted: dict[str, Any]) -> Any:
    async with client.messages.stream(**wanted) as stream:
        try:
            return await stream.get_final_message()
        except AssertionError:  # what the SDK says to a stream without any event
            raise ValueError("the stream is empty") from None
