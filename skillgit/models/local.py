"""A real language model in this process: a GGUF file run by llama.cpp through xllamacpp. No key, no network.

One worker thread and one slot: with the prefix cache a second slot gains nothing on a few cores, and calls in a row
share the skill's prefix. Answers are streamed inside the process only so that a call can be stopped between two tokens.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING, Any

from skillgit.errors import FatalModelError, ProviderError
from skillgit.models import files
from skillgit.models.base import Message, Reply, Request, Stop, ToolCall, Usage

if TYPE_CHECKING:
    from skillgit.config import ModelSettings

CONTEXT = 8192
PROMPT_CACHE_MB = 512
RUNTIME_OPTIONS = ("n_ctx", "n_threads")
STOPS: Mapping[str, Stop] = {"stop": "stop", "length": "length", "tool_calls": "tool_calls"}


class LocalModel:
    """``local:NAME`` or ``local:/path/to/file.gguf``; temperature 0 unless set.

    ``extra`` may hold ``n_ctx`` (tokens of context, 8192) and ``n_threads`` (by default what the machine's load leaves
    free); other keys go into each request.
    """

    is_agent = False

    def __init__(self, settings: ModelSettings, name: str) -> None:
        self.name = settings.model
        self._settings = settings
        self._file = name.removeprefix("local:")
        self._server: Any = None
        self._closing = threading.Event()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="llama")

    @cached_property
    def fingerprint(self) -> str:
        """The file's hash, the runtime's version and the options."""
        try:
            runtime = metadata.version("xllamacpp")
        except metadata.PackageNotFoundError:
            runtime = "none"
        options = {key: value for key, value in sorted(self._options.items()) if key != "n_threads"}
        return f"{files.identity(self._file)} xllamacpp-{runtime} {json.dumps(options)}"

    @cached_property
    def _options(self) -> dict[str, Any]:
        chosen = {"temperature": self._settings.temperature or 0.0, "seed": self._settings.seed or 0}
        return {"n_ctx": CONTEXT, **chosen, **self._settings.extra}

    async def call(self, request: Request) -> Reply:
        """Answer once. A cancelled call leaves the model within one token and does not disturb the next."""
        stop = threading.Event()
        body = self._body(request)
        try:
            return await asyncio.wrap_future(self._worker.submit(self._answer, body, stop))
        finally:
            stop.set()

    async def close(self) -> None:
        """Stop the runtime; calls in flight end first, queued ones are cancelled."""
        await asyncio.to_thread(self._shut)

    def _shut(self) -> None:
        atexit.unregister(self._shut)
        self._closing.set()
        self._worker.shutdown(wait=True, cancel_futures=True)
        self._server = None

    def _body(self, request: Request) -> dict[str, Any]:
        options = {key: value for key, value in self._options.items() if key not in RUNTIME_OPTIONS}
        body: dict[str, Any] = {
            **options,
            "seed": options["seed"] + request.sample,
            "messages": [_message(message) for message in request.messages],
            "max_tokens": request.max_tokens or self._settings.max_tokens,
            "cache_prompt": True,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.schema is not None:
            schema = {"name": request.schema_name, "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {"name": t.name, "description": t.description, "parameters": dict(t.parameters)},
                }
                for t in request.tools
            ]
        return body

    def _answer(self, body: dict[str, Any], stop: threading.Event) -> Reply:
        if self._server is None:
            self._server = self._start()
        answer = _Answer(self._settings.timeout, lambda: stop.is_set() or self._closing.is_set())
        try:
            self._server.handle_chat_completions(body, answer.take)
        except (RuntimeError, ValueError, TypeError) as error:
            raise ProviderError(f"{self.name}: {error}") from None
        return answer.reply(self.name)

    def _start(self) -> Any:
        try:
            import xllamacpp
        except ImportError as error:
            raise FatalModelError(
                f"{self.name} needs xllamacpp, which cannot be imported: {error}", hint="pip install 'skillgit[local]'"
            ) from None
        path = files.locate(self._file)
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(path)
        parameters.n_ctx = self._options["n_ctx"]
        parameters.n_parallel = 1
        parameters.cache_ram_mib = PROMPT_CACHE_MB
        parameters.warmup = False
        parameters.verbosity = -1  # nothing of llama.cpp's own on stderr
        for cpu in (parameters.cpuparams, parameters.cpuparams_batch):
            cpu.n_threads = self._options.get("n_threads") or _threads()
            cpu.poll = 0  # threads that spin while they wait lose more on a busy machine than they gain on an idle one
        try:
            server = xllamacpp.Server(parameters)
        except RuntimeError as error:
            raise FatalModelError(f"{path} cannot be loaded: {error}", hint="is it a complete GGUF file?") from None
        atexit.register(self._shut)  # a runtime that outlives the interpreter's end can hang or crash it
        return server


def _threads() -> int:
    """-1, the runtime's own choice, unless other work fills half of the machine: then the cores that are left.

    One thread too many makes all of them wait: 2 threads on 2 busy cores are ten times slower than one.
    """
    if not hasattr(os, "getloadavg"):
        return -1
    cores, load = os.cpu_count() or 1, os.getloadavg()[0]
    return -1 if load <= cores / 2 else max(1, int(cores - load))


class _Answer:
    """Puts the chunks of one streamed answer together; ``take`` answers True to stop the stream."""

    def __init__(self, timeout: float, stopped: Callable[[], bool]) -> None:
        self._timeout = timeout
        self._deadline = time.monotonic() + timeout
        self._stopped = stopped
        self._late = False
        self._error: Mapping[str, Any] | None = None
        self._text: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._finish: str | None = None
        self._usage: Mapping[str, Any] = {}

    def take(self, chunk: Mapping[str, Any]) -> bool:
        self._error = chunk.get("error", self._error)
        self._usage = chunk.get("usage", self._usage)
        for choice in chunk.get("choices", ()):
            self._finish = choice.get("finish_reason") or self._finish
            self._text.append(choice["delta"].get("content") or "")
            for call in choice["delta"].get("tool_calls") or ():
                self._add_call(call)
        self._late = time.monotonic() > self._deadline
        return self._late or self._stopped()

    def _add_call(self, delta: Mapping[str, Any]) -> None:
        call = self._calls.setdefault(delta["index"], {"id": "", "name": "", "arguments": ""})
        call["id"] += delta.get("id") or ""
        for key in ("name", "arguments"):
            call[key] += delta.get("function", {}).get(key) or ""

    def reply(self, name: str) -> Reply:
        if self._error is not None:
            hint = "set extra.n_ctx of this model higher" if "context" in self._error.get("type", "") else ""
            raise ProviderError(f"{name}: {self._error.get('message', self._error)}", hint=hint)
        if self._finish is None:
            why = f"no complete answer within {self._timeout:g} s" if self._late else "the answer was cut off"
            raise ProviderError(f"{name}: {why}")
        return Reply(
            "".join(self._text),
            Usage(
                self._usage.get("prompt_tokens", 0),
                self._usage.get("completion_tokens", 0),
                self._usage.get("prompt_tokens_details", {}).get("cached_tokens", 0),
                usd=0.0,
            ),
            STOPS.get(self._finish, "stop"),
            tuple(ToolCall(**call) for _, call in sorted(self._calls.items())),
        )


def _message(message: Message) -> dict[str, Any]:
    if message.images:
        raise FatalModelError("local models read no images", hint="choose another target in env.yaml")
    turn: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        turn["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        turn["tool_call_id"] = message.tool_call_id
    return turn
