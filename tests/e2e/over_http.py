"""The world behind a provider's protocol, and the settings of a short training in it."""

from __future__ import annotations

import json
from typing import Any

from skillgit.models import registry
from skillgit.models.base import Message, Request
from tests import world
from tests.servers.scripted import Call, Server

OPTIONS = (
    "train.epochs=1",
    "train.batch_size=12",
    "reflect.minibatch_size=12",
    "reflect.failure_only=true",
    "slow_update.enabled=false",
    "meta_skill.enabled=false",
    "gate.early_stop=false",
)
CALLS = 12 + 12 + 1 + 12 + 12 + 12
"""Baseline, a batch, one reflection, the gate, and the test of two texts; a ping for each model comes on top."""


def _edit(rule: int) -> dict[str, Any]:
    content = f"- RULE {rule} holds."
    row = {"op": "append", "target": None, "content": content, "title": f"say {rule}", "reasoning": "seen"}
    return {**row, "task_ids": []}


LESSON = {"patterns": [], "reasoning": "rules are missing", "edits": [_edit(1), _edit(2)]}
LEARNED = "- RULE 0 holds.\n- RULE 1 holds.\n- RULE 2 holds."


def serve(call: Call) -> str:
    """The lesson for a question with a schema, a task's answer for the rest."""
    if "response_format" in call.body or "output_config" in call.body:
        return json.dumps(LESSON)
    return world.target(Request(tuple(Message(row["role"], text(row)) for row in turns(call))))


def turns(call: Call) -> list[dict[str, Any]]:
    system = [{"role": "system", "content": block["text"]} for block in call.body.get("system", ())]
    return [*system, *call.body["messages"]]


def text(row: dict[str, Any]) -> str:
    content = row["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def at(server: Server, *roles: str, model: str = "openai-compatible:world") -> list[str]:
    """The options that put both roles, or some, on a server."""
    address = server.url if model.startswith("anthropic") else f"{server.url}/v1"
    return [
        f"models.{role}.{key}" for role in roles or registry.BOTH for key in (f"model={model}", f"base_url={address}")
    ]
