"""A server on loopback that speaks Chat Completions, Responses and Messages, by a script.

``Server(answer)`` runs in a thread, on an event loop of its own, so that it holds many connections open at once. ``answer(call)``
gets the parsed call and returns text, a :class:`Say` (tool calls, stop, usage) or a :class:`Fail`. Every call is kept in
``requests``.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Say:
    """An answer.

    ``stop`` is stop, length, tool_calls or refusal; ``tools`` are (id, name, arguments); ``tokens`` are read (of which from the
    cache, third) and written, None for a server that reports none; ``written`` went into the cache. ``delay`` is in seconds.
    ``after`` holds it back until so many requests were open at once. ``thoughts`` come first: signed in Messages, sealed in
    Responses, as ``reasoning_content`` in Chat Completions.
    """

    text: str = ""
    stop: str = "stop"
    tools: tuple[tuple[str, str, dict[str, Any]], ...] = ()
    tokens: tuple[int, int, int] | None = (20, 7, 4)
    written: int = 0
    delay: float = 0.0
    after: int = 0
    thoughts: str = ""


@dataclass
class Fail:
    """A failure: a status with the provider's words, a body of its own, or an answer that is cut off.

    ``kind`` and ``code`` are the provider's names for the error. With ``status`` 200 it comes in the middle of a stream.
    """

    status: int = 500
    message: str = "the server had a problem"
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    cut: bool = False
    param: str = ""
    kind: str = "error"
    code: str = ""
    delay: float = 0.0

    @property
    def error(self) -> dict[str, Any]:
        return {"message": self.message, "type": self.kind, "param": self.param or None, "code": self.code or None}


@dataclass
class Call:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        return json.dumps(self.body)


Answer = Callable[[Call], "str | Say | Fail"]


class Server:
    """Use as a context manager; ``url`` is the address without ``/v1``."""

    def __init__(self, answer: Answer, latency: float = 0.0) -> None:
        self.answer = answer
        self.latency = latency
        self.requests: list[Call] = []
        self.open = self.most_open = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Server:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._handle, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # CancelledError: the server ends; asyncio would log it as a fault of this callback
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        data = await reader.readexactly(int(headers.get("content-length", 0)))
        call = Call(first.split(" ")[1].split("?")[0], headers, json.loads(data or b"{}"))
        self.requests.append(call)
        answer = self.answer(call)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        while isinstance(answer, Say) and self.most_open < answer.after:
            await asyncio.sleep(0.001)
        await asyncio.sleep(self.latency if isinstance(answer, str) else self.latency + answer.delay)
        self.open -= 1
        if isinstance(answer, Fail):
            return await self._fail(writer, answer, call)
        say = Say(answer) if isinstance(answer, str) else answer
        if call.body.get("stream"):
            body, kind = "".join(_events(call, say)), "text/event-stream"
        else:
            body, kind = json.dumps(_whole(call, say)), "application/json"
        await _send(writer, 200, body, kind, {})
        return True

    async def _fail(self, writer: asyncio.StreamWriter, fail: Fail, call: Call) -> bool:
        kind, body = "application/json", json.dumps({"type": "error", "error": fail.error})
        if call.body.get("stream") and (fail.cut or fail.status == 200):
            kind = "text/event-stream"
            body = next(_events(call, Say("never told"))) + ("" if fail.cut else _event("error", {"error": fail.error}))
        if fail.body is not None:
            body = fail.body
        await _send(writer, 200 if fail.cut else fail.status, body, kind, fail.headers, missing=99 if fail.cut else 0)
        return not fail.cut


async def _send(
    writer: asyncio.StreamWriter, status: int, body: str, kind: str, headers: dict[str, str], missing: int = 0
) -> None:
    """``missing`` bytes are promised, and never sent."""
    data = body.encode()
    lines = [f"HTTP/1.1 {status} X", f"content-type: {kind}", f"content-length: {len(data) + missing}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
    await writer.drain()


def _whole(call: Call, say: Say) -> dict[str, Any]:
    if call.path.endswith("/chat/completions"):
        return _chat(call, say)
    if call.path.endswith("/responses"):
        return _response(call, say)
    return _message(call, say)


def _chat(call: Call, say: Say) -> dict[str, Any]:
    tools = [
        {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}} for i, n, a in say.tools
    ]
    message: dict[str, Any] = {"role": "assistant", "content": say.text or None, "refusal": None}
    if say.stop == "refusal":
        message |= {"content": None, "refusal": say.text}
    if tools:
        message["tool_calls"] = tools
    if say.thoughts:
        message["reasoning_content"] = say.thoughts
    finish = {"length": "length", "tool_calls": "tool_calls"}.get(say.stop, "stop")
    read, wrote, cached = say.tokens or (0, 0, 0)
    whole: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": call.body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
    }
    if say.tokens:
        whole["usage"] = {
            "prompt_tokens": read,
            "completion_tokens": wrote,
            "total_tokens": read + wrote,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
    return whole


def _response(call: Call, say: Say) -> dict[str, Any]:
    content: dict[str, Any] = {"type": "output_text", "text": say.text, "annotations": []}
    if say.stop == "refusal":
        content = {"type": "refusal", "refusal": say.text}
    output: list[dict[str, Any]] = []
    if say.thoughts:
        output.append({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": say.thoughts})
    if say.text or say.stop == "refusal":
        output.append(
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [content]}
        )
    output += [
        {
            "type": "function_call",
            "id": f"fc_{i}",
            "call_id": i,
            "name": n,
            "arguments": json.dumps(a),
            "status": "completed",
        }
        for i, n, a in say.tools
    ]
    read, wrote, cached = say.tokens or (0, 0, 0)
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": call.body.get("model"),
        "status": "incomplete" if say.stop == "length" else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if say.stop == "length" else None,
        "error": None,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": read,
            "output_tokens": wrote,
            "total_tokens": read + wrote,
            "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": say.written},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


STOPS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "refusal": "refusal"}


def _message(call: Call, say: Say) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if say.thoughts:
        content.append({"type": "thinking", "thinking": say.thoughts, "signature": "signed"})
    content += [{"type": "text", "text": say.text}] if say.text else []
    content += [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in say.tools]
    read, wrote, cached = say.tokens or (0, 0, 0)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": call.body.get("model"),
        "content": content,
        "stop_reason": STOPS[say.stop],
        "stop_sequence": None,
        "usage": {
            "input_tokens": read - cached - say.written,
            "output_tokens": wrote,
            "cache_creation_input_tokens": say.written,
            "cache_read_input_tokens": cached,
        },
    }


def _events(call: Call, say: Say) -> Iterator[str]:
    """Server-sent events of the Responses and Messages APIs, and chunks of Chat Completions."""
    if call.path.endswith("/chat/completions"):
        yield from _chat_chunks(call, say)
    elif call.path.endswith("/responses"):
        yield from _response_events(call, say)
    else:
        yield from _message_events(call, say)


def _event(kind: str, data: dict[str, Any]) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"


def _chat_chunks(call: Call, say: Say) -> Iterator[str]:
    whole = _chat(call, say)
    choice = whole["choices"][0]
    delta = {key: value for key, value in choice["message"].items() if value is not None}
    for index, tool in enumerate(delta.get("tool_calls", ())):
        tool["index"] = index
    head = {key: whole[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    for part, finish in ((delta, None), ({}, choice["finish_reason"])):
        yield f"data: {json.dumps({**head, 'choices': [{'index': 0, 'delta': part, 'finish_reason': finish}]})}\n\n"
    yield f"data: {json.dumps({**head, 'choices': [], 'usage': whole.get('usage')})}\n\n"
    yield "data: [DONE]\n\n"


def _response_events(call: Call, say: Say) -> Iterator[str]:
    whole = _response(call, say)
    started = {**whole, "status": "in_progress", "output": [], "usage": None}
    number = iter(range(1000))
    yield _event("response.created", {"response": started, "sequence_number": next(number)})
    for index, item in enumerate(whole["output"]):
        begun = {**item, "content": []} if item["type"] == "message" else {**item, "arguments": ""}
        place = {"output_index": index}
        yield _event("response.output_item.added", {**place, "item": begun, "sequence_number": next(number)})
        if item["type"] == "message":
            part = item["content"][0]
            spot = {**place, "item_id": item["id"], "content_index": 0}
            empty = {**part, "text": ""} if "text" in part else part
            yield _event("response.content_part.added", {**spot, "part": empty, "sequence_number": next(number)})
            if "text" in part:
                yield _event(
                    "response.output_text.delta", {**spot, "delta": part["text"], "sequence_number": next(number)}
                )
                yield _event(
                    "response.output_text.done", {**spot, "text": part["text"], "sequence_number": next(number)}
                )
            yield _event("response.content_part.done", {**spot, "part": part, "sequence_number": next(number)})
        else:
            spot = {**place, "item_id": item["id"], "sequence_number": next(number)}
            yield _event("response.function_call_arguments.done", {**spot, "arguments": item["arguments"]})
        yield _event("response.output_item.done", {**place, "item": item, "sequence_number": next(number)})
    kind = "response.incomplete" if say.stop == "length" else "response.completed"
    yield _event(kind, {"response": whole, "sequence_number": next(number)})


def _message_events(call: Call, say: Say) -> Iterator[str]:
    whole = _message(call, say)
    yield _event("message_start", {"message": {**whole, "content": [], "stop_reason": None}})
    for index, block in enumerate(whole["content"]):
        if block["type"] == "thinking":
            yield from _thinking_events(index, block)
            continue
        if block["type"] == "text":
            begun, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            begun, delta = (
                {**block, "input": {}},
                {"type": "input_json_delta", "partial_json": json.dumps(block["input"])},
            )
        yield _event("content_block_start", {"index": index, "content_block": begun})
        yield _event("content_block_delta", {"index": index, "delta": delta})
        yield _event("content_block_stop", {"index": index})
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", {"delta": end, "usage": {"output_tokens": whole["usage"]["output_tokens"]}})
    yield _event("message_stop", {})


def _thinking_events(index: int, block: dict[str, Any]) -> Iterator[str]:
    yield _event(
        "content_block_start", {"index": index, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}
    )
    for kind, key in (("thinking_delta", "thinking"), ("signature_delta", "signature")):
        yield _event("content_block_delta", {"index": index, "delta": {"type": kind, key: block[key]}})
    yield _event("content_block_stop", {"index": index})
