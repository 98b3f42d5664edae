"""A runtime in place of xllamacpp: it streams what a test tells it to, in the chunks that llama.cpp sends."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

Chunk = dict[str, Any]
USAGE = {"prompt_tokens": 31, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 24}}


def delta(finish: str | None = None, **fields: Any) -> Chunk:
    return {"choices": [{"index": 0, "finish_reason": finish, "delta": fields}]}


def said(*texts: str, finish: str = "stop") -> list[Chunk]:
    """A whole answer."""
    words = [delta(content=text) for text in texts]
    return [delta(role="assistant", content=None), *words, delta(finish), {"choices": [], "usage": USAGE}]


class Runtime:
    """``answer(body)`` gives the chunks of one call; ``bodies`` are the requests, ``servers`` the parameters of each start."""

    def __init__(self) -> None:
        self.answer: Callable[[dict[str, Any]], Iterable[Chunk]] = lambda body: said("hello")
        self.bodies: list[dict[str, Any]] = []
        self.servers: list[Any] = []
        self.streamed = 0

    def install(self, monkeypatch: pytest.MonkeyPatch) -> Runtime:
        module = types.ModuleType("xllamacpp")
        module.CommonParams = _parameters  # type: ignore[attr-defined]
        module.Server = self._start  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "xllamacpp", module)
        return self

    def _start(self, parameters: Any) -> Any:
        self.servers.append(parameters)
        return types.SimpleNamespace(handle_chat_completions=self._stream)

    def _stream(self, body: dict[str, Any], take: Callable[[Chunk], bool]) -> None:
        self.bodies.append(body)
        chunks: Iterator[Chunk] = iter(self.answer(body))
        for chunk in chunks:
            self.streamed += 1
            if take(chunk):
                return


def _parameters() -> Any:
    return types.SimpleNamespace(
        model=types.SimpleNamespace(path=""), cpuparams=types.SimpleNamespace(), cpuparams_batch=types.SimpleNamespace()
    )
