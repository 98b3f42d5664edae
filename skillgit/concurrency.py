"""Bounded concurrency for the loop: results come in input order, and nobody is left running.

Python 3.10 has no task groups, and the loop needs one thing they lack: to stop in the middle of an ordered stream
(a settled gate) and cancel what is still in flight.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from contextlib import aclosing
from typing import Any, TypeVar

from skillgit.errors import HandedOff

T = TypeVar("T")
R = TypeVar("R")


async def ordered(call: Callable[[T], Awaitable[R]], items: Iterable[T], limit: int) -> AsyncGenerator[R, None]:
    """Results of ``call`` in the order of ``items``, at most ``limit`` at once.

    The first exception of any item ends the stream at once, also when earlier items are still running; only HandedOff lets
    all the others run to their end before it is raised. Closing the iterator (``contextlib.aclosing``) cancels every call in
    flight and waits until it is gone.
    """
    slots = asyncio.Semaphore(limit)
    failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    handed_off: list[HandedOff] = []

    async def run(item: T) -> R:
        async with slots:
            try:
                return await call(item)
            except HandedOff as error:
                handed_off.append(error)
                raise
            except BaseException as error:
                if not failed.done() and not isinstance(error, asyncio.CancelledError):
                    failed.set_exception(error)
                raise

    tasks = [asyncio.ensure_future(run(item)) for item in items]
    try:
        for index, task in enumerate(tasks):
            await _first(task, failed)
            if isinstance(task.exception(), HandedOff):
                for other in tasks[index + 1 :]:
                    await _first(other, failed)
                raise handed_off[-1]  # the last one knows of them all
            yield task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if failed.done():
            failed.exception()  # marks it as seen
        else:
            failed.cancel()


async def _first(task: asyncio.Future[Any], failed: asyncio.Future[None]) -> None:
    """Wait for a task, or raise what another one failed with."""
    waited: set[asyncio.Future[Any]] = {task, failed}
    await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
    if failed.done():
        failed.result()


async def gather(coros: Iterable[Coroutine[Any, Any, T]], limit: int) -> list[T]:
    """All results in order, at most ``limit`` at once; the first error cancels the rest and is raised."""
    pending = list(coros)

    async def run(coro: Coroutine[Any, Any, T]) -> T:
        return await coro

    try:
        async with aclosing(ordered(run, pending, limit)) as results:
            return [result async for result in results]
    finally:
        for coro in pending:
            coro.close()  # those that never began; closing a finished one does nothing
