"""One question to the optimizer: render, call, parse, check, and ask again when the answer cannot be used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from skillgit.errors import OutputError
from skillgit.models.base import Message, Model, Reply, Request
from skillgit.parsing import parse_object
from skillgit.stages.prompts import Prompts
from skillgit.stages.render import one_line

if TYPE_CHECKING:
    from skillgit.config import Settings

T = TypeVar("T")
ATTEMPTS = 3


class Cache(Protocol):
    """Where answers are kept, so that a question is paid for once."""

    async def get_or_call(self, key: str, call: Callable[[], Awaitable[Reply]]) -> Reply: ...


class Uncached:
    """Asks every time."""

    async def get_or_call(self, key: str, call: Callable[[], Awaitable[Reply]]) -> Reply:
        return await call()


class Env(Protocol):
    """What an optimizer needs of an environment: its settings, and its own prompts."""

    settings: Settings

    def prompt(self, stage: str) -> str | None: ...


class Optimizer:
    """The optimizer of a run.

    ``parse_failures`` counts answers that could not be used, ``show_answers`` says whether it may see the reference
    answers of train tasks. Raises ConfigError when a prompt of the environment cannot be used.
    """

    def __init__(self, model: Model, env: Env, cache: Cache | None = None, run: int = 1) -> None:
        self.model = model
        self.show_answers = env.settings.reflect.show_answers
        self.parse_failures = 0
        self._prompts = Prompts(env.prompt, ("lapses",) if env.settings.reflect.skill_aware else ())
        self._cache = cache or Uncached()
        self._run = run
        self._room = env.settings.models.optimizer.max_tokens

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

        ``values`` fill the prompt of the stage, ``check`` turns the parsed object into the result or raises ValueError.
        An unusable answer is asked for again, twice, with what was wrong; one that was cut off gets twice the room. Then
        OutputError, and at once when the model refuses. Errors of the provider pass through.
        """
        messages = self._prompts.render(stage, values)
        request = Request(messages, schema=schema, schema_name=stage, context=context)
        wrong = ""
        for attempt in range(ATTEMPTS):
            reply = await self._call(request, stage, index, attempt)
            if reply.stop == "refusal":
                raise OutputError(f"{self.model.name} refused to answer ({stage})")
            if reply.stop == "length":
                wrong = "the answer was cut off by the output limit"
                room = request.max_tokens or max(self._room, reply.usage.output_tokens)
                request = replace(request, max_tokens=2 * room)
            else:
                try:
                    return check(parse_object(reply.text, tuple(schema["required"])))
                except ValueError as error:
                    wrong = one_line(str(error))
                    request = replace(request, messages=(*messages, *_again(reply.text, wrong)))
            self.parse_failures += 1
        raise OutputError(f"{self.model.name} gave no usable answer in {ATTEMPTS} tries ({stage}): {wrong}")

    async def _call(self, request: Request, stage: str, index: int, attempt: int) -> Reply:
        parts = [self._run, stage, index, attempt, request.max_tokens, request.schema, self.model.fingerprint]
        parts.append([asdict(message) for message in request.messages])
        text = json.dumps(parts, sort_keys=True)  # plain ASCII, whatever the prompt holds
        key = hashlib.sha256(text.encode("ascii")).hexdigest()
        return await self._cache.get_or_call(key, lambda: self.model.call(request))


def _again(answer: str, wrong: str) -> tuple[Message, Message]:
    asked = f"That answer cannot be used: {wrong}. Answer again with exactly one JSON object and nothing around it."
    return Message("assistant", answer or "(empty)"), Message("user", asked)
