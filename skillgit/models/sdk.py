"""What the two SDK backends share: one client, opened at the first call, and requests that follow a model's quirks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgit.config import ModelSettings
from skillgit.models.base import Reply, Request
from skillgit.models.quirks import Attempt, Feature, Quirks
from skillgit.models.refusals import ParameterRefused


class SdkModel:
    """A model behind a provider's SDK, which is imported and connected at the first call."""

    is_agent = False

    def __init__(self, settings: ModelSettings, model: str, fingerprint: str, features: Mapping[str, Feature]) -> None:
        self._settings = settings
        self._model = model
        self._quirks = Quirks(features)
        self._client: Any = None
        self.name = settings.model
        self.fingerprint = fingerprint

    async def call(self, request: Request) -> Reply:
        """One attempt, of which the SDK makes no more; only a refused parameter makes it go out again in another form."""
        if self._client is None:
            self._client = self._connect()
        while True:
            attempt = self._quirks.attempt()
            try:
                return await self._once(self._client, request, attempt)
            except ParameterRefused as refused:
                if not self._quirks.learn(attempt, refused):
                    raise

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _connect(self) -> Any:
        """The SDK's client, without retries of its own."""
        raise NotImplementedError

    async def _once(self, client: Any, request: Request, attempt: Attempt) -> Reply:
        """Send the request in the forms that ``attempt`` gives."""
        raise NotImplementedError
