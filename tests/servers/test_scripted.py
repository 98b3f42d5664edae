"""The scripted server keeps to the protocols: the SDKs' own readers of streams understand it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.servers.scripted import Fail, Say, Server

SAY = Say("hello", "tool_calls", (("t1", "add", {"a": 1}),))


def streamed(say: Say | Fail, kind: str) -> Any:
    """What OpenAI's SDK makes of a streamed answer."""
    from openai import AsyncOpenAI

    async def work(url: str) -> Any:
        async with AsyncOpenAI(api_key="x", base_url=f"{url}/v1", max_retries=0) as client:
            if kind == "responses":
                async with client.responses.stream(model="m", input="hi") as stream:
                    return await stream.get_final_response()
            async with client.chat.completions.stream(
                model="m", messages=[{"role": "user", "content": "hi"}]
            ) as chunks:
                return await chunks.get_final_completion()

    with Server(lambda call: say) as server:
        return asyncio.run(work(server.url))


def test_a_response_is_streamed_with_text_tool_call_and_usage() -> None:
    response = streamed(SAY, "responses")
    (call,) = (item for item in response.output if item.type == "function_call")
    assert (response.output_text, response.status, response.usage.input_tokens) == ("hello", "completed", 20)
    assert (call.call_id, call.name, json.loads(call.arguments)) == ("t1", "add", {"a": 1})


def test_a_chat_completion_is_streamed_with_text_and_tool_call() -> None:
    choice = streamed(SAY, "chat").choices[0]
    (call,) = choice.message.tool_calls
    assert (choice.message.content, choice.finish_reason) == ("hello", "tool_calls")
    assert (call.id, call.function.name, json.loads(call.function.arguments)) == ("t1", "add", {"a": 1})


@pytest.mark.parametrize("kind", ["responses", "chat"])
def test_a_stream_can_be_cut_off(kind: str) -> None:
    from openai import APIConnectionError

    with pytest.raises(APIConnectionError):
        streamed(Fail(cut=True), kind)
