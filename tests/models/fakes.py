"""Models for the choke point: what they answer, and how many are asked at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from skillgit.config import LimitSettings, ModelSettings
from skillgit.errors import ProviderError
from skillgit.models.base import Message, Reply, Request, Usage
from skillgit.models.calls import Caller, Meter
from skillgit.models.limiter import Limiter

ASK = Request((Message("user", "Hello"),), max_tokens=20)


def reply(text: str = "ok", usd: float | None = 0.0) -> Reply:
    """An answer of 10 tokens in and 5 out."""
    return Reply(text, Usage(10, 5, usd=usd))


def busy(message: str = "slow down", after: float | None = None, overloaded: bool = True) -> ProviderError:
    """A failure that may pass."""
    return ProviderError(message, transient=True, retry_after=after, overloaded=overloaded)


@dataclass
class Queue:
    """Gives its answers in turn, the last one for ever. With ``turns``, an answer takes that many turns of the loop."""

    answers: Iterable[Reply | Exception]
    turns: int = 0
    name: str = "openai:fake"
    fingerprint: str = "f"
    is_agent: bool = False
    asked: int = 0
    open: int = 0
    most_open: int = 0
    closed: int = 0
    _last: Reply | Exception = field(default_factory=reply)

    def __post_init__(self) -> None:
        self._rest = iter(self.answers)

    async def call(self, request: Request) -> Reply:
        self.asked += 1
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            self._last = next(self._rest, self._last)
            answer = self._last
            for _ in range(self.turns):
                await asyncio.sleep(0)
        finally:
            self.open -= 1
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        self.closed += 1


@dataclass
class Hanging(Queue):
    """Never answers, and takes a while to stop."""

    async def call(self, request: Request) -> Reply:
        self.asked += 1
        self.open += 1
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(10):
                await asyncio.sleep(0)
            self.open -= 1
        raise AssertionError


@dataclass
class Waits:
    """Stands for asyncio.sleep: takes no time, remembers what was asked for."""

    seconds: list[float] = field(default_factory=list)

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.sleep(0)


def caller(
    model: Queue,
    *,
    meter: Meter | None = None,
    sleep: Callable[[float], Awaitable[None]] | None = None,
    limiter: Limiter | None = None,
    **settings: object,
) -> Caller:
    """The model behind the choke point, with a price of one dollar a token."""
    given = ModelSettings.model_validate({"model": model.name, "usd_per_million": (1e6, 1e6), **settings})
    return Caller(model, given, meter or Meter(LimitSettings()), "target", sleep=sleep or Waits(), limiter=limiter)
