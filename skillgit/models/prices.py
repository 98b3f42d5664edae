"""What a call costs: the user's price, the price list, or unknown."""

from __future__ import annotations

from functools import lru_cache

from skillgit.config import LimitSettings, ModelSettings
from skillgit.errors import ConfigError
from skillgit.models.base import Usage

FREE = frozenset({"local", "builtin"})


def cost(settings: ModelSettings, usage: Usage) -> float | None:
    """US dollars of a usage, None when the price is unknown."""
    provider, _, model = settings.model.partition(":")
    if provider in FREE:
        return 0.0
    if settings.usd_per_million:
        price_in, price_out = settings.usd_per_million
        return (usage.input_tokens * price_in + usage.output_tokens * price_out) / 1e6
    return _listed(provider, model, usage.input_tokens, usage.output_tokens, usage.cached_tokens)


@lru_cache(maxsize=4096)
def _listed(provider: str, model: str, input_tokens: int, output_tokens: int, cached: int) -> float | None:
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    tokens = Tokens(input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=cached)
    try:
        return float(calc_price(tokens, model, provider_id=provider).total_price)
    except (LookupError, ValueError):
        return None


def demand_price(settings: ModelSettings, limits: LimitSettings, role: str) -> None:
    """Raise ConfigError when money is capped and the price of a model is unknown."""
    if limits.usd is not None and cost(settings, Usage(1000, 1000)) is None:
        raise ConfigError(
            f"limits.usd is {limits.usd:g}, but the price of {settings.model} is unknown",
            hint=f"set models.{role}.usd_per_million: [input, output], or cap tokens or calls instead",
        )
