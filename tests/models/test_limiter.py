from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from skillgit.config import ModelSettings
from skillgit.models.limiter import RECOVERY, Limiter, Limiters


def test_slots_are_given_in_the_order_of_asking() -> None:
    order: list[int] = []

    async def work(limiter: Limiter, number: int) -> None:
        async with limiter.slot():
            order.append(number)
            await asyncio.sleep(0)

    async def main() -> None:
        limiter = Limiter(2)
        await asyncio.gather(*(work(limiter, number) for number in range(9)))
        assert limiter.taken == 0

    asyncio.run(main())
    assert order == list(range(9))


def test_calls_of_one_overload_halve_it_once_and_it_never_falls_below_one() -> None:
    async def main() -> None:
        limiter = Limiter(8)
        for allowed in (4, 2, 1, 1):
            async with limiter.slot() as halvings:
                for _ in range(5):
                    limiter.overloaded(halvings)
            assert limiter.allowed == allowed

    asyncio.run(main())


def test_it_grows_back_slowly_and_not_beyond_the_setting() -> None:
    limiter = Limiter(2)
    limiter.overloaded(0)
    for _ in range(RECOVERY - 1):
        limiter.succeeded()
    assert limiter.allowed == 1
    for _ in range(3 * RECOVERY):
        limiter.succeeded()
    assert limiter.allowed == 2


@pytest.mark.parametrize("release_first", [True, False])
def test_one_who_is_cancelled_while_waiting_passes_the_turn_on(release_first: bool) -> None:
    async def wait(limiter: Limiter) -> str:
        async with limiter.slot():
            return "had it"

    async def main() -> None:
        limiter = Limiter(1)
        async with AsyncExitStack() as held:
            await held.enter_async_context(limiter.slot())
            impatient, patient = (asyncio.ensure_future(wait(limiter)) for _ in range(2))
            await asyncio.sleep(0)
            if release_first:  # its turn has come, and it is cancelled before it runs
                await held.aclose()
                impatient.cancel()
            else:  # it is cancelled, and its turn comes before it runs
                impatient.cancel()
                await held.aclose()
        with pytest.raises(asyncio.CancelledError):
            await impatient
        assert await asyncio.wait_for(patient, 5) == "had it"
        assert limiter.taken == 0

    asyncio.run(main())


def test_roles_on_one_address_share_a_limiter_with_the_larger_setting() -> None:
    limiters = Limiters()
    small = limiters.get(ModelSettings(model="openai:a", concurrency=4))
    assert limiters.get(ModelSettings(model="openai:b", concurrency=16)) is small
    assert limiters.get(ModelSettings(model="openai:c", concurrency=2)) is small
    assert (small.most, small.allowed) == (16, 16)
    elsewhere = ModelSettings(model="openai:a", base_url="http://localhost:1")
    assert limiters.get(elsewhere) is not small
    assert limiters.get(ModelSettings(model="anthropic:a")) is not small
