from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from skillgit.models.base import Message, Reply, Request, SkillFile, Tool, ToolCall, Usage
from skillgit.models.transcript import digest, message_data, message_from, reply_data, reply_from, request_data

CALL = ToolCall("t1", "add", '{"a": 1}')
FULL = Message("assistant", "hm", ("a.png",), (CALL,), "t0", ({"type": "thinking", "signature": "s"},))
ASK = Request((Message("system", "Be short."), Message("user", "Hé \ud800")))


@pytest.mark.parametrize("message", [Message("user", "x"), FULL])
def test_a_message_comes_back_from_json(message: Message) -> None:
    assert message_from(json.loads(json.dumps(message_data(message)))) == message


@pytest.mark.parametrize(
    "reply",
    [
        Reply("x"),
        Reply(""),
        Reply("x", Usage(1, 2, 3, 0.5), "length", (CALL,), (FULL, Message("tool", "1")), ({"type": "t"},)),
        Reply("x", Usage(usd=0.0, calls=0)),
    ],
)
def test_a_reply_comes_back_from_json(reply: Reply) -> None:
    assert reply_from(json.loads(json.dumps(reply_data(reply)))) == reply


@pytest.mark.parametrize("data", [{}, [], None, {"text": "x", "odd": 1}, {"text": "x", "usage": {"odd": 1}}])
def test_what_is_no_reply_is_told(data: object) -> None:
    with pytest.raises(ValueError, match="it is no reply"):
        reply_from(data)  # type: ignore[arg-type]


def test_every_part_of_a_question_makes_it_another_one() -> None:
    tool = Tool("add", "Adds.", {"type": "object"})
    others = [
        replace(ASK, messages=ASK.messages[::-1]),
        replace(ASK, messages=(*ASK.messages, FULL)),
        replace(ASK, schema={"type": "object"}),
        replace(ASK, tools=(tool,)),
        replace(ASK, max_tokens=5),
        replace(ASK, sample=1),
        replace(ASK, skill=SkillFile("demo", "text")),
        replace(ASK, files={"a": "/no/such/file"}),
    ]
    assert len({digest(request) for request in (ASK, *others)}) == len(others) + 1
    assert digest(replace(ASK, context={"stage": "reflect"})) == digest(ASK)  # the prompt is made from it
    assert request_data(ASK) == {"messages": [{"role": m.role, "content": m.content} for m in ASK.messages]}


def test_files_count_by_what_is_in_them_wherever_they_are(tmp_path: Path) -> None:
    def asked(folder: str, content: bytes) -> str:
        path = tmp_path / folder / "dot.png"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return digest(Request((Message("user", "?", (str(path),)),), files={"dot.png": str(path)}))

    assert asked("a", b"one") == asked("b", b"one") != asked("b", b"two")
