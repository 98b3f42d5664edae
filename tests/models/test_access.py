from __future__ import annotations

import pytest

from skillgit.config import ModelSettings
from skillgit.errors import FatalModelError
from skillgit.models import access
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
        ("http://api.openai.com/v1", False),
    ],
)
def test_the_key_of_the_environment_goes_to_its_provider_and_this_machine_only(
    address: str, goes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    given = ModelSettings(model="openai:x", base_url=address)
    if goes:
        assert access.api_key(given, "OPENAI_API_KEY", "api.openai.com") == KEY
    else:
        with pytest.raises(FatalModelError, match="the key in OPENAI_API_KEY is not for"):
            access.api_key(given, "OPENAI_API_KEY", "api.openai.com")
    named = given.model_copy(update={"api_key_env": "OPENAI_API_KEY"})
    assert access.api_key(named, "OPENAI_API_KEY", "api.openai.com") == KEY


def test_the_address_of_the_environment_is_part_of_the_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    given = ModelSettings(model="openai:x")
    plain = access.fingerprint(given, "OPENAI_BASE_URL")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    moved = access.fingerprint(given, "OPENAI_BASE_URL")
    assert moved != plain
    assert moved == access.fingerprint(
        given.model_copy(update={"base_url": "http://localhost:1/v1"}), "OPENAI_BASE_URL"
    )
