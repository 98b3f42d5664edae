"""OpenAI's models in Azure, over the v1 API that needs no version: with a key, or with Entra ID."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from skillgit.config import ModelSettings
from skillgit.errors import ConfigError, FatalModelError
from skillgit.models import access
from skillgit.models.openai import NO_KEY, OpenAIModel
from skillgit.models.refusals import LONGEST, one_line

if TYPE_CHECKING:
    from openai import AsyncOpenAI

DOMAINS = ("openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com")
KEY, ENDPOINT = "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"
SCOPE = "https://cognitiveservices.azure.com/.default"
INSTALL = "pip install 'skillgit[azure]'"


class AzureModel(OpenAIModel):
    """A deployment in Azure: ``azure:DEPLOYMENT``, at ``base_url`` or at AZURE_OPENAI_ENDPOINT.

    Without a key, Entra ID opens it, with whatever this machine is signed in as; such credentials go to Azure's own hosts
    over HTTPS and nowhere else. Raises ConfigError.
    """

    def __init__(self, settings: ModelSettings, name: str) -> None:
        address = endpoint(settings.base_url or os.environ.get(ENDPOINT, ""))
        if not address:
            raise ConfigError(f"{settings.model} needs base_url, e.g. https://NAME.openai.azure.com, or {ENDPOINT}")
        self._by_key = bool(settings.api_key_env or os.environ.get(KEY, "").strip())
        if not self._by_key:
            demand_azure(settings.model, address)
        self._identity: Any = None
        self._token: Callable[[], str] | None = None
        self._one_at_a_time = asyncio.Lock()
        super().__init__(settings.model_copy(update={"base_url": address}), name)

    def _key(self) -> str:
        return access.api_key(self._settings, KEY, *DOMAINS) if self._by_key else NO_KEY

    async def _secret(self, client: AsyncOpenAI) -> str:
        if self._by_key:
            return client.api_key
        async with self._one_at_a_time:
            if self._token is None:
                self._identity, self._token = _sign_in()
            return await asyncio.to_thread(_of, self._token, self.name)

    def _headers(self, secret: str) -> dict[str, Any]:
        return access.only_bearer(secret)

    async def close(self) -> None:
        """Close the connections, those for signing in too."""
        await super().close()
        if self._identity is not None:
            self._identity.close()
            self._identity = self._token = None


def endpoint(address: str) -> str:
    """The address of the v1 API; a path that the user wrote stays. Pure."""
    path = urlsplit(address).path.strip("/")
    return f"{address.rstrip('/')}/openai/v1" if address and not path else address


def demand_azure(model: str, address: str) -> None:
    """Raise ConfigError unless the address is one of Azure's hosts over HTTPS."""
    url = urlsplit(address)
    host = url.hostname or ""
    if url.scheme != "https" or not host.endswith(tuple(f".{domain}" for domain in DOMAINS)):
        raise ConfigError(
            f"{model}: {address} is no https address of {', '.join(f'*.{domain}' for domain in DOMAINS)}; "
            "what this machine is signed in as goes nowhere else",
            hint=f"name the variable of a key for that host: api_key_env: ...; without one, Entra ID is used (or {KEY})",
        )


def _sign_in() -> tuple[Any, Callable[[], str]]:
    try:
        from azure.identity import DefaultAzureCredential, get_bearer_token_provider
    except ImportError:
        raise FatalModelError(f"without {KEY}, azure needs azure-identity for Entra ID", hint=INSTALL) from None
    identity = DefaultAzureCredential()
    return identity, get_bearer_token_provider(identity, SCOPE)


def _of(token: Callable[[], str], name: str) -> str:
    from azure.core.exceptions import AzureError

    try:
        return token()
    except AzureError as error:
        words = one_line(error)[:LONGEST]
        raise FatalModelError(f"{name}: Entra ID gave no token: {words}", hint=f"az login, or set {KEY}") from None


def missing() -> str:
    """What is missing here and how to mend it."""
    from importlib.util import find_spec

    if os.environ.get(KEY) or (find_spec("azure") and find_spec("azure.identity")):
        return ""
    return f"set {KEY}, or {INSTALL} for Entra ID"
