"""Ask a backend of ours, through its real SDK, what the scripted server answers."""

from __future__ import annotations

import asyncio
from typing import Any

from skillgit.config import ModelSettings
from skillgit.models import registry
from skillgit.models.base import Message, Reply, Request
from tests.servers.scripted import Server

KEY = "sk-secret-that-must-not-show"
ASK = Request((Message("system", "Be short."), Message("user", "Hello")))
OPENAI, CHAT, ANTHROPIC = "openai:gpt-test", "openai-compatible:some-model", "anthropic:claude-test"
BACKENDS = (OPENAI, CHAT, ANTHROPIC)
SCHEMA = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
}


def settings_for(model: str, server: Server, **more: Any) -> ModelSettings:
    """Settings of a model that is on the scripted server."""
    suffix = "" if model.startswith("anthropic") else "/v1"
    return ModelSettings(model=model, base_url=server.url + suffix, **more)


def ask(model: str, server: Server, request: Request = ASK, **more: Any) -> Reply:
    """One attempt of a backend that is closed afterwards."""
    return ask_all(model, server, [request], **more)[0]


def ask_all(model: str, server: Server, requests: list[Request], *, at_once: bool = False, **more: Any) -> list[Reply]:
    """One attempt for each request, by one backend, one after the other or all at once."""

    async def work() -> list[Reply]:
        backend = registry.create(settings_for(model, server, **more), "target")
        try:
            if at_once:
                return await asyncio.gather(*(backend.call(request) for request in requests))
            return [await backend.call(request) for request in requests]
        finally:
            await backend.close()

    return asyncio.run(work())
