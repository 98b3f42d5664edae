"""The choke point over real SDKs and sockets: many calls at once, overload, time, and an end in the middle."""

from __future__ import annotations

import asyncio
import gc
import threading

import pytest

from skillgit.config import LimitSettings
from skillgit.errors import ProviderError
from skillgit.models import registry
from skillgit.models.base import Reply
from skillgit.models.calls import Caller, Meter
from tests.models.asking import ASK, BACKENDS, settings_for
from tests.models.fakes import Waits
from tests.servers.scripted import Call, Fail, Say, Server

pytestmark = [pytest.mark.usefixtures("keys"), pytest.mark.parametrize("model", BACKENDS)]


def test_64_calls_survive_a_provider_that_is_overloaded(model: str) -> None:
    lock, counted = threading.Lock(), iter(range(10**6))

    def answer(call: Call) -> str | Fail:
        with lock:
            return Fail(429, "slow down", {"retry-after": "2"}) if next(counted) % 3 == 0 else "ok"

    async def work(server: Server) -> list[Reply]:
        given = settings_for(model, server, concurrency=64, retries=50, usd_per_million=(1, 1))
        one = Caller(registry.create(given, "target"), given, meter, "target", sleep=waits)
        try:
            return await asyncio.gather(*(one.call(ASK) for _ in range(64)))
        finally:
            await one.close()

    meter, waits = Meter(LimitSettings()), Waits()
    with Server(answer, latency=0.01) as server:
        replies = asyncio.run(work(server))
    assert [reply.text for reply in replies] == ["ok"] * 64
    assert (meter.spent.calls, meter.spent.input_tokens) == (64, 64 * 20)
    assert len(waits.seconds) == len(server.requests) - 64 > 0
    assert all(2 <= seconds <= 3 for seconds in waits.seconds)


def test_a_call_that_takes_too_long_is_given_up(model: str) -> None:
    async def work(server: Server) -> None:
        given = settings_for(model, server, timeout=0.2, retries=0)
        one = Caller(registry.create(given, "target"), given, Meter(LimitSettings()), "target")
        try:
            await one.call(ASK)
        finally:
            await one.close()

    with Server(lambda call: Say("late", delay=30)) as server, pytest.raises(ProviderError) as caught:
        asyncio.run(work(server))
    assert caught.value.transient


def test_calls_cancelled_in_flight_leave_no_task_no_socket_and_no_room_taken(model: str) -> None:
    async def work(server: Server) -> None:
        before = asyncio.all_tasks()
        given = settings_for(model, server, concurrency=32)
        one = Caller(registry.create(given, "target"), given, meter, "target")
        tasks = [asyncio.ensure_future(one.call(ASK)) for _ in range(64)]
        while server.open < 32:
            await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes)
        await one.close()
        await asyncio.sleep(0)
        assert asyncio.all_tasks() <= before

    meter = Meter(LimitSettings(calls=40))
    with Server(lambda call: Say("late", delay=60)) as server:
        asyncio.run(asyncio.wait_for(work(server), 60))
        assert len(server.requests) == 32
    assert meter.spent.calls == 0
    gc.collect()  # an open socket would warn here, and warnings are errors
