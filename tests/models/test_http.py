from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from skillgit.config import ModelSettings
from skillgit.errors import FatalModelError, ProviderError
from skillgit.models import http
from tests.models.asking import KEY


@pytest.mark.parametrize(
    ("address", "goes"),
    [
        ("", True),
        ("https://api.openai.com/v1", True),
        ("https://eu.api.openai.com/v1", True),
        ("http://localhost:8000/v1", True),
        ("http://127.0.0.1:8000/v1", True),
        ("http://[::1]:8000/v1", True),
        ("https://api.openai.com.example.org/v1", False),
        ("https://notapi.openai.com.evil/v1", False),
        ("https://127.0.0.1.example.org/v1", False),
        ("https://proxy.example.org/v1", False),
    ],
)
def test_the_key_of_the_environment_goes_to_its_provider_and_this_machine_only(
    address: str, goes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    given = ModelSettings(model="openai:x", base_url=address)
    if goes:
        assert http.api_key(given, "OPENAI_API_KEY", "api.openai.com") == KEY
    else:
        with pytest.raises(FatalModelError, match="the key in OPENAI_API_KEY is not for"):
            http.api_key(given, "OPENAI_API_KEY", "api.openai.com")
    named = given.model_copy(update={"api_key_env": "OPENAI_API_KEY"})
    assert http.api_key(named, "OPENAI_API_KEY", "api.openai.com") == KEY


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": formatdate(0, usegmt=True)}, 0.0),
        ({"retry-after": formatdate(1090, usegmt=True)}, 90.0),
    ],
)
def test_when_to_come_back(headers: dict[str, str], seconds: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    assert http.retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("body", "words", "parameter"),
    [
        ({"error": {"message": "one\n two", "param": "top_q"}}, "one two", "top_q"),
        ({"message": "Unknown parameter: 'top_q'."}, "Unknown parameter: 'top_q'.", "top_q"),
        ({"error": {"message": "tools.0.name: too long"}}, "tools.0.name: too long", "tools.0.name"),
        ({"error": "just words"}, "just words", ""),
        ({"detail": "what a framework says"}, "the SDK's words", ""),
        ("<html>", "the SDK's words", ""),
        (None, "the SDK's words", ""),
    ],
)
def test_the_providers_words_are_found(body: object, words: str, parameter: str) -> None:
    refusal = http.Refusal.parse(400, body, "the SDK's words")
    assert (refusal.words, refusal.parameter) == (words, parameter)


@pytest.mark.parametrize(
    ("kind", "error", "status"),
    [
        ("authentication_error", FatalModelError, 401),
        ("overloaded_error", ProviderError, 529),
        ("never_heard_of", ProviderError, 500),
    ],
)
def test_an_error_in_a_good_answer_has_the_status_of_its_kind(kind: str, error: type[Exception], status: int) -> None:
    refusal = http.Refusal.parse(200, {"error": {"type": kind, "message": "no"}})
    ours = http.as_ours(ModelSettings(model="anthropic:x"), refusal)
    assert (type(ours), str(ours)) == (error, f"anthropic:x: {status}: no")


def test_a_limit_of_spending_is_fatal_though_it_comes_as_429() -> None:
    body = {
        "error": {
            "type": "rate_limit_error",
            "message": "no",
            "details": {"error_code": "enforced_spend_limit_reached"},
        }
    }
    ours = http.as_ours(ModelSettings(model="anthropic:x"), http.Refusal.parse(429, body))
    assert isinstance(ours, FatalModelError)


def test_long_words_are_cut() -> None:
    assert len(http.Refusal.parse(500, {"error": {"message": "x" * 9999}}).words) == 500


def test_the_address_of_the_environment_is_part_of_the_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    given = ModelSettings(model="openai:x")
    plain = http.fingerprint(given, "OPENAI_BASE_URL")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    moved = http.fingerprint(given, "OPENAI_BASE_URL")
    assert moved != plain
    assert moved == http.fingerprint(given.model_copy(update={"base_url": "http://localhost:1/v1"}), "OPENAI_BASE_URL")
