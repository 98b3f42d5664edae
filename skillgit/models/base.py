"""The model seam: one async method, messages in, a reply out.

A backend is a class with ``name``, ``fingerprint``, ``call`` and ``close``. It does one attempt and raises
``ProviderError`` (with ``retry_after`` and ``transient`` set) or ``FatalModelError``; retries, limits on
concurrency, prices and caps are laid over every backend alike by :mod:`skillgit.models.calls`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

stage: ContextVar[str] = ContextVar("stage", default="other")
"""The stage of the loop that calls are counted under."""
Stop = Literal["stop", "length", "tool_calls", "refusal"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to call a tool; ``arguments`` is the JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A function offered to the model; ``parameters`` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. ``images`` are file paths, ``http(s)`` URLs or ``data:`` URIs; ``thoughts`` are a reply's, as they came."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    images: tuple[str, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    thoughts: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class SkillFile:
    """The skill under test, for agents that load skills from a folder instead of a prompt."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked.

    ``schema`` (a JSON schema of an object) asks for structured output. ``context`` is the data the prompt was
    made from; language models ignore it, optimizers that are programs read it instead of the prompt.
    ``sample`` is the repeat index (0, 1, ...) of the same question to a stochastic model. ``skill`` and
    ``files`` (name in the working folder -> path to copy) are read by agents only.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    schema_name: str = "answer"
    tools: tuple[Tool, ...] = ()
    max_tokens: int | None = None
    sample: int = 0
    skill: SkillFile | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more calls. ``input_tokens`` includes ``cached_tokens``; ``usd`` is None if unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    usd: float | None = None
    calls: int = 1

    def __add__(self, other: Usage) -> Usage:
        if self.calls == 0:
            return other
        if other.calls == 0:
            return self
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            None if self.usd is None or other.usd is None else self.usd + other.usd,
            self.calls + other.calls,
        )


NO_USAGE = Usage(usd=0.0, calls=0)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    ``steps`` is what an agent did on the way (tool calls and their results). ``thoughts`` are in the provider's form; it wants
    them back with the results of the tools that it called, for which ``turn`` is there.
    """

    text: str
    usage: Usage = field(default_factory=Usage)
    stop: Stop = "stop"
    tool_calls: tuple[ToolCall, ...] = ()
    steps: tuple[Message, ...] = ()
    thoughts: tuple[Mapping[str, Any], ...] = ()

    def turn(self) -> Message:
        """The reply as a turn of the conversation that goes on."""
        return Message("assistant", self.text, tool_calls=self.tool_calls, thoughts=self.thoughts)


@runtime_checkable
class Model(Protocol):
    """A target or an optimizer.

    ``name`` is the spec the user wrote (``openai:gpt-5.5``). ``fingerprint`` changes when an answer to the same
    request may change: options, a model file's hash, a runtime's version. It holds no secret. ``is_agent`` says that
    the skill travels as ``Request.skill`` instead of in the prompt.
    """

    name: str
    fingerprint: str
    is_agent: bool

    async def call(self, request: Request) -> Reply:
        """Answer once. Raises ProviderError (this call failed) or FatalModelError (all would)."""
        ...

    async def close(self) -> None:
        """Release sockets and processes. Called once, also after errors."""
        ...
