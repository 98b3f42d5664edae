"""The one choke point: every call of both roles is limited, retried, priced and counted here."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import replace

from skillgit.config import LimitSettings, ModelSettings
from skillgit.errors import FatalModelError, LimitReached, ProviderError
from skillgit.models.base import NO_USAGE, Model, Reply, Request, Usage
from skillgit.models.limiter import Limiter
from skillgit.models.prices import cost

stage: ContextVar[str] = ContextVar("stage", default="other")
"""The stage of the loop that calls are counted under."""

STREAK = 10
BACKOFF_FIRST, BACKOFF_MOST = 1.0, 60.0
"""Seconds: the longest first wait, and the longest of all."""


class Meter:
    """Counts calls, tokens and money of a run and holds its caps.

    ``spent`` is what the run spent before this process; ``listen(role, usage)`` is told of each paid call.
    """

    def __init__(
        self,
        limits: LimitSettings,
        *,
        spent: Usage = NO_USAGE,
        listen: Callable[[str, Usage], None] = lambda role, usage: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = limits
        self._listen = listen
        self._clock = clock
        self._began = clock()
        self._in_flight = 0
        self.spent = spent

    def reserve(self) -> None:
        """Before a call starts. Raises LimitReached, naming the cap, what was spent and what is allowed."""
        self.check()
        if self._limits.calls is not None and self.spent.calls + self._in_flight >= self._limits.calls:
            raise self._reached("calls", self._limits.calls, self.spent.calls)
        self._in_flight += 1

    def release(self) -> None:
        """After a call, however it ended."""
        self._in_flight -= 1

    def add(self, role: str, usage: Usage) -> None:
        """Count a call that was paid."""
        self.spent = self.spent + usage
        self._listen(role, usage)

    def check(self) -> None:
        """Raise LimitReached when a cap is reached."""
        limits, tokens = self._limits, self.spent.input_tokens + self.spent.output_tokens
        if limits.usd is not None and (self.spent.usd or 0.0) >= limits.usd:
            raise self._reached("usd", limits.usd, round(self.spent.usd or 0.0, 4))
        if limits.tokens is not None and tokens >= limits.tokens:
            raise self._reached("tokens", limits.tokens, tokens)
        if limits.minutes is not None and self._clock() - self._began >= limits.minutes * 60:
            raise self._reached("minutes", limits.minutes, round((self._clock() - self._began) / 60, 1))

    def _reached(self, name: str, allowed: float, spent: float) -> LimitReached:
        return LimitReached(
            f"limits.{name} is reached: {spent:g} of {allowed:g}",
            hint=f"raise it (-o limits.{name}=...) and run the same command again; it goes on from here",
        )


class Caller:
    """A model with retries, a limit on concurrency, prices and caps; is itself a model.

    ``sleep`` is replaced in tests. Ten like failures in a row, retries included, end the run with the provider's words.
    """

    def __init__(
        self,
        model: Model,
        settings: ModelSettings,
        meter: Meter,
        role: str,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        limiter: Limiter | None = None,
    ) -> None:
        self._model = model
        self._settings = settings
        self._meter = meter
        self._role = role
        self._sleep = sleep
        self._limiter = limiter or Limiter(settings.concurrency)
        self._failures: list[str] = []
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.is_agent = model.is_agent

    async def call(self, request: Request) -> Reply:
        """Answer once, trying again where that may help. Raises ProviderError, FatalModelError or LimitReached."""
        for attempt in range(self._settings.retries + 1):
            try:
                reply = await self._attempt(request)
            except ProviderError as error:
                if not error.transient or attempt == self._settings.retries:
                    raise self._failed(error) from None
                await self._sleep(_delay(attempt, error.retry_after))
            else:
                self._failures.clear()
                return reply
        raise AssertionError("unreachable")

    async def _attempt(self, request: Request) -> Reply:
        async with self._limiter.slot():
            self._meter.reserve()
            try:
                reply = await asyncio.wait_for(self._model.call(request), self._settings.timeout)
                usage = replace(reply.usage, usd=self._price(reply.usage))
                self._meter.add(self._role, usage)
                self._limiter.succeeded()
                return replace(reply, usage=usage)
            except asyncio.TimeoutError:
                text = f"{self.name} gave no answer within {self._settings.timeout:g} s"
                raise ProviderError(text, hint=f"models.{self._role}.timeout", transient=True) from None
            except ProviderError as error:
                if error.overloaded:
                    self._limiter.overloaded()
                raise
            finally:
                self._meter.release()

    def _price(self, usage: Usage) -> float | None:
        return usage.usd if usage.usd is not None else cost(self._settings, usage)

    def _failed(self, error: ProviderError) -> ProviderError | FatalModelError:
        if self._failures and self._failures[-1] != error.message:
            self._failures.clear()
        self._failures.append(error.message)
        if len(self._failures) < STREAK:
            return error
        return FatalModelError(f"{STREAK} calls in a row failed alike: {error.message}", hint="skillgit doctor")

    async def close(self) -> None:
        await self._model.close()


def _delay(attempt: int, retry_after: float | None) -> float:
    """Full jitter over an exponential ceiling, but never before the time that the provider named."""
    ceiling = min(BACKOFF_MOST, BACKOFF_FIRST * 2**attempt)
    jitter = random.uniform(0, ceiling)
    return jitter if retry_after is None else retry_after + min(jitter, 1.0)
