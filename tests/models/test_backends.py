"""The real SDKs against the scripted server, over loopback."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from skillgit.config import ModelSettings
from skillgit.errors import ConfigError, FatalModelError, ProviderError
from skillgit.models import registry
from skillgit.models.base import Message, Reply, Request, Tool, ToolCall, Usage
from tests.servers.scripted import Call, Fail, Say, Server

KEY = "sk-secret-that-must-not-show"
SCHEMA = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
}
ASK = Request((Message("system", "Be short."), Message("user", "Hello")))
BACKENDS = ("openai:gpt-test", "openai-compatible:some-model", "anthropic:claude-test")


def settings(model: str, server: Server, **more: Any) -> ModelSettings:
    suffix = "" if model.startswith("anthropic") else "/v1"
    return ModelSettings(model=model, base_url=server.url + suffix, **more)


def ask(model: str, server: Server, request: Request = ASK, **more: Any) -> Reply:
    return asyncio.run(_ask(settings(model, server, **more), request))


async def _ask(given: ModelSettings, request: Request) -> Reply:
    backend = registry.create(given, "target")
    try:
        return await backend.call(request)
    finally:
        await backend.close()


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)


@pytest.mark.parametrize("model", BACKENDS)
def test_an_answer_with_its_usage(model: str) -> None:
    with Server(lambda call: "hi there") as server:
        reply = ask(model, server)
    assert reply == Reply("hi there", Usage(20, 7, 4), "stop")


@pytest.mark.parametrize("model", BACKENDS)
@pytest.mark.parametrize("stop", ["length", "refusal"])
def test_why_an_answer_ended(model: str, stop: str) -> None:
    with Server(lambda call: Say("part", stop)) as server:
        assert ask(model, server).stop == stop


@pytest.mark.parametrize("model", BACKENDS)
def test_tool_calls_and_their_results_go_both_ways(model: str) -> None:
    tool = Tool("add", "Add two numbers.", {"type": "object", "properties": {"a": {"type": "integer"}}})
    turns = (
        *ASK.messages,
        Message("assistant", "", tool_calls=(ToolCall("t1", "add", '{"a": 1}'), ToolCall("t2", "add", '{"a": 2}'))),
        Message("tool", "one", tool_call_id="t1"),
        Message("tool", "two", tool_call_id="t2"),
    )
    with Server(lambda call: Say("", "tool_calls", (("t3", "add", {"a": 3}),))) as server:
        reply = ask(model, server, Request(turns, tools=(tool,)))
        sent = server.requests[0].text
    assert (reply.stop, reply.tool_calls[0].name, json.loads(reply.tool_calls[0].arguments)) == (
        "tool_calls",
        "add",
        {"a": 3},
    )
    assert all(part in sent for part in ("t1", "t2", "one", "two", "Add two numbers."))


@pytest.mark.parametrize(
    ("model", "where"),
    [
        ("openai:gpt-test", lambda body: body["text"]["format"]["schema"]),
        ("openai-compatible:some-model", lambda body: body["response_format"]["json_schema"]["schema"]),
        ("anthropic:claude-test", lambda body: body["output_config"]["format"]["schema"]),
    ],
)
def test_a_schema_is_sent_as_the_api_wants_it(model: str, where: Callable[[dict[str, Any]], Any]) -> None:
    with Server(lambda call: '{"x": 1}') as server:
        assert ask(model, server, Request(ASK.messages, schema=SCHEMA)).text == '{"x": 1}'
        assert where(server.requests[0].body) == SCHEMA


@pytest.mark.parametrize("model", BACKENDS)
def test_an_image_file_is_sent_as_data(model: str, tmp_path: Path) -> None:
    image = tmp_path / "dot.png"
    image.write_bytes(b"\x89PNG not really")
    request = Request((Message("user", "What is this?", (str(image), "https://example.org/a.png")),))
    with Server(lambda call: "a dot") as server:
        ask(model, server, request)
        sent = server.requests[0].text
    assert "iVBORyBub3QgcmVhbGx5" in sent  # base64 of the bytes above
    assert "image/png" in sent
    assert "https://example.org/a.png" in sent


def test_settings_reach_the_request() -> None:
    given = {"temperature": 0.5, "max_tokens": 99, "reasoning_effort": "low", "extra": {"top_k": 3}}
    with Server(lambda call: "ok") as server:
        for model in BACKENDS:
            ask(model, server, **given)
        responses, chat, messages = (call.body for call in server.requests)
    assert (responses["temperature"], responses["max_output_tokens"], responses["top_k"]) == (0.5, 99, 3)
    assert (responses["reasoning"], responses["store"]) == ({"effort": "low"}, False)
    assert (chat["temperature"], chat["max_completion_tokens"], chat["reasoning_effort"]) == (0.5, 99, "low")
    assert (messages["temperature"], messages["max_tokens"], messages["top_k"]) == (0.5, 99, 3)
    assert messages["output_config"] == {"effort": "low"}
    assert messages["thinking"] == {"type": "adaptive"}
    assert messages["system"][0]["cache_control"] == {"type": "ephemeral"}


def test_a_long_answer_is_streamed_from_anthropic() -> None:
    with Server(lambda call: Say("long", tokens=(9, 3, 0))) as server:
        reply = ask("anthropic:claude-test", server, max_tokens=64_000)
        assert server.requests[0].body["stream"] is True
    assert (reply.text, reply.usage.output_tokens) == ("long", 3)


@pytest.mark.parametrize("model", BACKENDS)
@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_every_call_would_get_is_fatal_and_shows_no_key(model: str, status: int, monkeypatch: Any) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    with Server(lambda call: Fail(status, "no such thing here")) as server, pytest.raises(FatalModelError) as caught:
        ask(model, server, api_key_env="SOME_KEY")
    assert str(status) in caught.value.message
    assert "no such thing here" in caught.value.message
    assert KEY not in caught.value.message + repr(caught.value) + caught.value.hint


@pytest.mark.parametrize("model", BACKENDS)
@pytest.mark.parametrize(
    ("fail", "after", "overloaded"),
    [
        (Fail(429, "slow down", {"retry-after": "7"}), 7.0, True),
        (Fail(529, "overloaded"), None, True),
        (Fail(500, "oops"), None, False),
        (Fail(200, body="this is no JSON"), None, False),
        (Fail(200, body="{}"), None, False),
        (Fail(cut=True), None, False),
    ],
)
def test_what_may_pass_is_transient(model: str, fail: Fail, after: float | None, overloaded: bool) -> None:
    with Server(lambda call: fail) as server, pytest.raises(ProviderError) as caught:
        ask(model, server)
    assert (caught.value.transient, caught.value.retry_after, caught.value.overloaded) == (True, after, overloaded)


@pytest.mark.parametrize("model", BACKENDS)
def test_a_server_that_is_not_there_is_transient(model: str) -> None:
    with Server(lambda call: "x") as server:
        gone = server
    with pytest.raises(ProviderError, match="no connection") as caught:
        ask(model, gone)
    assert caught.value.transient


def test_a_missing_key_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with Server(lambda call: "x") as server, pytest.raises(FatalModelError, match="OPENAI_API_KEY is not set"):
        ask("openai:gpt-test", server)
    assert server.requests == []


def test_a_refused_parameter_is_left_out_from_then_on_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    def answer(call: Call) -> str | Fail:
        if "temperature" in call.body:
            return Fail(
                400, "Unsupported parameter: 'temperature' is not supported with this model.", param="temperature"
            )
        return "fine"

    async def twice(given: ModelSettings) -> list[str]:
        backend = registry.create(given, "target")
        replies = [(await backend.call(ASK)).text for _ in range(2)]
        await backend.close()
        return replies

    with Server(answer) as server, caplog.at_level(logging.WARNING):
        assert asyncio.run(twice(settings("openai:gpt-test", server, temperature=0.2))) == ["fine", "fine"]
        assert ["temperature" in call.body for call in server.requests] == [True, False, False]
    assert "refuses the parameter temperature" in caplog.text


def test_an_old_server_gets_max_tokens() -> None:
    def answer(call: Call) -> str | Fail:
        if "max_completion_tokens" in call.body:
            return Fail(400, "Unrecognized request argument: 'max_completion_tokens'", param="max_completion_tokens")
        return str(call.body["max_tokens"])

    with Server(answer) as server:
        assert ask("openai-compatible:old", server, max_tokens=55).text == "55"


def test_a_bad_request_about_parameters_is_fatal() -> None:
    fail = Fail(400, "Unknown parameter: 'top_q'", param="top_q")
    with Server(lambda call: fail) as server, pytest.raises(FatalModelError, match="top_q"):
        ask("openai:gpt-test", server, extra={"top_q": 1})


@pytest.mark.parametrize("model", BACKENDS)
def test_64_calls_at_once_share_one_client(model: str) -> None:
    async def many(given: ModelSettings) -> int:
        backend = registry.create(given, "target")
        calls: list[Awaitable[Reply]] = [backend.call(ASK) for _ in range(64)]
        replies = await asyncio.gather(*calls)
        await backend.close()
        return sum(reply.text == "ok" for reply in replies)

    with Server(lambda call: "ok", latency=0.05) as server:
        assert asyncio.run(many(settings(model, server))) == 64
        assert server.most_open > 32


def test_a_fingerprint_changes_with_what_changes_answers_and_with_nothing_else() -> None:
    base = ModelSettings(model="openai:gpt-test")
    same = base.model_copy(update={"timeout": 1, "retries": 0, "concurrency": 99, "api_key_env": "X"})
    other = base.model_copy(update={"temperature": 0.7})
    prints = [registry.create(one, "target").fingerprint for one in (base, same, other)]
    assert prints[0] == prints[1] != prints[2]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("opanai:x", "did you mean 'openai'"),
        ("openai-compatible:x", "needs base_url"),
        ("builtin:induce", "can only be the optimizer"),
    ],
)
def test_a_spec_that_cannot_be_is_refused_in_one_line(spec: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        registry.create(ModelSettings(model=spec), "target")
