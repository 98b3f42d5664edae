"""What the two SDK backends share: keys, fingerprints, images, and how their errors become ours."""

from __future__ import annotations

import base64
import hashlib
import json
import mimetypes
import os
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from skillgit.config import ModelSettings
from skillgit.errors import FatalModelError, ProviderError, TaskError

HOPELESS = frozenset({401, 402, 403, 404, 405, 422})
"""Status codes that every further call would get too."""

TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
OVERLOADED = frozenset({429, 503, 529})


def api_key(settings: ModelSettings, variable: str, *, required: bool = True) -> str:
    """The key from the environment. Raises FatalModelError naming the variable, never the key."""
    name = settings.api_key_env or variable
    key = os.environ.get(name, "").strip()
    if not key and required:
        raise FatalModelError(
            f"{settings.model} needs a key: the variable {name} is not set", hint=f"export {name}=..."
        )
    return key


def fingerprint(settings: ModelSettings, *more: str) -> str:
    """Hash (12 hex) of what can change an answer: model, address, parameters. No key, no timeouts, no retries."""
    kept = ("model", "base_url", "temperature", "max_tokens", "reasoning_effort", "seed", "extra")
    state = [{name: getattr(settings, name) for name in kept}, *more]
    return hashlib.sha256(json.dumps(state, sort_keys=True, default=str).encode()).hexdigest()[:12]


def status_error(settings: ModelSettings, status: int, said: str, headers: Mapping[str, str]) -> Exception:
    """The error of a refused call, in the provider's own words."""
    text = f"{settings.model}: {status}: {said}"
    if status == 429 and "quota" in said.lower():
        return FatalModelError(text, hint="the account has no quota left")
    if status in TRANSIENT:
        after = retry_after(headers)
        return ProviderError(text, transient=True, retry_after=after, overloaded=status in OVERLOADED)
    if status in HOPELESS:
        return FatalModelError(text, hint="check the key, the model's name and base_url; skillgit doctor")
    if status == 400 and _about_request_shape(said):
        return FatalModelError(text, hint="remove the parameter from models.*.extra, or set the one it asks for there")
    return ProviderError(text)


def _about_request_shape(said: str) -> bool:
    return any(
        word in said.lower() for word in ("parameter", "unsupported", "unrecognized", "extra inputs", "unknown field")
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from ``retry-after-ms`` or ``Retry-After`` (a number or a date)."""
    import time

    value = headers.get("retry-after", "")
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        return max(0.0, float(value)) if value else None
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return None


def words(body: Any, fallback: str) -> str:
    """What the provider said in an error body, on one line."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    message = error.get("message") if isinstance(error, Mapping) else error
    return " ".join(str(message or fallback).split())[:500]


def image_data(source: str) -> tuple[str, str]:
    """(media type, base64) of an image file. Raises TaskError when it cannot be read."""
    path = Path(source)
    kind = mimetypes.guess_type(path.name)[0] or ""
    if not kind.startswith("image/"):
        raise TaskError(f"{source} is not an image by its name; known are .png, .jpg, .gif and .webp")
    try:
        return kind, base64.b64encode(path.read_bytes()).decode("ascii")
    except OSError as error:
        raise TaskError(f"cannot read the image {source}: {error.strerror}") from None


def image_url(source: str) -> str:
    """A URL that a provider can read: as it is, or the file as a data URI."""
    if source.startswith(("http://", "https://", "data:")):
        return source
    kind, data = image_data(source)
    return f"data:{kind};base64,{data}"
