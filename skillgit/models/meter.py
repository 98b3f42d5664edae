"""What a run has spent, and the caps on it. Nothing starts that could go beyond a cap."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from skillgit.config import LimitSettings
from skillgit.errors import LimitReached
from skillgit.models.base import NO_USAGE, Usage


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
        self._in_flight: list[Usage] = []
        self._ended = asyncio.Event()
        self.spent = spent

    @asynccontextmanager
    async def room(self, most: Usage) -> AsyncIterator[None]:
        """Hold room for one call that takes at most ``most``.

        Near a cap, a call waits for those in flight: they may leave enough, and what they bring is paid. The last one goes
        alone, so a cap is overrun by one call at most, however many run at once. Raises LimitReached, naming the cap, what
        was spent and what is allowed.
        """
        while self._in_flight and not self._fits(most):
            await self._ended.wait()
        self.check()
        self._in_flight.append(most)
        try:
            yield
        finally:
            self._in_flight.remove(most)
            self._ended.set()
            self._ended = asyncio.Event()

    def add(self, role: str, usage: Usage) -> None:
        """Count a call that was paid."""
        self.spent = self.spent + usage
        self._listen(role, usage)

    def check(self) -> None:
        """Raise LimitReached when a cap is reached."""
        limits, spent = self._limits, self.spent
        minutes = (self._clock() - self._began) / 60
        if limits.usd is not None and spent.usd is None:
            raise LimitReached(
                f"limits.usd is {limits.usd:g}, but the price of what was spent so far is unknown",
                hint="set usd_per_million of the model, or cap tokens or calls instead of usd",
            )
        for name, allowed, used in (
            ("usd", limits.usd, spent.usd or 0.0),
            ("tokens", limits.tokens, tokens(spent)),
            ("calls", limits.calls, spent.calls),
            ("minutes", limits.minutes, minutes),
        ):
            if allowed is not None and used >= allowed:
                raise LimitReached(
                    f"limits.{name} is reached: {round(used, 4):.12g} of {allowed:.12g}",
                    hint=f"raise it (-o limits.{name}=...) and run the same command again; it goes on from here",
                )

    def _fits(self, most: Usage) -> bool:
        limits, total = self._limits, self.spent
        for usage in (*self._in_flight, most):
            total = total + usage
        return (
            (limits.usd is None or (total.usd or 0.0) <= limits.usd)
            and (limits.tokens is None or tokens(total) <= limits.tokens)
            and (limits.calls is None or total.calls <= limits.calls)
        )


def tokens(usage: Usage) -> int:
    """Tokens in and out."""
    return usage.input_tokens + usage.output_tokens
