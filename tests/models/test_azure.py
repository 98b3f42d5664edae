"""Azure through the real SDKs: OpenAI's for the calls, Azure's own for Entra ID, with a server on loopback behind both."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest

from skillgit.config import ModelSettings
from skillgit.errors import ConfigError, FatalModelError
from skillgit.models import azure, registry
from skillgit.models.base import Reply
from tests.models.asking import ASK, KEY, ask
from tests.servers.scripted import Call, Fail, Server

AZURE = "azure:my-deployment"
TOKEN = "a.token.of.entra"
HOST = "https://name.openai.azure.com"


@pytest.fixture(autouse=True)
def signed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AZURE_OPENAI_ENDPOINT", "AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("given", "used"),
    [
        (HOST, f"{HOST}/openai/v1"),
        (f"{HOST}/", f"{HOST}/openai/v1"),
        (f"{HOST}/openai/v1/", f"{HOST}/openai/v1/"),
        ("https://gateway.example.org/azure", "https://gateway.example.org/azure"),
        ("", ""),
    ],
)
def test_the_address_of_a_resource_is_enough(given: str, used: str) -> None:
    assert azure.endpoint(given) == used


@pytest.mark.parametrize(("api", "path"), [("auto", "/openai/v1/responses"), ("chat", "/openai/v1/chat/completions")])
def test_a_key_opens_a_deployment_and_nothing_of_openais_goes_along(
    api: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    with Server(lambda call: "hi") as server:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url)

        async def work() -> Reply:
            model = registry.create(ModelSettings(model=AZURE, api=api), "target")  # type: ignore[arg-type]
            try:
                return await model.call(ASK)
            finally:
                await model.close()

        assert asyncio.run(work()).text == "hi"
        (call,) = server.requests
    assert (call.path, call.body["model"]) == (path, "my-deployment")
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert "openai-organization" not in call.headers


@pytest.mark.parametrize(
    "address",
    [
        "http://name.openai.azure.com",
        "https://openai.azure.com.example.org",
        "https://nameopenai.azure.com",
        "https://proxy.example.org/openai/v1",
        "http://localhost:8000",
    ],
)
def test_what_this_machine_is_signed_in_as_goes_to_azure_over_https_only(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="what this machine is signed in as goes nowhere else"):
        registry.create(ModelSettings(model=AZURE, base_url=address), "target")
    monkeypatch.setenv("SOME_KEY", KEY)
    registry.create(ModelSettings(model=AZURE, base_url=address, api_key_env="SOME_KEY"), "target")


@pytest.mark.parametrize("domain", azure.DOMAINS)
def test_azures_own_hosts_may_have_it(domain: str) -> None:
    registry.create(ModelSettings(model=AZURE, base_url=f"https://name.{domain}"), "target")


def test_a_key_of_the_environment_goes_to_azure_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    for address in ("https://elsewhere.example/v1", "http://name.openai.azure.com"):
        model: Any = registry.create(ModelSettings(model=AZURE, base_url=address), "target")
        with pytest.raises(FatalModelError, match="the key in AZURE_OPENAI_API_KEY is not for"):
            model._key()


def test_an_address_is_needed() -> None:
    with pytest.raises(ConfigError, match=r"needs base_url, e\.g\. https://NAME\.openai\.azure\.com, or AZURE_OPENAI"):
        registry.create(ModelSettings(model=AZURE), "target")


def identity(monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    """This machine is an app service with a managed identity, and the check of hosts is off for loopback."""
    pytest.importorskip("azure.identity")
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{server.url}/identity")
    monkeypatch.setenv("IDENTITY_HEADER", "secret-of-the-host")
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential")
    monkeypatch.setattr(azure, "demand_azure", lambda model, address: None)


def test_entra_id_opens_a_deployment_with_one_token_for_many_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    granted = {"access_token": TOKEN, "expires_on": "4102444800", "resource": "r", "token_type": "Bearer"}

    def answer(call: Call) -> str | Fail:
        return Fail(200, body=json.dumps(granted)) if call.path == "/identity" else "hi"

    async def work(server: Server) -> list[Reply]:
        model = registry.create(ModelSettings(model=AZURE, base_url=server.url), "target")
        try:
            return await asyncio.gather(*(model.call(ASK) for _ in range(16)))
        finally:
            await model.close()

    with Server(answer) as server:
        identity(monkeypatch, server)
        assert [reply.text for reply in asyncio.run(work(server))] == ["hi"] * 16
        asked = [call for call in server.requests if call.path == "/identity"]
        calls = [call for call in server.requests if call.path != "/identity"]
    assert [call.headers["x-identity-header"] for call in asked] == ["secret-of-the-host"]
    assert {call.headers["authorization"] for call in calls} == {f"Bearer {TOKEN}"}


def test_no_token_ends_the_run_in_azures_words_and_no_token_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    granted = {"access_token": TOKEN, "expires_on": "4102444800", "resource": "r", "token_type": "Bearer"}
    answers = iter([Fail(400, body='{"error": "invalid_scope", "error_description": "no such identity"}')])

    def answer(call: Call) -> Fail:
        if call.path != "/identity":
            return Fail(401, f"the token {TOKEN} is not for you")
        return next(answers, Fail(200, body=json.dumps(granted)))

    with Server(answer) as server:
        identity(monkeypatch, server)
        with pytest.raises(FatalModelError, match="azure:my-deployment: Entra ID gave no token: ") as caught:
            ask(AZURE, server)
        assert "az login" in caught.value.hint
        with pytest.raises(FatalModelError, match=r"401: the token \*\*\* is not for you"):
            ask(AZURE, server)


def test_without_azure_identity_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "azure.identity", None)
    with pytest.raises(FatalModelError) as caught:
        ask_entra()
    assert caught.value.hint == "pip install 'skillgit[azure]'"


def ask_entra() -> None:
    async def work() -> None:
        model = registry.create(ModelSettings(model=AZURE, base_url=HOST), "target")
        try:
            await model.call(ASK)
        finally:
            await model.close()

    asyncio.run(work())
