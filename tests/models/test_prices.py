from __future__ import annotations

import pytest

from skillgit.config import LimitSettings, ModelSettings
from skillgit.errors import ConfigError
from skillgit.models.base import Usage
from skillgit.models.prices import cost, demand_price, priced

MILLION = Usage(1_000_000, 1_000_000)


@pytest.mark.parametrize(
    ("given", "usd"),
    [
        ({"model": "local:x"}, 0.0),
        ({"model": "builtin:induce"}, 0.0),
        ({"model": "handoff:calls"}, 0.0),
        ({"model": "replay:calls.jsonl"}, 0.0),
        ({"model": "ollama:x"}, 0.0),
        ({"model": "ollama:x", "base_url": "http://127.0.0.1:1/v1"}, 0.0),
        ({"model": "ollama:x", "base_url": "https://gpu.example.org/v1"}, None),
        ({"model": "ollama:x", "usd_per_million": (2, 3)}, 5.0),
        ({"model": "openrouter:openai/gpt-4o"}, 12.5),
        ({"model": "openai-compatible:x"}, None),
        ({"model": "openai:no-such-model"}, None),
        ({"model": "some-plugin:gpt-4o"}, None),
        ({"model": "openai:no-such-model", "usd_per_million": (2, 3)}, 5.0),
        ({"model": "openai:gpt-4o", "usd_per_million": (2, 3)}, 5.0),
        ({"model": "openai:gpt-4o"}, 12.5),
        ({"model": "openai-compatible:gpt-4o", "base_url": "http://localhost:8000/v1"}, None),
        ({"model": "openai-compatible:openai/gpt-4o", "base_url": "https://openrouter.ai/api/v1"}, 12.5),
    ],
)
def test_whose_price_counts(given: dict[str, object], usd: float | None) -> None:
    assert cost(ModelSettings.model_validate(given), MILLION) == (usd if usd is None else pytest.approx(usd))


def test_tokens_from_the_cache_are_cheaper_and_impossible_counts_do_not_hurt() -> None:
    gpt = ModelSettings(model="openai:gpt-4o")
    full, cached = cost(gpt, Usage(1000, 0)), cost(gpt, Usage(1000, 0, 1000))
    assert full and cached and cached == pytest.approx(full / 2)
    assert cost(gpt, Usage(1000, 0, 5000), written=7000) == cached
    assert priced(gpt, 1000, 0, None) == Usage(1000, 0, 0, full)


def test_money_is_capped_only_where_every_price_is_known() -> None:
    unknown, capped = ModelSettings(model="openai:no-such-model"), LimitSettings(usd=1)
    with pytest.raises(
        ConfigError, match=r"limits\.usd is 1, but the price of openai:no-such-model is unknown"
    ) as caught:
        demand_price(unknown, capped, "target")
    assert "models.target.usd_per_million" in caught.value.hint
    demand_price(unknown, LimitSettings(tokens=1), "target")
    demand_price(unknown.model_copy(update={"usd_per_million": (0, 0)}), capped, "target")
    demand_price(ModelSettings(model="local:x"), capped, "target")
