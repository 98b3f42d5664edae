from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from skillgit.concurrency import gather
from skillgit.config import ModelSettings
from skillgit.errors import ConfigError, FatalModelError, HandedOff, UsageError
from skillgit.models import registry
from skillgit.models.base import Message, Reply, Request, Tool, ToolCall
from skillgit.models.transcript import digest
from tests.models.asking import ASK, SCHEMA


def call(folder: Path, *requests: Request, limit: int = 1) -> list[Reply]:
    """Ask through the registry, as a run does."""
    model = registry.create(ModelSettings(model=f"handoff:{folder}"), "target")
    return asyncio.run(gather((model.call(request) for request in requests), limit))


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_call_is_written_down_and_its_answer_is_taken(tmp_path: Path) -> None:
    folder, key = tmp_path / "calls", digest(ASK)
    with pytest.raises(HandedOff) as caught:
        call(folder, ASK)
    assert caught.value.message == f"1 call waits for an answer in {folder}"
    assert caught.value.exit_code == 4
    assert files(folder) == {f"{key}.prompt.md", f"{key}.request.json"}
    assert (folder / f"{key}.prompt.md").read_text(encoding="utf-8") == (
        f"# Call {key}\n\nWrite the answer, and nothing else, into `{key}.answer.md`.\n\n"
        "## system\n\nBe short.\n\n## user\n\nHello\n"
    )
    assert json.loads((folder / f"{key}.request.json").read_text(encoding="utf-8")) == {
        "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hello"}]
    }
    (folder / f"{key}.answer.md").write_text("\ufeffHï\n\nthere\n", encoding="utf-8")
    (reply,) = call(folder, ASK)
    assert (reply.text, reply.stop, reply.usage.usd) == ("Hï\n\nthere", "stop", 0.0)


def test_every_call_is_written_before_the_run_ends_however_few_run_at_once(tmp_path: Path) -> None:
    requests = [Request((Message("user", f"Question {n}"),)) for n in range(40)]
    (tmp_path / f"{digest(requests[0])}.answer.md").write_text("known", encoding="utf-8")
    for _ in range(2):  # once more changes nothing
        with pytest.raises(HandedOff, match="39 calls wait"):
            call(tmp_path, *requests, limit=2)
        assert len(files(tmp_path)) == 1 + 39 * 2


def test_a_schema_and_tools_are_told_and_an_answer_may_call_them(tmp_path: Path) -> None:
    tool = Tool("add", "Adds.", {"type": "object"})
    asked = Request(ASK.messages, schema=SCHEMA, schema_name="reflect", tools=(tool,))
    key = digest(asked)
    with pytest.raises(HandedOff):
        call(tmp_path, asked)
    text = (tmp_path / f"{key}.prompt.md").read_text(encoding="utf-8")
    assert f"one JSON object that fits the `schema` in `{key}.request.json`" in text
    assert "It may call `add` instead" in text
    assert json.loads((tmp_path / f"{key}.request.json").read_text(encoding="utf-8"))["schema"] == SCHEMA
    answer = {"text": "", "stop": "tool_calls", "tool_calls": [{"id": "1", "name": "add", "arguments": "{}"}]}
    (tmp_path / f"{key}.answer.json").write_text(json.dumps(answer), encoding="utf-8")
    assert call(tmp_path, asked)[0].tool_calls == (ToolCall("1", "add", "{}"),)


@pytest.mark.parametrize("empty", ["", "\n", " \n"])
def test_an_empty_answer_is_not_yet_one(tmp_path: Path, empty: str) -> None:
    (tmp_path / f"{digest(ASK)}.answer.md").write_text(empty, encoding="utf-8")
    with pytest.raises(HandedOff):
        call(tmp_path, ASK)


@pytest.mark.parametrize(("kind", "data"), [("md", b"\xff"), ("json", b"{no"), ("json", b"[1]"), ("json", b'{"x": 1}')])
def test_an_answer_that_cannot_be_read_is_named(tmp_path: Path, kind: str, data: bytes) -> None:
    (tmp_path / f"{digest(ASK)}.answer.{kind}").write_bytes(data)
    with pytest.raises(UsageError, match=rf"{digest(ASK)}\.answer\.{kind} cannot be read as an answer: "):
        call(tmp_path, ASK)


def test_a_folder_is_needed_and_must_be_writable(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="needs a folder"):
        registry.create(ModelSettings(model="handoff:"), "optimizer")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(FatalModelError, match="cannot be written"):
        call(tmp_path / "file", ASK)


def test_a_ping_needs_nobody(tmp_path: Path) -> None:
    assert call(tmp_path, Request(ASK.messages, context={"stage": "ping"}))[0].text == "ready"
    assert files(tmp_path) == set()
