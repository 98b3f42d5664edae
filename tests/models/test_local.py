"""The local model: around a runtime of our own for what must hold in any case, and the real one in a process apart."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

from skillgit.config import ModelSettings
from skillgit.errors import FatalModelError, ProviderError
from skillgit.models import files, local
from skillgit.models.base import Message, Model, Reply, Request, Tool, ToolCall, Usage
from skillgit.models.local import LocalModel
from tests.models.runtime import Runtime, delta, said

HELLO = Request((Message("user", "say hi"),))


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Runtime:
    return Runtime().install(monkeypatch)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(files.CACHE, str(tmp_path / "cache"))
    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF")
    return path


def make(file: Path, **settings: Any) -> LocalModel:
    return LocalModel(ModelSettings(model=f"local:{file}", **settings), str(file))


def ask(model: LocalModel, *requests: Request) -> list[Reply]:
    async def run() -> list[Reply]:
        try:
            return list(await asyncio.gather(*(model.call(request) for request in requests)))
        finally:
            await model.close()

    return asyncio.run(run())


def test_it_is_a_model(file: Path) -> None:
    model = make(file)
    assert isinstance(model, Model) and model.name == f"local:{file}" and not model.is_agent


def test_an_answer(file: Path, runtime: Runtime) -> None:
    runtime.answer = lambda body: said("Hel", "lo")
    assert ask(make(file), HELLO) == [Reply("Hello", Usage(31, 2, 24, usd=0.0))]
    (body,) = runtime.bodies
    assert body["messages"] == [{"role": "user", "content": "say hi"}]
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.0, 0, 4096)
    assert "response_format" not in body and "tools" not in body and "n_ctx" not in body


def test_one_lazy_start_in_one_slot(file: Path, runtime: Runtime) -> None:
    model = make(file, extra={"n_ctx": 512, "n_threads": 3, "top_k": 5})
    assert model.fingerprint and runtime.servers == []
    ask(model, HELLO, HELLO)
    (parameters,) = runtime.servers
    assert (parameters.model.path, parameters.n_parallel, parameters.n_ctx) == (str(file), 1, 512)
    assert parameters.cpuparams.n_threads == parameters.cpuparams_batch.n_threads == 3
    assert {body["top_k"] for body in runtime.bodies} == {5}
    assert not any("n_threads" in body for body in runtime.bodies)


def test_options_schema_and_samples_reach_the_runtime(file: Path, runtime: Runtime) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    request = Request(HELLO.messages, schema=schema, schema_name="count", max_tokens=7, sample=2)
    ask(make(file, temperature=0.5, seed=10), request)
    (body,) = runtime.bodies
    assert body["response_format"] == {"type": "json_schema", "json_schema": {"name": "count", "schema": schema}}
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.5, 12, 7)


def test_tools(file: Path, runtime: Runtime) -> None:
    runtime.answer = lambda body: [
        delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "look", "arguments": '{"x"'}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": ": 1}"}}]),
        delta(tool_calls=[{"index": 1, "id": "b", "function": {"name": "go", "arguments": "{}"}}]),
        delta("tool_calls"),
    ]
    asked = Message("assistant", "", tool_calls=(ToolCall("z", "look", "{}"),))
    request = Request((asked, Message("tool", "seen", tool_call_id="z")), tools=(Tool("look", "Looks.", {}),))
    (reply,) = ask(make(file), request)
    assert reply.stop == "tool_calls"
    assert reply.tool_calls == (ToolCall("a", "look", '{"x": 1}'), ToolCall("b", "go", "{}"))
    (body,) = runtime.bodies
    assert body["tools"] == [
        {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {}}}
    ]
    assert body["messages"][0]["tool_calls"][0]["function"] == {"name": "look", "arguments": "{}"}
    assert body["messages"][1] == {"role": "tool", "content": "seen", "tool_call_id": "z"}


def test_an_answer_that_reached_the_limit(file: Path, runtime: Runtime) -> None:
    runtime.answer = lambda body: said("one two", finish="length")
    assert ask(make(file), HELLO)[0].stop == "length"


def test_too_long_for_the_context(file: Path, runtime: Runtime) -> None:
    runtime.answer = lambda body: [
        {"error": {"message": "9030 tokens exceed 8192", "type": "exceed_context_size_error"}}
    ]
    with pytest.raises(ProviderError, match="9030 tokens exceed 8192") as caught:
        ask(make(file), HELLO)
    assert "n_ctx" in caught.value.hint and not caught.value.transient


def test_a_stream_that_ends_early_is_no_answer(file: Path, runtime: Runtime) -> None:
    runtime.answer = lambda body: said("half an ans")[:2]
    with pytest.raises(ProviderError, match="cut off"):
        ask(make(file), HELLO)


def test_the_time_limit(file: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(step=0.3)
    monkeypatch.setattr(local.time, "monotonic", lambda: next(clock))
    runtime.answer = lambda body: said(*"abcdefghi")
    with pytest.raises(ProviderError, match=r"no complete answer within 1 s"):
        ask(make(file, timeout=1), HELLO)
    assert runtime.streamed < 9


def test_a_cancelled_call_leaves_and_the_next_goes_on(file: Path, runtime: Runtime) -> None:
    begun, waiting = threading.Event(), threading.Event()

    def endless(body: dict[str, Any]) -> Any:
        for number in itertools.count():
            begun.set()
            waiting.wait(5)
            yield delta(content=str(number))

    async def run() -> Reply:
        model = make(file)
        runtime.answer = endless
        first = asyncio.create_task(model.call(HELLO))
        queued = asyncio.create_task(model.call(HELLO))
        await asyncio.to_thread(begun.wait, 5)
        for task in (first, queued):
            task.cancel()
        await asyncio.gather(first, queued, return_exceptions=True)
        assert first.cancelled() and queued.cancelled()
        runtime.answer = lambda body: said("next")
        waiting.set()
        try:
            return await model.call(HELLO)
        finally:
            await model.close()

    assert asyncio.run(run()).text == "next"
    assert len(runtime.bodies) == 2  # the queued one never reached the runtime


def test_closing_stops_a_call_in_flight(file: Path, runtime: Runtime) -> None:
    begun = threading.Event()

    def endless(body: dict[str, Any]) -> Any:
        while True:
            begun.set()
            yield delta(content="x")

    async def run() -> None:
        runtime.answer = endless
        model = make(file)
        task = asyncio.create_task(model.call(HELLO))
        await asyncio.to_thread(begun.wait, 5)
        await model.close()
        with pytest.raises(ProviderError, match="cut off"):
            await task

    asyncio.run(run())


def test_without_the_runtime(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(FatalModelError, match="needs xllamacpp") as caught:
        ask(make(file), HELLO)
    assert caught.value.hint == "pip install 'skillgit[local]'"


def test_without_the_file(runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(files.CACHE, str(tmp_path))
    name = "qwen2.5-coder-0.5b"
    with pytest.raises(FatalModelError, match="not on this machine yet") as caught:
        ask(LocalModel(ModelSettings(model=f"local:{name}"), name), HELLO)
    assert caught.value.hint == f"skillgit models pull {name}"


def test_a_file_that_is_no_model(file: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(parameters: Any) -> None:
        raise RuntimeError("Failed to init server")

    monkeypatch.setattr(sys.modules["xllamacpp"], "Server", refuse)
    with pytest.raises(FatalModelError, match=r"own\.gguf cannot be loaded"):
        ask(make(file), HELLO)


def test_images_are_refused(file: Path, runtime: Runtime) -> None:
    with pytest.raises(FatalModelError, match="read no images"):
        ask(make(file), Request((Message("user", "what is this", images=("a.png",)),)))


def test_the_fingerprint_is_file_runtime_and_options(file: Path) -> None:
    plain = make(file).fingerprint
    assert plain == make(file).fingerprint and files.identity(str(file)) in plain
    assert make(file, temperature=0.0).fingerprint == plain
    assert make(file, extra={"n_threads": 1}).fingerprint == plain
    others = {make(file, temperature=0.1).fingerprint, make(file, extra={"top_k": 1}).fingerprint, plain}
    file.write_bytes(b"GGUF of another size")
    assert len({*others, make(file).fingerprint}) == 4


@pytest.mark.parametrize(("load", "threads"), [(0.0, -1), (4.0, -1), (5.5, 2), (40.0, 1)])
def test_threads_leave_room_for_others(load: float, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0), raising=False)
    assert local._threads() == threads


def process(code: str, file: Path, timeout: float = 240) -> subprocess.CompletedProcess[str]:
    """A program with the real model; the limit catches a runtime that hangs at the end."""
    head = f"""
        import asyncio, json, time
        from skillgit.config import ModelSettings
        from skillgit.models.base import Message, Request
        from skillgit.models.local import LocalModel

        model = LocalModel(ModelSettings(model="local:qwen2.5-coder-0.5b", extra={{"n_threads": 1}}), {str(file)!r})

        def ask(text, **options):
            return model.call(Request((Message("user", text),), **options))
    """
    source = textwrap.dedent(head) + textwrap.dedent(code)
    command = [sys.executable, "-c", source]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=timeout, check=False)


@pytest.mark.model
def test_the_real_model(local_model: Path) -> None:
    done = process(
        """
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}

        async def main():
            first = await ask("What is the capital of France? One word.", max_tokens=8)
            again = await ask("What is the capital of France? One word.", max_tokens=8)
            counted = await ask("How many legs has a spider?", schema=schema, max_tokens=30)
            long = asyncio.create_task(ask("Count from one to a thousand in words.", max_tokens=2000))
            await asyncio.sleep(1)
            long.cancel()
            after = await ask("What is the capital of France? One word.", max_tokens=8)
            await model.close()
            cached = [reply.usage.cached_tokens for reply in (first, again)]
            print(json.dumps([first.text, again.text, after.text, json.loads(counted.text), cached]))

        asyncio.run(main())
        """,
        local_model,
    )
    assert done.stderr == "" and done.returncode == 0
    first, again, after, counted, cached = json.loads(done.stdout)
    assert "Paris" in first
    assert first == again == after
    assert list(counted) == ["n"] and isinstance(counted["n"], int)
    assert cached[0] == 0 < cached[1]


@pytest.mark.model
@pytest.mark.parametrize("place", ["before", "after", "during"])
def test_an_early_exception_ends_the_process(local_model: Path, place: str) -> None:
    done = process(
        f"""
        async def main():
            if {place!r} != "before":
                await ask("say hi", max_tokens=2)
            if {place!r} == "during":
                asyncio.create_task(ask("Count from one to a thousand in words.", max_tokens=2000))
                await asyncio.sleep(1)
            raise RuntimeError("the program broke")

        asyncio.run(main())
        """,
        local_model,
        timeout=120,
    )
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("RuntimeError: the program broke")
