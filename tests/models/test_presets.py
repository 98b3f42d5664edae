"""What the rows of the presets do, through the real SDK: where a request goes, with which key, and what it says."""

from __future__ import annotations

import json
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from skillgit.config import ModelSettings
from skillgit.errors import FatalModelError
from skillgit.models import registry
from skillgit.models.base import Message, Request
from skillgit.models.presets import BY_PROVIDER, PRESETS, Preset, applied
from tests.models.asking import ASK, KEY, SCHEMA, ask
from tests.servers.scripted import Call, Fail, Say, Server

KEYED = [preset for preset in PRESETS if preset.variable]
LOCAL = [preset for preset in PRESETS if not preset.variable]


def names(presets: list[Any]) -> list[str]:
    return [preset.provider for preset in presets]


def test_the_presets_that_there_are() -> None:
    assert names(KEYED) == ["qwen", "minimax", "minimax-cn", "deepseek", "openrouter"]
    assert names(LOCAL) == ["ollama", "vllm", "lmstudio"]
    rows = registry.backends()
    assert all(rows[preset.provider].roles == registry.BOTH for preset in PRESETS)


@pytest.mark.parametrize("preset", PRESETS, ids=names(list(PRESETS)))
def test_a_preset_knows_its_address_and_the_setting_comes_first(preset: Any) -> None:
    own = applied(preset, ModelSettings(model=preset.example))
    assert own.base_url == preset.base_url
    assert (urlsplit(own.base_url).scheme == "http") is (not preset.variable)  # keys travel by https only
    other = ModelSettings(model=preset.example, base_url="http://localhost:9/v1", extra={"top_k": 1})
    assert applied(preset, other).base_url == "http://localhost:9/v1"
    assert applied(preset, other).extra["top_k"] == 1


@pytest.mark.parametrize("preset", KEYED, ids=names(KEYED))
def test_a_key_of_a_provider_goes_to_it_and_to_this_machine_only(preset: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert registry.backends()[preset.provider].missing() == f"set {preset.variable}"
    monkeypatch.setenv(preset.variable, KEY)
    assert registry.backends()[preset.provider].missing() == ""
    with Server(lambda call: "hi") as server:
        assert ask(preset.example, server).text == "hi"
        (call,) = server.requests
    assert call.path == "/v1/chat/completions"
    assert call.headers["authorization"] == f"Bearer {KEY}"
    away = ModelSettings(model=preset.example, base_url="https://elsewhere.example/v1")
    with pytest.raises(FatalModelError, match=rf"the key in {preset.variable} is not for elsewhere\.example"):
        registry.create(away, "target")._key()  # type: ignore[attr-defined]


@pytest.mark.parametrize("preset", LOCAL, ids=names(LOCAL))
def test_a_server_on_this_machine_gets_no_key_and_is_free(preset: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Server(lambda call: "hi") as server:
        reply = ask(preset.example, server)
        assert "authorization" not in server.requests[0].headers
    assert reply.usage.usd == 0.0


def test_whether_a_server_on_this_machine_is_there_is_looked_up() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        one = Preset("some", f"http://127.0.0.1:{port}/v1", "", "some:x")
        assert one.missing() == f"start its server, nothing listens at 127.0.0.1:{port}"
        server.listen()
        assert one.missing() == ""


@pytest.mark.parametrize(
    ("provider", "effort", "sent"),
    [
        ("qwen", "", {"enable_thinking": False}),
        ("qwen", "none", {"enable_thinking": False}),
        ("qwen", "high", {"enable_thinking": True}),
        ("minimax", "", {"reasoning_split": True}),
        ("minimax-cn", "high", {"reasoning_split": True}),
        ("deepseek", "", {}),
        ("deepseek", "none", {"thinking": {"type": "disabled"}}),
        ("deepseek", "high", {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        ("openrouter", "none", {"reasoning": {"enabled": False}, "usage": {"include": True}}),
        ("openrouter", "low", {"reasoning_effort": "low", "usage": {"include": True}}),
        ("ollama", "none", {"reasoning_effort": "none"}),
        ("vllm", "none", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("vllm", "low", {"chat_template_kwargs": {"enable_thinking": True}, "reasoning_effort": "low"}),
        ("lmstudio", "", {}),
    ],
)
def test_how_a_preset_is_told_to_think(
    provider: str, effort: str, sent: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    preset = BY_PROVIDER[provider]
    monkeypatch.setenv(preset.variable or "UNUSED", KEY)
    with Server(lambda call: "hi") as server:
        ask(preset.example, server, reasoning_effort=effort)
        body = server.requests[0].body
    plain = {"model", "messages", "max_tokens", "max_completion_tokens"}
    assert {key: value for key, value in body.items() if key not in plain} == sent


def test_a_switch_that_the_user_sets_comes_before_the_presets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DASHSCOPE_API_KEY", KEY)
    with Server(lambda call: "hi") as server:
        ask("qwen:qwen3-8b", server, extra={"enable_thinking": True})
        assert server.requests[0].body["enable_thinking"] is True


@pytest.mark.parametrize(
    ("provider", "form", "limit"),
    [
        ("deepseek", "json_object", "max_tokens"),
        ("lmstudio", "json_schema", "max_tokens"),
        ("minimax", "json_schema", "max_completion_tokens"),
        ("qwen", "json_schema", "max_tokens"),
    ],
)
def test_schema_and_output_limit_go_out_as_the_server_wants_them(
    provider: str, form: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    preset = BY_PROVIDER[provider]
    monkeypatch.setenv(preset.variable or "UNUSED", KEY)
    with Server(lambda call: "{}") as server:
        ask(preset.example, server, Request(ASK.messages, schema=SCHEMA), max_tokens=77)
        body = server.requests[0].body
    assert body["response_format"]["type"] == form
    assert body[limit] == 77


def test_a_server_that_knows_no_json_object_is_asked_without_after_the_schema() -> None:
    def answer(call: Call) -> str | Fail:
        return Fail(400, "'response_format' is not supported") if "response_format" in call.body else "{}"

    with Server(answer) as server:
        assert ask("lmstudio:x", server, Request(ASK.messages, schema=SCHEMA)).text == "{}"
        assert len(server.requests) == 2


def test_a_preset_changes_the_fingerprint_of_what_it_sends() -> None:
    def printed(**more: Any) -> str:
        return registry.create(ModelSettings(model="qwen:qwen-plus", **more), "target").fingerprint

    assert printed() == printed(reasoning_effort="none")  # the same request
    assert printed() != printed(reasoning_effort="high")


@pytest.mark.parametrize(
    ("model", "carried"), [("deepseek:x", True), ("ollama:x", False), ("openai-compatible:x", False)]
)
def test_thoughts_go_back_with_the_results_of_tools_where_a_server_wants_them(
    model: str, carried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
    with Server(lambda call: Say("", "tool_calls", (("t1", "add", {"a": 3}),), thoughts="hm")) as server:
        first = ask(model, server)
        ask(model, server, Request((*ASK.messages, first.turn(), Message("tool", "3", tool_call_id="t1"))))
        turn = server.requests[1].body["messages"][2]
    assert turn.get("reasoning_content") == ("hm" if carried else None)
    assert turn["tool_calls"][0]["id"] == "t1"


def test_a_provider_may_have_hosts_in_several_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DASHSCOPE_API_KEY", KEY)
    for host, goes in (("dashscope.aliyuncs.com", True), ("elsewhere.aliyuncs.com", False)):
        model: Any = registry.create(ModelSettings(model="qwen:x", base_url=f"https://{host}/v1"), "target")
        if goes:
            assert model._key() == KEY
        else:
            with pytest.raises(FatalModelError, match="is not for elsewhere"):
                model._key()


@pytest.mark.parametrize(
    ("more", "usd"), [({}, 0.25), ({"usd_per_million": (1.0, 1.0)}, 12e-6)], ids=["as billed", "as the user says"]
)
def test_what_a_router_billed_counts_before_any_price_list(
    more: dict[str, Any], usd: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12, "cost": 0.25}
    choice = {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}
    body = json.dumps({"id": "1", "object": "chat.completion", "created": 1, "choices": [choice], "usage": usage})
    with Server(lambda call: Fail(200, body=body)) as server:
        reply = ask("openrouter:openai/gpt-4o", server, **more)
    assert (reply.text, reply.usage.input_tokens, reply.usage.usd) == ("hi", 10, pytest.approx(usd))
