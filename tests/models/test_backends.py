"""What every backend behind an SDK does alike: the real SDKs against the scripted server, over loopback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from skillgit.config import ModelSettings
from skillgit.errors import FatalModelError, ProviderError
from skillgit.models import registry
from skillgit.models.base import Message, Request, Tool, ToolCall
from tests.models.asking import ANTHROPIC, ASK, BACKENDS, KEY, SCHEMA, ask, ask_all
from tests.servers.scripted import Call, Fail, Say, Server

pytestmark = [pytest.mark.usefixtures("keys"), pytest.mark.parametrize("model", BACKENDS)]
PNG = b"\x89PNG not really"


def test_an_answer_with_its_usage(model: str) -> None:
    with Server(lambda call: "hi there") as server:
        reply = ask(model, server)
    usage = reply.usage
    assert (reply.text, reply.stop, reply.tool_calls) == ("hi there", "stop", ())
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.usd) == (20, 7, 4, None)


def test_an_empty_answer_is_an_answer(model: str) -> None:
    with Server(lambda call: "") as server:
        reply = ask(model, server)
    assert (reply.text, reply.stop) == ("", "stop")


@pytest.mark.parametrize("stop", ["length", "refusal"])
def test_why_an_answer_ended(model: str, stop: str) -> None:
    with Server(lambda call: Say("part", stop)) as server:
        reply = ask(model, server)
    assert (reply.text, reply.stop) == ("part", stop)


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
    (call,) = reply.tool_calls
    assert (reply.stop, call.id, call.name, json.loads(call.arguments)) == ("tool_calls", "t3", "add", {"a": 3})
    assert all(part in sent for part in ("t1", "t2", "one", "two", "Add two numbers."))


def test_images_travel_as_data_or_as_an_address(model: str, tmp_path: Path) -> None:
    image = tmp_path / "dot.jpg"  # the name is wrong, and does not count
    image.write_bytes(PNG)
    images = (str(image), "https://example.org/a.png", "data:image/gif;base64,R0lGODdh")
    with Server(lambda call: "a dot") as server:
        ask(model, server, Request((Message("user", "What is this?", images),)))
        sent = server.requests[0].text
    assert "iVBORyBub3QgcmVhbGx5" in sent  # base64 of the bytes above
    assert "image/png" in sent
    assert "https://example.org/a.png" in sent
    assert ("image/gif" in sent, "R0lGODdh" in sent) == (True, True)


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_what_every_call_would_get_is_fatal_and_shows_no_key(
    model: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    fail = Fail(status, f"not for\nthe key {KEY} here")
    with Server(lambda call: fail) as server, pytest.raises(FatalModelError) as caught:
        ask(model, server, api_key_env="SOME_KEY")
    error = caught.value
    assert KEY in server.requests[0].headers.get("authorization", server.requests[0].headers.get("x-api-key", ""))
    assert f"{status}: not for the key *** here" in error.message
    assert KEY not in error.message + repr(error) + error.hint
    assert error.__suppress_context__


def test_long_words_are_cut_and_no_part_of_the_key_is_left_at_the_cut(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    fail = Fail(401, f"{'x' * 490}{KEY}{'y' * 999}")
    with Server(lambda call: fail) as server, pytest.raises(FatalModelError) as caught:
        ask(model, server, api_key_env="SOME_KEY")
    assert caught.value.message == f"{model}: 401: {'x' * 490}***{'y' * 7}"


@pytest.mark.parametrize(
    ("fail", "after", "overloaded"),
    [
        (Fail(429, "slow down", {"retry-after": "7"}), 7.0, True),
        (Fail(429, "slow down", {"retry-after-ms": "1500", "retry-after": "7"}), 1.5, True),
        (Fail(408), None, False),
        (Fail(409), None, False),
        (Fail(503), None, True),
        (Fail(529, "overloaded"), None, True),
        (Fail(500, "oops", {"retry-after": "soon"}), None, False),
        (Fail(502, body="<html>Bad gateway</html>"), None, False),
        (Fail(200, body="this is no JSON"), None, False),
        (Fail(200, body='"a text"'), None, False),
        (Fail(200, body="{}"), None, False),
        (Fail(cut=True), None, False),
    ],
)
def test_what_may_pass_is_transient(model: str, fail: Fail, after: float | None, overloaded: bool) -> None:
    with Server(lambda call: fail) as server, pytest.raises(ProviderError) as caught:
        ask(model, server)
    assert (caught.value.transient, caught.value.retry_after, caught.value.overloaded) == (True, after, overloaded)
    assert len(server.requests) == 1  # the SDKs do not try again behind our back


@pytest.mark.parametrize(
    "fail",
    [
        Fail(429, "You exceeded your current quota", kind="insufficient_quota", code="insufficient_quota"),
        Fail(400, "Your credit balance is too low to access the API"),
        Fail(400, "The requested model 'gpt-9' does not exist", code="model_not_found"),
        Fail(400, "Invalid model name passed in model=gpt-9"),
    ],
)
def test_no_money_and_no_such_model_are_fatal_whatever_the_status(model: str, fail: Fail) -> None:
    with Server(lambda call: fail) as server, pytest.raises(FatalModelError) as caught:
        ask(model, server)
    assert fail.message in caught.value.message


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens",
        "prompt is too long: 200001 tokens > 200000 maximum",
        "Unsupported image type. Only PNG, JPEG, GIF and WebP are supported",
        "messages.0.content: content blocks of this kind are not supported",
    ],
)
def test_a_refusal_of_one_tasks_contents_fails_this_task_only(model: str, message: str) -> None:
    with Server(lambda call: Fail(400, message)) as server, pytest.raises(ProviderError) as caught:
        ask(model, server)
    assert not caught.value.transient
    assert message in caught.value.message


def test_a_wrong_parameter_is_fatal_and_the_setting_is_named(model: str) -> None:
    fail = Fail(400, "Unknown parameter: 'top_q'.", param="top_q")
    with Server(lambda call: fail) as server, pytest.raises(FatalModelError, match="top_q") as caught:
        ask(model, server, extra={"top_q": 1})
    assert "extra.top_q" in caught.value.hint
    assert server.requests[0].body["top_q"] == 1


def test_a_server_that_is_not_there_is_transient(model: str) -> None:
    with Server(lambda call: "x") as server:
        gone = server
    with pytest.raises(ProviderError, match="no connection") as caught:
        ask(model, gone)
    assert caught.value.transient


def test_a_refused_temperature_is_left_out_from_then_on_and_told_once(
    model: str, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(call: Call) -> str | Fail:
        said = "Unsupported value: 'temperature' does not support 0.2 with this model."
        return Fail(400, said) if "temperature" in call.body else "fine"

    with Server(answer, latency=0.01) as server:
        replies = ask_all(model, server, [ASK] * 8, at_once=True, temperature=0.2)
        assert [reply.text for reply in replies] == ["fine"] * 8
        sent = ["temperature" in call.body for call in server.requests]
    assert sent[0] and not any(sent[-8:])
    assert [record.getMessage() for record in caplog.records] == [
        f"{model}: 400: Unsupported value: 'temperature' does not support 0.2 with this model.; going on without it"
    ]


def test_a_temperature_out_of_range_is_a_mistake_to_be_told(model: str) -> None:
    fail = Fail(400, "temperature: Input should be less than or equal to 1")
    with Server(lambda call: fail) as server, pytest.raises(FatalModelError, match="less than or equal to 1"):
        ask(model, server, temperature=1.5)
    assert len(server.requests) == 1


def test_a_schema_that_is_refused_in_every_form_is_left_out_in_the_end(
    model: str, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(call: Call) -> str | Fail:
        asked = {"text", "response_format", "output_config"} & set(call.body)
        name = {"text": "text.format", "output_config": "output_config.format"}.get(*asked, *asked) if asked else ""
        return Fail(400, f"'{name}' is not supported", param=name) if asked else "{}"

    with Server(answer) as server:
        asked = Request(ASK.messages, schema=SCHEMA)
        assert [reply.text for reply in ask_all(model, server, [asked, asked])] == ["{}", "{}"]
        forms = 2 if model == ANTHROPIC else 3
        assert len(server.requests) == forms + 1
    assert len(caplog.records) == forms - 1


def test_64_calls_at_once_share_one_client(model: str) -> None:
    with Server(lambda call: "ok", latency=0.1) as server:
        replies = ask_all(model, server, [ASK] * 64, at_once=True)
        assert [reply.text for reply in replies] == ["ok"] * 64
        assert server.most_open > 32


def test_a_key_that_is_not_set_or_cannot_be_one_names_its_variable(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(lambda call: "x") as server:
        with pytest.raises(FatalModelError, match="MY_KEY is not set"):
            ask(model, server, api_key_env="MY_KEY")
        for value in (f"{KEY} and more", f"{KEY}\nX-Other: 1", f"{KEY}…"):
            monkeypatch.setenv("MY_KEY", value)
            with pytest.raises(FatalModelError, match="MY_KEY holds cannot be a key") as caught:
                ask(model, server, api_key_env="MY_KEY")
            assert KEY not in repr(caught.value) + caught.value.hint
    assert server.requests == []


def test_a_fingerprint_changes_with_what_changes_answers_and_with_nothing_else(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = ModelSettings(model=model, base_url="http://localhost:1")

    def printed(**changed: Any) -> str:
        return registry.create(base.model_copy(update=changed), "target").fingerprint

    assert printed(timeout=1, retries=0, concurrency=99, api_key_env="X", usd_per_million=(1, 2)) == printed()
    changes: list[dict[str, Any]] = [
        {"temperature": 0.7},
        {"max_tokens": 5},
        {"reasoning_effort": "low"},
        {"seed": 1},
        {"extra": {"top_p": 1}},
        {"model": f"{model}-2"},
        {"base_url": "http://localhost:2"},
    ]
    prints = {printed(), *(printed(**change) for change in changes)}
    assert len(prints) == len(changes) + 1
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another")
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    assert printed() in prints


def test_nothing_is_imported_or_connected_before_the_first_call(model: str) -> None:
    code = (
        "import sys; from skillgit.config import ModelSettings; from skillgit.models import registry;"
        f"registry.create(ModelSettings(model={model!r}, base_url='http://localhost:1'), 'target');"
        "print([m for m in ('openai', 'anthropic', 'httpx2', 'genai_prices') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_model_is_not_shown_with_its_key(model: str) -> None:
    with Server(lambda call: "x") as server:
        backend = registry.create(ModelSettings(model=model, base_url=server.url), "target")
    assert KEY not in repr(backend) + repr(vars(backend))
