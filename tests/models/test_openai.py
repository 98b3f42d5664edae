"""What only OpenAI's protocols have: two APIs, structured output in steps, usage that may be missing."""

from __future__ import annotations

from typing import Any

import pytest

from skillgit.config import ModelSettings
from skillgit.errors import ConfigError, FatalModelError, ProviderError, TaskError
from skillgit.models import registry
from skillgit.models.base import Message, Request, Tool
from tests.models.asking import ASK, CHAT, KEY, OPENAI, SCHEMA, ask, ask_all
from tests.servers.scripted import Call, Fail, Say, Server

pytestmark = pytest.mark.usefixtures("keys")
LOOSE = {"type": "object", "properties": {"x": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("model", "api", "path"),
    [
        (OPENAI, "auto", "/v1/responses"),
        (OPENAI, "chat", "/v1/chat/completions"),
        (CHAT, "auto", "/v1/chat/completions"),
        (CHAT, "responses", "/v1/responses"),
    ],
)
def test_each_provider_has_its_api_and_the_setting_forces_the_other(model: str, api: str, path: str) -> None:
    with Server(lambda call: "hi") as server:
        reply = ask(model, server, api=api)
        assert [call.path for call in server.requests] == [path]
    assert (reply.text, reply.usage.cached_tokens) == ("hi", 4)
    assert (
        registry.create(ModelSettings(model=OPENAI), "target").fingerprint
        != registry.create(ModelSettings(model=OPENAI, api="chat"), "target").fingerprint
    )


def test_settings_reach_a_response() -> None:
    given: dict[str, Any] = {"temperature": 0.5, "max_tokens": 99, "reasoning_effort": "low", "extra": {"top_p": 0.3}}
    with Server(lambda call: "ok") as server:
        ask(OPENAI, server, **given)
        body = server.requests[0].body
    assert body == {
        "model": "gpt-test",
        "input": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hello"}],
        "max_output_tokens": 99,
        "store": False,
        "temperature": 0.5,
        "reasoning": {"effort": "low"},
        "top_p": 0.3,
    }


def test_settings_reach_a_chat_completion() -> None:
    given: dict[str, Any] = {
        "temperature": 0.5,
        "max_tokens": 99,
        "reasoning_effort": "low",
        "seed": 7,
        "extra": {"top_p": 0.3},
    }
    with Server(lambda call: "ok") as server:
        ask_all(CHAT, server, [ASK, Request(ASK.messages, sample=2, max_tokens=5)], **given)
        first, second = (call.body for call in server.requests)
    assert first == {
        "model": "some-model",
        "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hello"}],
        "max_tokens": 99,
        "temperature": 0.5,
        "reasoning_effort": "low",
        "seed": 7,
        "top_p": 0.3,
    }
    assert (second["seed"], second["max_tokens"]) == (9, 5)


def test_a_seed_that_has_no_effect_is_told(caplog: pytest.LogCaptureFixture) -> None:
    registry.create(ModelSettings(model=OPENAI, seed=1), "target")
    assert "seed has no effect" in caplog.text


@pytest.mark.parametrize(
    ("model", "refused", "kept"),
    [(CHAT, "max_tokens", "max_completion_tokens"), (OPENAI, "max_completion_tokens", "max_tokens")],
)
def test_the_other_name_of_the_output_limit_is_tried(
    model: str, refused: str, kept: str, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(call: Call) -> str | Fail:
        said = f"Unsupported parameter: '{refused}' is not supported with this model. Use '{kept}' instead."
        return Fail(400, said, param=refused) if refused in call.body else str(call.body[kept])

    with Server(answer) as server:
        replies = ask_all(model, server, [ASK, ASK], api="chat", max_tokens=55)
        assert [reply.text for reply in replies] == ["55", "55"]
        assert len(server.requests) == 3
    assert f"going on with {kept}" in caplog.text


@pytest.mark.parametrize(("schema", "strict"), [(SCHEMA, True), (LOOSE, False)])
def test_a_schema_is_asked_for_strictly_where_it_allows(schema: dict[str, object], strict: bool) -> None:
    with Server(lambda call: '{"x": 1}') as server:
        for model in (OPENAI, CHAT):
            ask(model, server, Request(ASK.messages, schema=schema, schema_name="reflect"))
        response, chat = (call.body for call in server.requests)
    wanted = {"name": "reflect", "schema": schema, "strict": strict}
    assert response["text"] == {"format": {"type": "json_schema", **wanted}}
    assert chat["response_format"] == {"type": "json_schema", "json_schema": wanted}


def test_a_server_without_schemas_is_asked_for_a_json_object() -> None:
    def answer(call: Call) -> str | Fail:
        kind = call.body["response_format"]["type"]
        return "{}" if kind == "json_object" else Fail(422, "response_format: Input tag 'json_schema' is not supported")

    with Server(answer) as server:
        assert ask(CHAT, server, Request(ASK.messages, schema=SCHEMA)).text == "{}"
        assert server.requests[-1].body["response_format"] == {"type": "json_object"}


def test_reasoning_that_a_model_does_not_have_is_fatal_for_it_was_asked_for() -> None:
    fail = Fail(
        400, "Unsupported parameter: 'reasoning.effort' is not supported with this model.", param="reasoning.effort"
    )
    with Server(lambda call: fail) as server, pytest.raises(FatalModelError, match=r"reasoning\.effort"):
        ask(OPENAI, server, reasoning_effort="low")
    assert len(server.requests) == 1


def test_tokens_that_a_server_does_not_report_are_estimated_and_it_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with Server(lambda call: Say("twelve chars", tokens=None)) as server:
        replies = ask_all(CHAT, server, [ASK, ASK], usd_per_million=(1.0, 1e6))
    assert replies[0].usage == replies[1].usage
    assert (replies[0].usage.calls, replies[0].usage.output_tokens) == (1, 4)
    assert replies[0].usage.usd == pytest.approx(4.0, rel=1e-3)
    assert [record.getMessage() for record in caplog.records] == [
        f"{CHAT} reports no tokens; they are estimated from the length of the texts"
    ]


def test_a_key_and_the_headers_of_openai_stay_away_from_compatible_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"Authorization: Bearer {KEY}")
    monkeypatch.setenv("OTHER_KEY", "sk-other")
    with Server(lambda call: "hi") as server:
        ask(CHAT, server)
        ask(CHAT, server, api_key_env="OTHER_KEY")
        ask(OPENAI, server, api_key_env="OTHER_KEY")
        without, with_key, openai = (call.headers for call in server.requests)
    assert "authorization" not in without
    assert "openai-organization" not in without
    assert with_key["authorization"] == "Bearer sk-other"
    assert openai["openai-organization"] == "org-1"


def test_a_compatible_server_needs_an_address() -> None:
    with pytest.raises(ConfigError, match="needs base_url"):
        registry.create(ModelSettings(model=CHAT), "target")


def test_an_error_that_a_router_puts_into_a_good_answer_is_an_error() -> None:
    answers = iter(
        [
            Fail(200, body='{"error": {"message": "Provider is busy", "code": 429}}'),
            Fail(200, body='{"error": {"message": "No such key", "code": 401}}'),
        ]
    )
    with Server(lambda call: next(answers)) as server:
        with pytest.raises(ProviderError, match="Provider is busy") as caught:
            ask(CHAT, server)
        with pytest.raises(FatalModelError, match="No such key"):
            ask(CHAT, server)
    assert (caught.value.transient, caught.value.overloaded) == (True, True)


@pytest.mark.parametrize(("code", "overloaded"), [("server_error", False), ("rate_limit_exceeded", True)])
def test_a_response_that_failed_after_it_began_is_transient(code: str, overloaded: bool) -> None:
    body = f'{{"status": "failed", "output": [], "error": {{"code": "{code}", "message": "it broke"}}}}'
    with Server(lambda call: Fail(200, body=body)) as server, pytest.raises(ProviderError, match="it broke") as caught:
        ask(OPENAI, server)
    assert (caught.value.transient, caught.value.overloaded) == (True, overloaded)


def test_a_response_stopped_by_a_filter_is_a_refusal_and_any_other_break_is_transient() -> None:
    body = '{"status": "incomplete", "output": [], "incomplete_details": {"reason": "REASON"}}'
    answers = iter(Fail(200, body=body.replace("REASON", reason)) for reason in ("content_filter", "steered"))
    with Server(lambda call: next(answers)) as server:
        assert ask(OPENAI, server).stop == "refusal"
        with pytest.raises(ProviderError, match="incomplete: steered"):
            ask(OPENAI, server)


def test_images_in_the_result_of_a_tool() -> None:
    turn = Message("tool", "see", images=("https://example.org/a.png",), tool_call_id="t1")
    with Server(lambda call: "ok") as server:
        ask(OPENAI, server, Request((*ASK.messages, turn)))
        with pytest.raises(TaskError, match="api: responses"):
            ask(CHAT, server, Request((*ASK.messages, turn)))
        (call,) = server.requests
    assert call.body["input"][-1]["output"][1]["image_url"] == "https://example.org/a.png"


def test_sealed_thoughts_go_back_with_the_results_of_tools() -> None:
    tool = Tool("add", "Adds.", LOOSE)
    says = iter([Say("let me see", "tool_calls", (("t1", "add", {"a": 3}),), thoughts="sealed"), Say("3")])
    with Server(lambda call: next(says)) as server:
        first = ask(OPENAI, server, Request(ASK.messages, tools=(tool,)))
        turns = (*ASK.messages, first.turn(), Message("tool", "3", tool_call_id="t1"))
        assert ask(OPENAI, server, Request(turns, tools=(tool,))).thoughts == ()
        before, after = (call.body for call in server.requests)
    assert before["include"] == ["reasoning.encrypted_content"]
    assert [item["type"] for item in after["input"][2:]] == [
        "reasoning", "message", "function_call", "function_call_output",
    ]  # fmt: skip
    assert after["input"][2] == {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"}
    assert after["input"][4]["call_id"] == after["input"][5]["call_id"] == "t1"


def test_a_model_that_seals_no_thoughts_is_asked_without(caplog: pytest.LogCaptureFixture) -> None:
    def answer(call: Call) -> str | Fail:
        said = "Encrypted content is not supported with this model."
        return Fail(400, said, param="include") if "include" in call.body else "fine"

    with Server(answer) as server:
        asked = Request(ASK.messages, tools=(Tool("add", "Adds.", LOOSE),))
        assert [reply.text for reply in ask_all(OPENAI, server, [asked, asked])] == ["fine", "fine"]
        assert len(server.requests) == 3
    assert "going on without it" in caplog.text
