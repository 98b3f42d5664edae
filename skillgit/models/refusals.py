"""How the errors of the SDKs become ours: what is everybody's and fatal, what may pass, what is one task's."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

from skillgit.config import ModelSettings
from skillgit.errors import FatalModelError, ModelError, ProviderError

HOPELESS = frozenset({401, 402, 403, 404, 405})
"""Status codes that every further call would get too."""

TRANSIENT = frozenset({408, 409, 425, 429})
"""Status codes below 500 that may pass."""

OVERLOADED = frozenset({429, 503, 529})

STREAMED = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "overloaded_error": 529,
}
"""The status of an error that came inside an answer that had begun with 200; any other counts as 500."""

NO_MONEY = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_error",
        "contract_spend_limit_reached",
        "enforced_spend_limit_reached",
    }
)
NO_MODEL = re.compile(r"\bmodel\b.{0,80}\b(not exist|not found)\b|\b(unknown|invalid) model\b")
PARAMETERS = re.compile(
    r"parameter|unsupported|unrecognized|unknown (name|field|argument)|extra inputs|not (supported|permitted|allowed)|"
    r"does(n't| not) support|deprecated|input should be|may only be|invalid schema|response_format"
)
ONE_TASK = re.compile(
    r"\bimages?\b|context (length|window)|too long|too many (input )?tokens|flagged|content (policy|filter)"
)
"""What a refusal of the contents of one task speaks of, though its words may sound like a refused parameter."""
LONGEST = 500
"""Characters of the provider's words that are kept."""

CONTENTS = ("messages", "input", "prompt", "system")
NAME = r"[a-z_]+(?:[.\[]\w+\]?)*"


class ParameterRefused(FatalModelError):
    """The provider does not take a parameter (``""`` if it does not say which one)."""

    def __init__(self, message: str, *, parameter: str, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.parameter = parameter


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error as the provider put it: status, its words on one line, its codes, the parameter it names, headers."""

    status: int
    words: str
    codes: frozenset[str] = frozenset()
    parameter: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, status: int, body: Any, fallback: str = "", headers: Mapping[str, str] | None = None) -> Refusal:
        """From an error body of either provider; a status below 400 is taken from the kind of error instead."""
        error = body.get("error", body) if isinstance(body, Mapping) else {}
        error = error if isinstance(error, Mapping) else {"message": error}
        details = error.get("details")
        codes = {
            error.get("type"),
            error.get("code"),
            details.get("error_code") if isinstance(details, Mapping) else None,
        }
        known = frozenset(str(code) for code in codes if code)
        if status < 400:
            status = next((STREAMED[code] for code in known if code in STREAMED), 500)
        words = one_line(error.get("message") or fallback or "no reason given")
        return cls(status, words, known, str(error.get("param") or "") or _parameter(words), headers or {})


class Refused(Exception):
    """An error that came inside an answer with a good status."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.words)
        self.refusal = refusal


@contextmanager
def translated(sdk: Any, settings: ModelSettings, key: str) -> Iterator[None]:
    """Turn the errors of an SDK's module into ours, with the provider's words and never the key."""
    import httpx2

    def clean(text: object) -> str:
        return one_line(str(text).replace(key, "***"))[:LONGEST]

    try:
        yield
    except sdk.APIStatusError as error:
        refusal = Refusal.parse(error.status_code, error.body, str(error.message), error.response.headers)
        raise as_ours(settings, refusal, clean(refusal.words)) from None
    except Refused as error:
        raise as_ours(settings, error.refusal, clean(error.refusal.words)) from None
    except (sdk.APIConnectionError, httpx2.TransportError) as error:
        cause = error.__cause__ or error
        text = f"{settings.model}: no connection: {clean(cause) or type(cause).__name__}"
        raise ProviderError(text, transient=True) from None
    except (sdk.APIError, ValueError) as error:
        raise ProviderError(f"{settings.model}: the answer cannot be read: {clean(error)}", transient=True) from None


@contextmanager
def reading() -> Iterator[None]:
    """While an answer is read: the SDKs do not check that it has the promised shape. Raises ValueError."""
    try:
        yield
    except (AttributeError, TypeError, LookupError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


def as_ours(settings: ModelSettings, refusal: Refusal, words: str) -> ModelError:
    """The error of a refused call: fatal when every other call would be refused too."""
    status, text, lower = refusal.status, f"{settings.model}: {refusal.status}: {words}", words.lower()
    if refusal.codes & NO_MONEY or "credit balance" in lower:
        return FatalModelError(text, hint="the account has no money left, or its own limit is reached")
    if status >= 500 or status in TRANSIENT:
        after = retry_after(refusal.headers)
        return ProviderError(text, transient=True, retry_after=after, overloaded=status in OVERLOADED)
    if status in HOPELESS or "model_not_found" in refusal.codes or NO_MODEL.search(lower):
        return FatalModelError(text, hint="check the key, the model's name and base_url; skillgit doctor")
    name = refusal.parameter
    if PARAMETERS.search(lower) and not ONE_TASK.search(lower) and not name.startswith(CONTENTS):
        where = f"extra.{name}" if name.partition(".")[0] in settings.extra else name or "the parameter"
        hint = f"change or remove {where} in this model's settings (models.target or .optimizer)"
        return ParameterRefused(text, parameter=name, hint=hint)
    return ProviderError(text)


def _parameter(words: str) -> str:
    """The parameter that a message is about: quoted, or in front of a colon."""
    found = re.match(f"({NAME}): ", words) or re.search(f"['\"`]({NAME})['\"`]", words)
    return found[1] if found else ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from ``retry-after-ms`` or ``Retry-After`` (a number or a date)."""
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


def one_line(text: object) -> str:
    """The text with every run of white space as one space."""
    return " ".join(str(text).split())
