"""How many calls a provider gets at once: halved when it says it is overloaded, growing back slowly."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from skillgit.config import ModelSettings

RECOVERY = 20
"""Good calls after which one more is allowed at once."""


class Limiter:
    """Slots for calls in flight, additive increase and multiplicative decrease (AIMD).

    Of the calls that were in flight when it was halved, no further one halves it: they only say the same again.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.allowed = most
        self.taken = 0
        self._good = 0
        self._halvings = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """Wait for a free slot, in the order of asking, and hold it. Gives the number of halvings so far."""
        await self._take()
        try:
            yield self._halvings
        finally:
            self.taken -= 1
            self._wake()

    async def _take(self) -> None:
        if self.taken < self.allowed and not self._waiting:
            self.taken += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it was our turn already: pass it on
                self.taken -= 1
                self._wake()
            raise

    def _wake(self) -> None:
        while self._waiting and self.taken < self.allowed:
            turn = self._waiting.popleft()
            if not turn.done():  # else the one who waited was cancelled
                self.taken += 1
                turn.set_result(None)

    def succeeded(self) -> None:
        """A call went well."""
        self._good += 1
        if self._good >= RECOVERY and self.allowed < self.most:
            self.allowed += 1
            self._good = 0
            self._wake()

    def overloaded(self, halvings: int) -> None:
        """The provider refused a call for being one too many; it began when there had been this many halvings."""
        self._good = 0
        if halvings == self._halvings:
            self.allowed = max(1, self.allowed // 2)
            self._halvings += 1


class Limiters:
    """One limiter for each provider and address, so that both roles of a run share it."""

    def __init__(self) -> None:
        self._limiters: dict[tuple[str, str], Limiter] = {}

    def get(self, settings: ModelSettings) -> Limiter:
        """The limiter of these settings; the larger ``concurrency`` of the roles counts."""
        key = (settings.model.partition(":")[0], settings.base_url)
        limiter = self._limiters.setdefault(key, Limiter(settings.concurrency))
        if settings.concurrency > limiter.most:
            limiter.most = limiter.allowed = settings.concurrency
        return limiter
