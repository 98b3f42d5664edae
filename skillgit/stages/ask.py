"""One question to the optimizer: render, call, parse, check, and ask again when the answer cannot be used."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, replace
from importlib import resources
from typing import Any, Protocol, TypeVar

from skillgit.errors import ConfigError, OutputError
from skillgit.models.base import Message, Model, Reply, Request
from skillgit.parsing import parse_object

T = TypeVar("T")
ATTEMPTS = 3
PLACE = re.compile(r"\{\{\s*([a-z_]+)\s*\}\}")
SPLIT = "<!-- user -->"
"""Parts a prompt file: the system message above, the user message below."""


class Cache(Protocol):
    """Where answers are kept, so that a question is paid for once."""

    async def get_or_call(self, key: str, call: Callable[[], Awaitable[Reply]]) -> Reply: ...


class Uncached:
    """Asks every time."""

    async def get_or_call(self, key: str, call: Callable[[], Awaitable[Reply]]) -> Reply:
        return await call()


class Prompts(Protocol):
    """Where an environment's own prompts come from."""

    def prompt(self, stage: str) -> str | None: ...


class Optimizer:
    """The optimizer of a run. ``parse_failures`` counts answers that could not be used."""

    def __init__(self, model: Model, env: Prompts, cache: Cache | None = None, run: int = 1) -> None:
        self.model = model
        self._env = env
        self._cache = cache or Uncached()
        self._run = run
        self.parse_failures = 0

    async def ask(
        self,
        stage: str,
        values: Mapping[str, str],
        schema: Mapping[str, Any],
        check: Callable[[dict[str, Any]], T],
        *,
        context: Mapping[str, Any],
        index: int = 0,
    ) -> T:
        """The checked answer of a stage.

        ``values`` fill the prompt ``stage``.md, ``check`` turns the parsed object into the result or raises ValueError.
        An unusable answer is asked for again, twice, with what was wrong; one that was cut off gets twice the room. Then
        OutputError. Errors of the provider pass through.
        """
        request = Request(self._render(stage, values), schema=schema, schema_name=stage, context=context)
        room = 0
        wrong = ""
        for attempt in range(ATTEMPTS):
            reply = await self._call(request, stage, index, attempt)
            if reply.stop == "refusal":
                raise OutputError(f"{self.model.name} refused to answer ({stage})")
            if reply.stop == "length":
                room = 2 * (room or max(4096, reply.usage.output_tokens))
                wrong = "the answer was cut off by the output limit"
                request = replace(request, max_tokens=room)
            else:
                try:
                    return check(parse_object(reply.text, tuple(schema["required"])))
                except ValueError as error:
                    wrong = str(error)
                    request = replace(request, messages=(*request.messages, *_repair(reply.text, wrong)))
            self.parse_failures += 1
        raise OutputError(f"{self.model.name} gave no usable answer in {ATTEMPTS} tries ({stage}): {wrong}")

    async def _call(self, request: Request, stage: str, index: int, attempt: int) -> Reply:
        parts = [self._run, stage, index, attempt, request.max_tokens, request.schema, self.model.fingerprint]
        parts.append([asdict(message) for message in request.messages])
        text = json.dumps(parts, sort_keys=True)
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return await self._cache.get_or_call(key, lambda: self.model.call(request))

    def _render(self, stage: str, values: Mapping[str, str]) -> tuple[Message, ...]:
        template = self._env.prompt(stage) or builtin_prompt(stage)
        system, marker, user = template.partition(SPLIT)
        if not marker:
            system, user = "", template
        messages = (Message("system", fill(system, values, stage)), Message("user", fill(user, values, stage)))
        if not messages[1].content:
            raise ConfigError(f"the prompt '{stage}' is empty", hint=f"prompts/{stage}.md in the skill's folder")
        return messages if messages[0].content else messages[1:]


def builtin_prompt(stage: str) -> str:
    """The prompt that comes with skillgit."""
    return resources.files("skillgit").joinpath("prompts", f"{stage}.md").read_text(encoding="utf-8")


def fill(template: str, values: Mapping[str, str], stage: str) -> str:
    """The template with each ``{{name}}`` replaced; inserted text is not looked at again."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            known = ", ".join(sorted(values))
            raise ConfigError(f"the prompt '{stage}' uses {{{{{match[1]}}}}}; known here: {known}")
        return values[match[1]]

    return PLACE.sub(value, template).strip()


def _repair(answer: str, wrong: str) -> tuple[Message, Message]:
    asked = f"That answer cannot be used: {wrong}. Answer again with exactly one JSON object and nothing around it."
    return Message("assistant", answer or "(empty)"), Message("user", asked)


def schema_of(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema of an object with these properties, all required, for strict structured output."""
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }


TEXT: Mapping[str, Any] = {"type": "string"}
WHOLE: Mapping[str, Any] = {"type": "integer"}


def list_of(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}
