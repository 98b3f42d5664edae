"""Where a model is and what opens it: keys from the environment, and the fingerprint of everything else."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from skillgit.config import ModelSettings
from skillgit.errors import FatalModelError


def api_key(settings: ModelSettings, variable: str, *domains: str) -> str:
    """The key from the environment.

    ``variable`` is the provider's own; its key goes to ``domains`` over HTTPS and to this machine, anywhere else only when
    ``api_key_env`` names a variable. Raises FatalModelError naming the variable, never the key.
    """
    name = settings.api_key_env or variable
    if settings.base_url and not (settings.api_key_env or _is_for(settings.base_url, domains)):
        url = urlsplit(settings.base_url)
        host = url.hostname if url.scheme == "https" else f"{url.hostname} over {url.scheme}"
        raise FatalModelError(
            f"{settings.model}: the key in {variable} is not for {host}",
            hint=f"name the variable of its key: api_key_env: ...; {variable} too is sent there when it is named",
        )
    key = os.environ.get(name, "").strip()
    if not key:
        raise FatalModelError(
            f"{settings.model} needs a key: the variable {name} is not set", hint=f"export {name}=..."
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise FatalModelError(
            f"{settings.model}: what the variable {name} holds cannot be a key", hint=f"export {name}=..."
        )
    return key


def only_bearer(secret: str) -> dict[str, Any]:
    """Headers with this secret ("" for none), and without those that the environment holds for OpenAI."""
    from openai import Omit

    bearer: Any = f"Bearer {secret}" if secret else Omit()
    return {"Authorization": bearer, "OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}


def _is_for(address: str, domains: Sequence[str]) -> bool:
    url = urlsplit(address)
    host = url.hostname or ""
    theirs = any(host == domain or host.endswith(f".{domain}") for domain in domains)
    return is_this_machine(host) or (theirs and url.scheme == "https")


def is_this_machine(host: str) -> bool:
    """Whether a host is loopback."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def fingerprint(settings: ModelSettings, address_variable: str, *more: str) -> str:
    """Hash (12 hex) of what can change an answer: model, address, parameters. No key, no timeouts, no retries.

    ``address_variable`` names what the SDK reads when there is no ``base_url``.
    """
    kept = ("model", "temperature", "max_tokens", "reasoning_effort", "seed", "extra")
    address = settings.base_url or os.environ.get(address_variable, "")
    state = [{name: getattr(settings, name) for name in kept}, address, *more]
    return hashlib.sha256(json.dumps(state, sort_keys=True, default=str).encode()).hexdigest()[:12]
