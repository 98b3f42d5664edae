"""Where a model is and what opens it: keys from the environment, and the fingerprint of everything else."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import os
from urllib.parse import urlsplit

from skillgit.config import ModelSettings
from skillgit.errors import FatalModelError


def api_key(settings: ModelSettings, variable: str, domain: str) -> str:
    """The key from the environment.

    ``variable`` is the provider's own; its key goes to ``domain`` and to this machine, to any other host only when
    ``api_key_env`` names a variable. Raises FatalModelError naming the variable, never the key.
    """
    name = settings.api_key_env or variable
    host = urlsplit(settings.base_url).hostname or domain
    if not settings.api_key_env and not (host == domain or host.endswith(f".{domain}") or _is_this_machine(host)):
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


def _is_this_machine(host: str) -> bool:
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
