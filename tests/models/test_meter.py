from __future__ import annotations

import asyncio
from typing import Any

import pytest

from skillgit.config import LimitSettings
from skillgit.errors import LimitReached
from skillgit.models.base import Usage
from skillgit.models.meter import Meter

ONE = Usage(10, 5, usd=1.0)


@pytest.mark.parametrize(
    ("limits", "spent", "said"),
    [
        ({"usd": 2}, Usage(usd=2.0), "limits.usd is reached: 2 of 2"),
        ({"tokens": 2_000_000}, Usage(2_000_000, 1, usd=0.0), "limits.tokens is reached: 2000001 of 2000000"),
        ({"calls": 3}, Usage(usd=0.0, calls=3), "limits.calls is reached: 3 of 3"),
        ({"minutes": 0.5}, Usage(usd=0.0), "limits.minutes is reached: 0.5 of 0.5"),
        ({"usd": 2}, Usage(usd=None), "limits.usd is 2, but the price of what was spent so far is unknown"),
    ],
)
def test_a_cap_is_named_with_what_was_spent_and_what_is_allowed(
    limits: dict[str, Any], spent: Usage, said: str
) -> None:
    now = [100.0]
    meter = Meter(LimitSettings(**limits), spent=spent, clock=lambda: now[0])
    now[0] += 30
    with pytest.raises(LimitReached) as caught:
        meter.check()
    assert caught.value.message == said
    assert caught.value.hint


def test_below_every_cap_nothing_happens() -> None:
    limits = LimitSettings(usd=2, tokens=30, calls=3, minutes=1)
    now = [0.0]
    meter = Meter(limits, spent=Usage(20, 9, usd=1.99, calls=2), clock=lambda: now[0])
    now[0] = 59.9
    meter.check()
    Meter(LimitSettings(), spent=Usage(usd=None)).check()


def test_a_call_waits_for_those_in_flight_when_it_might_not_fit_and_takes_what_they_leave() -> None:
    events: list[str] = []

    async def call(meter: Meter, name: str, ends: asyncio.Event, took: Usage) -> None:
        async with meter.room(ONE):
            events.append(f"{name} starts")
            await ends.wait()
            meter.add("target", took)

    async def main() -> None:
        meter = Meter(LimitSettings(usd=2.5))
        ends = {name: asyncio.Event() for name in "abc"}
        cheap = Usage(10, 5, usd=0.1)
        tasks = [asyncio.ensure_future(call(meter, name, ends[name], cheap)) for name in "abc"]
        for _ in range(5):
            await asyncio.sleep(0)
        assert events == ["a starts", "b starts"]  # a third one might go beyond 2.5
        ends["a"].set()
        await tasks[0]
        for _ in range(5):
            await asyncio.sleep(0)
        assert events[2:] == ["c starts"]  # 0.1 spent and one dollar held leave room for another
        ends["b"].set()
        ends["c"].set()
        await asyncio.gather(*tasks)
        assert meter.spent.usd == pytest.approx(0.3)

    asyncio.run(asyncio.wait_for(main(), 20))


def test_a_call_that_may_not_fit_goes_alone_and_the_next_one_is_told() -> None:
    async def main() -> None:
        meter = Meter(LimitSettings(tokens=8))
        async with meter.room(ONE):
            meter.add("target", ONE)
        with pytest.raises(LimitReached, match="15 of 8"):
            async with meter.room(ONE):
                raise AssertionError

    asyncio.run(main())


def test_what_is_paid_in_flight_is_kept_before_the_cap_is_told() -> None:
    async def main() -> None:
        meter, ends = Meter(LimitSettings(calls=1)), asyncio.Event()

        async def first() -> str:
            async with meter.room(ONE):
                await ends.wait()
                meter.add("target", ONE)
                return "paid"

        async def second() -> None:
            async with meter.room(ONE):
                raise AssertionError

        tasks = [asyncio.ensure_future(first()), asyncio.ensure_future(second())]
        for _ in range(5):
            await asyncio.sleep(0)
        assert not tasks[1].done()
        ends.set()
        assert await tasks[0] == "paid"
        with pytest.raises(LimitReached, match="1 of 1"):
            await tasks[1]

    asyncio.run(asyncio.wait_for(main(), 20))


def test_a_cancelled_or_failed_call_gives_its_room_back() -> None:
    async def main() -> None:
        meter = Meter(LimitSettings(calls=1))
        for error in (asyncio.CancelledError, ValueError):
            with pytest.raises(error):
                async with meter.room(ONE):
                    raise error
        async with meter.room(ONE):
            meter.add("target", ONE)
        assert meter.spent.calls == 1

    asyncio.run(main())
