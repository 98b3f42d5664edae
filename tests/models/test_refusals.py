from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from skillgit.config import ModelSettings
from skillgit.errors import FatalModelError, ProviderError
from skillgit.models import refusals


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
    assert refusals.retry_after(headers) == seconds


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
    refusal = refusals.Refusal.parse(400, body, "the SDK's words")
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
    refusal = refusals.Refusal.parse(200, {"error": {"type": kind, "message": "no"}})
    ours = refusals.as_ours(ModelSettings(model="anthropic:x"), refusal, refusal.words)
    assert (type(ours), str(ours)) == (error, f"anthropic:x: {status}: no")


def test_a_limit_of_spending_is_fatal_though_it_comes_as_429() -> None:
    body = {
        "error": {
            "type": "rate_limit_error",
            "message": "no",
            "details": {"error_code": "enforced_spend_limit_reached"},
        }
    }
    ours = refusals.as_ours(ModelSettings(model="anthropic:x"), refusals.Refusal.parse(429, body), "no")
    assert isinstance(ours, FatalModelError)
