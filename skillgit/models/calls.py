"""The one choke point: every call of both roles is limited, retried, priced and counted here."""

from __future__ import annotations

import asyncio
import logging
import random
import re
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any

from skillgit.config import ModelSettings
from skillgit.errors import FatalModelError, ProviderError
from skillgit.models import tokens
from skillgit.models.base import Model, Reply, Request, Usage
from skillgit.models.limiter import Limiter
from skillgit.models.meter import Meter as Meter
from skillgit.models.prices import cost

log = logging.getLogger("skillgit")


STREAK = 10
BACKOFF_FIRST, BACKOFF_MOST = 1.0, 60.0
"""Seconds: the longest first wait, and the longest of all."""
PATIENCE = 600.0
"""Seconds: a provider that asks to wait longer is not waited for; that is a limit of the day, not of the minute."""


class Caller:
    """A model with retries, a limit on concurrency, prices and caps; is itself a model.

    ``sleep`` is replaced in tests. Ten like failures in a row, retries included, end the run with the provider's words; any
    answer, however wrong, ends the row.
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
        self._kind = ""
        self._failures = 0
        self._told: set[str] = set()
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.is_agent = model.is_agent

    async def call(self, request: Request) -> Reply:
        """Answer once, trying again where that may help. Raises ProviderError, FatalModelError or LimitReached."""
        attempt = 0
        while True:
            try:
                reply = await self._attempt(request)
            except ProviderError as error:
                if not error.transient or attempt == self._settings.retries or (error.retry_after or 0) > PATIENCE:
                    raise self._failed(error) from None
                self._tell(error)
                await self._sleep(delay(attempt, error.retry_after))
                attempt += 1
            else:
                self._failures = 0
                return reply

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()

    async def _attempt(self, request: Request) -> Reply:
        async with self._limiter.slot() as halvings, self._meter.room(self._most(request)):
            try:
                reply = await _within(self._settings.timeout, self._model.call(request))
            except asyncio.TimeoutError:
                text = f"{self.name} gave no answer within {self._settings.timeout:g} s"
                raise ProviderError(text, hint=f"raise models.{self._role}.timeout", transient=True) from None
            except ProviderError as error:
                if error.overloaded:
                    self._limiter.overloaded(halvings)
                raise
            self._limiter.succeeded()
            usage = reply.usage if reply.usage.usd is not None else self._priced(reply.usage)
            self._meter.add(self._role, usage)
            return replace(reply, usage=usage)

    def _most(self, request: Request) -> Usage:
        """What a call takes if the answer is as long as it may be."""
        return self._priced(Usage(tokens.of_request(request), request.max_tokens or self._settings.max_tokens))

    def _priced(self, usage: Usage) -> Usage:
        return replace(usage, usd=cost(self._settings, usage))

    def _tell(self, error: ProviderError) -> None:
        """Say once of each kind of failure that calls are repeated, for it may take long."""
        kind = _kind(error.message)
        if kind not in self._told:
            self._told.add(kind)
            log.warning("%s; trying again, up to %d times", error.message, self._settings.retries)

    def _failed(self, error: ProviderError) -> ProviderError | FatalModelError:
        kind = _kind(error.message)
        self._failures = self._failures + 1 if kind == self._kind else 1
        self._kind = kind
        if self._failures < STREAK:
            return error
        return FatalModelError(
            f"{STREAK} calls in a row failed alike: {error.message}", hint=error.hint or "skillgit doctor"
        )


async def _within(seconds: float, work: Coroutine[Any, Any, Reply]) -> Reply:
    """As ``asyncio.wait_for``, which before Python 3.12 loses a cancellation that comes just when the work ends."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=seconds)
        if task.done():
            return task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    raise asyncio.TimeoutError


def delay(attempt: int, retry_after: float | None) -> float:
    """Seconds before the next attempt, counted from 0: full jitter under a doubling ceiling.

    A time that the provider named is kept, with up to a second on top so that not all come back at once.
    """
    if retry_after is not None:
        return retry_after + random.uniform(0, BACKOFF_FIRST)
    return random.uniform(0, min(BACKOFF_MOST, BACKOFF_FIRST * 2.0 ** min(attempt, 10)))


def _kind(message: str) -> str:
    """What makes failures alike: their words without numbers and ids."""
    return re.sub(r"\S*\d\S*", "#", message)
