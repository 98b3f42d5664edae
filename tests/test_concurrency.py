from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from skillgit.concurrency import gather, ordered
from skillgit.errors import HandedOff


async def _sleepy(seconds: float) -> float:
    await asyncio.sleep(seconds)
    return seconds


def test_gather_keeps_the_order_of_its_input() -> None:
    assert asyncio.run(gather([_sleepy(0.02), _sleepy(0), _sleepy(0.01)], 3)) == [0.02, 0, 0.01]


def test_no_more_than_the_limit_run_at_once() -> None:
    running = peak = 0

    async def work(_: int) -> None:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0.001)
        running -= 1

    asyncio.run(gather([work(i) for i in range(20)], 4))
    assert peak == 4


def test_the_first_error_cancels_the_rest_and_does_not_wait_for_earlier_items() -> None:
    cancelled: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append("slow")
            raise

    async def broken() -> None:
        await asyncio.sleep(0)
        raise ValueError("no")

    async def never() -> None:
        raise AssertionError("must not start")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(gather([slow(), broken(), never()], 2))
    assert cancelled == ["slow"]


def test_a_closed_stream_cancels_what_is_in_flight() -> None:
    finished: list[int] = []

    async def work(item: int) -> int:
        await asyncio.sleep(0 if item < 2 else 60)
        finished.append(item)
        return item

    async def main() -> list[int]:
        seen = []
        async with aclosing(ordered(work, range(5), 5)) as results:
            async for result in results:
                seen.append(result)
                if result == 1:
                    break
        assert len(asyncio.all_tasks()) == 1
        return seen

    assert asyncio.run(main()) == [0, 1]
    assert finished == [0, 1]


def test_what_is_handed_off_waits_for_the_others_and_the_last_word_counts() -> None:
    ended = []

    async def work(item: int) -> int:
        await asyncio.sleep(0)
        ended.append(item)
        if item in (2, 5):
            raise HandedOff(f"{len(ended)} so far")
        return item

    async def main() -> list[int]:
        seen = []
        with pytest.raises(HandedOff, match="6 so far"):
            async with aclosing(ordered(work, range(8), 2)) as results:
                async for result in results:
                    seen.append(result)
        return seen

    assert asyncio.run(main()) == [0, 1]
    assert ended == list(range(8))


def test_a_failure_beside_what_is_handed_off_ends_at_once() -> None:
    async def work(item: int) -> None:
        if item == 1:
            raise ValueError("broken")
        raise HandedOff("waits")

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(gather((work(i) for i in range(3)), 1))
