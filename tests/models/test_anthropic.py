"""What only the Messages API has: a cached prefix, thinking, streams."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from skillgit.config import LimitSettings, ModelSettings
from skillgit.errors import ConfigError, FatalModelError, ProviderError
from skillgit.models import registry
from skillgit.models.base import Message, Request, Tool
from skillgit.models.calls import Caller, Meter
from tests.models.asking import ANTHROPIC, ASK, SCHEMA, ask, ask_all, settings_for
from tests.models.fakes import Waits
from tests.servers.scripted import Call, Fail, Say, Server

pytestmark = pytest.mark.usefixtures("keys")
LONG = 64_000
MESSAGE: dict[str, Any] = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "x",
    "content": [],
    "stop_reason": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


def test_settings_reach_a_message_and_the_skill_is_cached() -> None:
    given: dict[str, Any] = {"temperature": 0.5, "max_tokens": 99, "reasoning_effort": "low", "extra": {"top_k": 3}}
    with Server(lambda call: "ok") as server:
        ask(ANTHROPIC, server, Request(ASK.messages, schema=SCHEMA), **given)
        body = server.requests[0].body
    assert body == {
        "model": "claude-test",
        "max_tokens": 99,
        "system": [{"type": "text", "text": "Be short.", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
        "temperature": 0.5,
        "top_k": 3,
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
    }


def test_cached_tokens_are_part_of_the_input_and_written_ones_cost_more() -> None:
    answers = iter([Say("x", tokens=(1_000_000, 0, 0), written=w) for w in (0, 1_000_000)])
    with Server(lambda call: next(answers)) as server:
        plain, written = ask_all("anthropic:claude-opus-4-8", server, [ASK, ASK])
    assert plain.usage.input_tokens == written.usage.input_tokens == 1_000_000
    assert plain.usage.usd and written.usage.usd == pytest.approx(1.25 * plain.usage.usd)


@pytest.mark.parametrize(("stop", "streams"), [("stop", True), ("length", True), ("refusal", True), ("stop", False)])
def test_a_long_answer_is_streamed(stop: str, streams: bool) -> None:
    say = Say("long", stop, tokens=(9, 3, 2))
    with Server(lambda call: say) as server:
        reply = ask(ANTHROPIC, server, max_tokens=LONG if streams else 4096)
        assert server.requests[0].body.get("stream", False) is streams
    assert (reply.text, reply.stop) == ("long", stop)
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_tokens) == (9, 3, 2)


def test_tool_calls_come_through_a_stream() -> None:
    with Server(lambda call: Say("", "tool_calls", (("t1", "add", {"a": 3}),))) as server:
        (call,) = ask(ANTHROPIC, server, max_tokens=LONG).tool_calls
    assert (call.id, call.name, call.arguments) == ("t1", "add", '{"a": 3}')


@pytest.mark.parametrize(
    ("fail", "overloaded"),
    [
        (Fail(cut=True), False),
        (Fail(200, body=""), False),
        (Fail(200, body="event: message_start\ndata: {no json\n\n"), False),
        (Fail(200, "Overloaded", kind="overloaded_error"), True),
        (Fail(200, "Something broke", kind="api_error"), False),
        (Fail(529, "Overloaded", kind="overloaded_error"), True),
    ],
)
def test_a_stream_that_breaks_is_transient(fail: Fail, overloaded: bool) -> None:
    with Server(lambda call: fail) as server, pytest.raises(ProviderError) as caught:
        ask(ANTHROPIC, server, max_tokens=LONG)
    assert (caught.value.transient, caught.value.overloaded) == (True, overloaded)


def test_a_stream_that_ends_without_a_reason_was_cut_off() -> None:
    begun = {"message": MESSAGE}
    body = f"event: message_start\ndata: {json.dumps({'type': 'message_start', **begun})}\n\n"
    with Server(lambda call: Fail(200, body=body)) as server, pytest.raises(ProviderError, match="cut off") as caught:
        ask(ANTHROPIC, server, max_tokens=LONG)
    assert caught.value.transient


def test_an_error_inside_a_stream_that_all_calls_would_get_is_fatal() -> None:
    fail = Fail(200, "invalid x-api-key", kind="authentication_error")
    with Server(lambda call: fail) as server, pytest.raises(FatalModelError, match="401: invalid x-api-key"):
        ask(ANTHROPIC, server, max_tokens=LONG)


def test_older_models_think_within_a_budget_instead(caplog: pytest.LogCaptureFixture) -> None:
    def answer(call: Call) -> str | Fail:
        if "output_config" in call.body:
            return Fail(400, "This model does not support the effort parameter.")
        if call.body["thinking"]["type"] == "adaptive":
            return Fail(400, "adaptive thinking is not supported on this model")
        if "temperature" in call.body:
            return Fail(400, "`temperature` may only be set to 1 when thinking is enabled.")
        return "fine"

    with Server(answer) as server:
        asked = [Request(ASK.messages), Request(ASK.messages, max_tokens=100)]
        given: dict[str, Any] = {"reasoning_effort": "medium", "temperature": 0.1, "max_tokens": 8000}
        assert [reply.text for reply in ask_all(ANTHROPIC, server, asked, **given)] == ["fine", "fine"]
        *_, first, second = (call.body for call in server.requests)
    assert (first["thinking"], first["max_tokens"]) == ({"type": "enabled", "budget_tokens": 4000}, 8000)
    assert (second["thinking"], second["max_tokens"]) == ({"type": "enabled", "budget_tokens": 1024}, 1124)
    assert len(caplog.records) == 3


def test_a_wrong_effort_is_told_and_not_left_out() -> None:
    said = "output_config.effort: Input should be 'low', 'medium' or 'high'"
    with Server(lambda call: Fail(400, said)) as server, pytest.raises(FatalModelError, match="Input should be"):
        ask(ANTHROPIC, server, reasoning_effort="hgih")
    assert len(server.requests) == 1


def test_a_schema_is_closed_and_its_unknown_words_move_into_the_description() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}, "required": ["n"]}
    with Server(lambda call: "{}") as server:
        ask(ANTHROPIC, server, Request(ASK.messages, schema=schema))
        with pytest.raises(ConfigError, match="the schema 'answer' cannot be asked for"):
            ask(ANTHROPIC, server, Request(ASK.messages, schema={"properties": {}}))
        sent = server.requests[0].body["output_config"]["format"]["schema"]
    assert sent["additionalProperties"] is False
    assert sent["properties"]["n"] == {"type": "integer", "description": "{maximum: 9}"}


def test_results_of_parallel_tools_are_one_turn_with_their_images() -> None:
    turns = (
        *ASK.messages,
        Message("tool", "one", tool_call_id="t1"),
        Message("tool", "", images=("data:image/png;base64,AAAA",), tool_call_id="t2"),
        Message("tool", "", tool_call_id="t3"),
    )
    with Server(lambda call: "ok") as server:
        ask(ANTHROPIC, server, Request(turns))
        (turn,) = server.requests[0].body["messages"]
    _, one, two, three = turn["content"]
    assert one == {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "one"}]}
    assert two["content"][0]["source"] == {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert three["content"] == ""


def test_a_seed_that_has_no_effect_is_told(caplog: pytest.LogCaptureFixture) -> None:
    registry.create(ModelSettings(model=ANTHROPIC, seed=1), "target")
    assert "seed has no effect" in caplog.text


@pytest.mark.parametrize("room", [4096, LONG])
def test_signed_thoughts_go_back_with_the_results_of_tools(room: int) -> None:
    says = iter([Say("let me see", "tool_calls", (("t1", "add", {"a": 3}),), thoughts="hm"), Say("3", thoughts="easy")])
    with Server(lambda call: next(says)) as server:
        first = ask(ANTHROPIC, server, max_tokens=room, reasoning_effort="low")
        turns = (*ASK.messages, first.turn(), Message("tool", "3", tool_call_id="t1"))
        last = ask(ANTHROPIC, server, Request(turns), max_tokens=room, reasoning_effort="low")
        sent = server.requests[1].body["messages"]
    assert (first.text, last.text, last.thoughts) == ("let me see", "3", ())  # nothing follows the last answer
    assert sent[1] == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "signed"},
            {"type": "text", "text": "let me see"},
            {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 3}},
        ],
    }


def test_a_turn_without_thoughts_is_built_from_its_parts() -> None:
    says = iter([Say("", "tool_calls", (("t1", "add", {"a": 3}),)), Say("3")])
    with Server(lambda call: next(says)) as server:
        first = ask(ANTHROPIC, server)
        assert first.thoughts == ()
        ask(ANTHROPIC, server, Request((*ASK.messages, first.turn(), Message("tool", "3", tool_call_id="t1"))))
        sent = server.requests[1].body["messages"]
    assert sent[1]["content"] == [{"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 3}}]


def test_the_cached_prefix_is_the_same_for_every_task_of_a_step() -> None:
    with Server(lambda call: "ok") as server:
        tasks = [Request((Message("system", "The skill."), Message("user", f"Task {n}"))) for n in range(3)]
        ask_all(ANTHROPIC, server, tasks)
        prefixes = [json.dumps(call.body["system"]) for call in server.requests]
        users = [json.dumps(call.body["messages"]) for call in server.requests]
    assert len(set(prefixes)) == 1 and "ephemeral" in prefixes[0]
    assert len(set(users)) == 3 and not any("ephemeral" in user for user in users)


def test_a_stream_that_breaks_is_tried_again_by_the_one_layer_that_does() -> None:
    answers = iter([Fail(cut=True), Fail(200, "Overloaded", kind="overloaded_error"), Say("whole")])

    async def work(server: Server) -> str:
        given = settings_for(ANTHROPIC, server, max_tokens=LONG)
        model = Caller(registry.create(given, "target"), given, Meter(LimitSettings()), "target", sleep=Waits())
        try:
            return (await model.call(ASK)).text
        finally:
            await model.close()

    with Server(lambda call: next(answers)) as server:
        assert asyncio.run(work(server)) == "whole"
        assert [call.body["stream"] for call in server.requests] == [True] * 3


def test_thinking_may_be_turned_off() -> None:
    with Server(lambda call: "ok") as server:
        ask(ANTHROPIC, server, reasoning_effort="none")
        body = server.requests[0].body
    assert body["thinking"] == {"type": "disabled"}
    assert "output_config" not in body


def test_a_conversation_with_tools_is_cached_up_to_its_last_turn() -> None:
    tool = Tool("add", "Adds.", {"type": "object"})
    says = iter([Say("", "tool_calls", (("t1", "add", {"a": 3}),)), Say("3")])
    with Server(lambda call: next(says)) as server:
        first = ask(ANTHROPIC, server, Request(ASK.messages, tools=(tool,)))
        turns = (*ASK.messages, first.turn(), Message("tool", "3", tool_call_id="t1"))
        ask(ANTHROPIC, server, Request(turns, tools=(tool,)))
        marked = [[[b.get("cache_control") for b in t["content"]] for t in c.body["messages"]] for c in server.requests]
    mark = {"type": "ephemeral"}
    assert marked == [[[mark]], [[None], [None], [mark]]]
