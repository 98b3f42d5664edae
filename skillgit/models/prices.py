"""What a call costs: the user's price, the price list, or unknown."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from skillgit.config import LimitSettings, ModelSettings
from skillgit.errors import ConfigError
from skillgit.models.access import is_this_machine
from skillgit.models.base import Usage
from skillgit.models.presets import BY_PROVIDER, PRESETS

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice

FREE = frozenset({"local", "builtin", "handoff", "replay", *(p.provider for p in PRESETS if not p.variable)})
"""What runs without any model, or on this machine where it is; a price that the user sets counts all the same."""
HERE = "http://localhost"


def cost(settings: ModelSettings, usage: Usage, written: int = 0) -> float | None:
    """US dollars of a usage, None when the price is unknown.

    ``written`` of its input tokens went into the provider's cache, which some charge more for.
    """
    provider, _, model = settings.model.partition(":")
    if settings.usd_per_million:
        price_in, price_out = settings.usd_per_million
        return (usage.input_tokens * price_in + usage.output_tokens * price_out) / 1e6
    if provider in FREE and is_this_machine(urlsplit(settings.base_url or HERE).hostname or ""):
        return 0.0
    return _listed(provider, model, settings.base_url, usage, written)


def priced(
    settings: ModelSettings, tokens_in: int, tokens_out: int, read: int | None, written: int | None = None
) -> Usage:
    """The usage of one call with its cost; ``read`` and ``written`` are the input tokens that a cache gave and took."""
    usage = Usage(tokens_in, tokens_out, read or 0)
    return replace(usage, usd=cost(settings, usage, written or 0))


def _listed(provider: str, model: str, address: str, usage: Usage, written: int) -> float | None:
    price = _price(provider, model, address)
    if price is None:
        return None
    from genai_prices import Usage as Tokens

    tokens = Tokens(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=min(usage.cached_tokens, usage.input_tokens),
        cache_write_tokens=min(written, usage.input_tokens - min(usage.cached_tokens, usage.input_tokens)),
    )
    return float(price.calc_price(tokens)["total_price"])


@lru_cache(maxsize=64)
def _price(provider: str, model: str, address: str) -> ModelPrice | None:
    """The price of a model; looked up once, since the list is long and a call is paid every few milliseconds."""
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    tokens = Tokens(input_tokens=1, output_tokens=1)
    try:
        if provider in ("openai-compatible", *BY_PROVIDER):  # whose prices hold follows from where it is
            where = address or BY_PROVIDER[provider].base_url
            return calc_price(tokens, model, provider_api_url=where).model_price
        return calc_price(tokens, model, provider_id=provider).model_price
    except (LookupError, ValueError):
        return None


def demand_price(settings: ModelSettings, limits: LimitSettings, role: str) -> None:
    """Raise ConfigError when money is capped and the price of a model is unknown."""
    if limits.usd is not None and cost(settings, Usage(1000, 1000)) is None:
        raise ConfigError(
            f"limits.usd is {limits.usd:g}, but the price of {settings.model} is unknown",
            hint=f"set models.{role}.usd_per_million: [input, output], or cap tokens or calls instead",
        )
