from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from skillgit.config import ModelSettings
from skillgit.errors import ConfigError, FatalModelError, ProviderError
from skillgit.models import registry
from skillgit.models.base import Message, Model, Reply, Request, SkillFile
from skillgit.models.recording import Recording, Replay
from tests.models.asking import ASK, BACKENDS, KEY, ask_all
from tests.models.fakes import Queue, busy, reply
from tests.servers.scripted import Call, Say, Server

OTHER = Request((Message("user", "Another?"),))


def ask(model: Model, *requests: Request) -> list[Reply]:
    async def work() -> list[Reply]:
        try:
            return [await model.call(request) for request in requests]
        finally:
            await model.close()

    return asyncio.run(work())


def replay(path: Path) -> Replay:
    return Replay(ModelSettings(model=f"replay:{path}"), str(path))


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("model", BACKENDS)
def test_what_a_real_sdk_answered_is_answered_again_without_it(model: str, tmp_path: Path) -> None:
    def answer(call: Call) -> Say:
        return Say("Another." if "Another" in call.text else "Hi.", "tool_calls", (("t1", "add", {"a": 3}),))

    path = tmp_path / "new" / "calls.jsonl"
    with Server(answer) as server:
        first = ask_all(model, server, [ASK, OTHER], record=str(path), usd_per_million=(1, 1))
    settings = ModelSettings(model=f"replay:{path}")
    again = ask(registry.create(settings, "optimizer"), OTHER, ASK)[::-1]
    assert [r.text for r in again] == [r.text for r in first] == ["Hi.", "Another."]
    assert [r.tool_calls for r in again] == [r.tool_calls for r in first]
    assert [(r.usage.input_tokens, r.usage.cached_tokens, r.usage.usd) for r in again] == [(20, 4, 0.0)] * 2
    assert KEY not in path.read_text(encoding="utf-8")


def test_a_question_that_was_never_asked_is_quoted(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    ask(Recording(Queue([reply()]), str(path)), ASK)
    with pytest.raises(FatalModelError) as caught:
        ask(replay(path), OTHER)
    assert caught.value.message.startswith(f"replay:{path}: no answer to this question is recorded: 'Another?' (key ")
    assert ask(replay(path), Request(OTHER.messages, context={"stage": "ping"}))[0].text == "ready"


def test_the_answer_that_came_last_counts_and_failures_are_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    ask(Recording(Queue([reply("old"), reply("new")]), str(path)), ASK, ASK)
    with pytest.raises(ProviderError):
        ask(Recording(Queue([busy()]), str(path)), OTHER)
    assert len(path.read_bytes().splitlines()) == 2
    assert ask(replay(path), ASK)[0].text == "new"


def test_a_recording_wears_the_name_of_its_model_and_closes_it(tmp_path: Path) -> None:
    model = Queue([reply()], is_agent=True)
    recording = Recording(model, str(tmp_path / "calls.jsonl"))
    assert isinstance(recording, Model)
    assert (recording.name, recording.fingerprint, recording.is_agent) == ("openai:fake", "f", True)
    assert not (tmp_path / "calls.jsonl").exists()  # a dry run writes nothing
    ask(recording, Request(ASK.messages, skill=SkillFile("demo", "text")))
    assert model.closed == 1
    assert replay(tmp_path / "calls.jsonl").is_agent


def test_a_line_that_broke_off_is_no_call_and_is_dropped_before_the_next(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "calls.jsonl"
    ask(Recording(Queue([reply("one")]), str(path)), ASK)
    with path.open("ab") as file:
        file.write(b'{"key": "12')
    assert ask(replay(path), ASK)[0].text == "one"
    ask(Recording(Queue([reply("two")]), str(path)), OTHER)
    assert [json.loads(line)["reply"]["text"] for line in path.read_bytes().splitlines()] == ["one", "two"]
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


@pytest.mark.parametrize("line", ["no json", "[]", '{"key": "1"}', '{"key": "1", "reply": {"odd": 1}}'])
def test_a_broken_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"calls\.jsonl:1 is no recorded call: "):
        replay(path)


def test_what_is_not_there_or_cannot_be_written_is_told_before_anything_is_paid(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*none: No such file") as caught:
        replay(tmp_path / "none")
    assert "models.target.record=FILE" in caught.value.hint
    with pytest.raises(ConfigError, match="needs a file"):
        registry.create(ModelSettings(model="replay:"), "target")
    model = Queue([reply()])
    with pytest.raises(FatalModelError, match="cannot be written: Is a directory"):
        ask(Recording(model, str(tmp_path)), ASK)
    assert model.asked == 0


def test_another_recording_is_another_fingerprint(tmp_path: Path) -> None:
    def printed(*answers: Any) -> str:
        path = tmp_path / "calls.jsonl"
        path.unlink(missing_ok=True)
        ask(Recording(Queue(answers), str(path)), ASK)
        return replay(path).fingerprint

    assert printed(reply("a")) == printed(reply("a")) != printed(reply("b"))
