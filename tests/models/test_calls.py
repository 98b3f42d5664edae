"""The choke point: retries, backoff, timeouts, streaks, counting, cancelling."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.config import LimitSettings
from skillgit.errors import FatalModelError, LimitReached, ProviderError
from skillgit.models import base, calls
from skillgit.models.base import Reply, Usage
from skillgit.models.calls import BACKOFF_MOST, PATIENCE, STREAK, Meter, delay
from skillgit.models.limiter import Limiter
from tests.models.fakes import ASK, Hanging, Queue, Waits, busy, caller, reply


def run(one: calls.Caller, times: int = 1) -> list[Reply | BaseException]:
    """What so many calls came to, one after the other."""

    async def work() -> list[Reply | BaseException]:
        return [(await asyncio.gather(one.call(ASK), return_exceptions=True))[0] for _ in range(times)]

    return asyncio.run(work())


def test_it_is_a_model_with_the_name_of_the_one_it_wraps() -> None:
    model = Queue([reply()])
    one = caller(model)
    assert (one.name, one.fingerprint, one.is_agent) == ("openai:fake", "f", False)
    asyncio.run(one.close())
    assert model.closed == 1


def test_a_failure_that_may_pass_is_tried_again_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    model, waits = Queue([busy("busy 1"), busy("busy 2"), reply("done"), busy("busy 3"), reply("again")]), Waits()
    with caplog.at_level(logging.WARNING):
        answers = run(caller(model, sleep=waits), 2)
    assert [answer.text for answer in answers if isinstance(answer, Reply)] == ["done", "again"]
    assert (model.asked, len(waits.seconds)) == (5, 3)
    assert [record.getMessage() for record in caplog.records] == ["busy 1; trying again, up to 5 times"]


@pytest.mark.parametrize("retries", [0, 3])
def test_after_the_last_try_the_failure_is_the_items(retries: int) -> None:
    model, waits = Queue([busy()]), Waits()
    (error,) = run(caller(model, sleep=waits, retries=retries))
    assert isinstance(error, ProviderError)
    assert (model.asked, len(waits.seconds)) == (retries + 1, retries)


def test_what_will_not_pass_is_not_tried_again() -> None:
    for error in (ProviderError("bad image"), FatalModelError("no such model"), LimitReached("cap")):
        model = Queue([error])
        assert run(caller(model)) == [error]
        assert model.asked == 1


@pytest.mark.parametrize(("after", "asked"), [(PATIENCE, 2), (PATIENCE + 1, 1)])
def test_a_named_time_is_waited_for_unless_it_is_a_limit_of_the_day(after: float, asked: int) -> None:
    model, waits = Queue([busy(after=after), reply()]), Waits()
    run(caller(model, sleep=waits))
    assert model.asked == asked
    assert all(after <= seconds <= after + 1 for seconds in waits.seconds)


@given(st.integers(0, 2000), st.none() | st.floats(0, 1e6))
def test_waits_stay_under_a_doubling_ceiling_and_never_before_the_named_time(attempt: int, after: float | None) -> None:
    seconds = delay(attempt, after)
    if after is None:
        assert 0 <= seconds <= min(BACKOFF_MOST, 2**attempt)
    else:
        assert after <= seconds <= after + 1


def test_waits_differ_so_that_not_all_come_back_at_once() -> None:
    assert len({delay(3, after) for after in (None, 5.0) for _ in range(50)}) == 100


def test_a_call_that_takes_too_long_is_cancelled_and_may_pass() -> None:
    model = Hanging([])
    (error,) = run(caller(model, timeout=0.01, retries=1))
    assert isinstance(error, ProviderError)
    assert (error.message, error.hint) == ("openai:fake gave no answer within 0.01 s", "raise models.target.timeout")
    assert (error.transient, model.asked, model.open) == (True, 2, 0)


def test_like_failures_in_a_row_end_the_run_with_the_providers_words() -> None:
    numbered = [busy(f"500: broken, request req_{n}") for n in range(STREAK)]
    *before, last = run(caller(Queue(numbered), retries=0), STREAK)
    assert all(isinstance(error, ProviderError) for error in before)
    assert isinstance(last, FatalModelError)
    assert last.message == f"{STREAK} calls in a row failed alike: 500: broken, request req_9"


@pytest.mark.parametrize("between", [reply("quite wrong"), busy("something else")])
def test_an_answer_or_another_failure_ends_the_row(between: Reply | Exception) -> None:
    answers = [busy()] * (STREAK - 1) + [between] + [busy()] * (STREAK - 1)
    outcomes = run(caller(Queue(answers), retries=0), len(answers))
    assert not any(isinstance(error, FatalModelError) for error in outcomes)


def test_each_paid_attempt_is_counted_under_its_stage_with_its_price() -> None:
    told: list[tuple[str, str, Usage]] = []
    meter = Meter(LimitSettings(), listen=lambda role, usage: told.append((base.stage.get(), role, usage)))
    unpriced = Reply("x", Usage(10, 5))
    model = Queue([unpriced, busy(), reply(usd=0.25)])

    async def work() -> list[Reply]:
        one = caller(model, meter=meter)
        first = await one.call(ASK)
        base.stage.set("reflect")
        return [first, await one.call(ASK)]

    answers = asyncio.run(work())
    assert [answer.usage.usd for answer in answers] == [15.0, 0.25]
    assert told == [("other", "target", Usage(10, 5, usd=15.0)), ("reflect", "target", Usage(10, 5, usd=0.25))]
    assert meter.spent == Usage(20, 10, usd=15.25, calls=2)


def test_a_price_that_is_unknown_stays_unknown() -> None:
    meter = Meter(LimitSettings())
    run(caller(Queue([Reply("x", Usage(10, 5))]), meter=meter, usd_per_million=None))
    assert meter.spent == Usage(10, 5, usd=None, calls=1)


@pytest.mark.parametrize(
    ("limits", "paid"), [({"calls": 7}, 7), ({"tokens": 15 * 7}, 7), ({"tokens": 15 * 7 - 1}, 7), ({"usd": 15 * 7}, 7)]
)
def test_64_at_once_do_not_run_over_a_cap(limits: dict[str, Any], paid: int) -> None:
    meter, model = Meter(LimitSettings(**limits)), Queue([Reply("x", Usage(10, 5))], turns=3)

    async def work() -> list[Reply | BaseException]:
        one = caller(model, meter=meter, concurrency=64)
        return await asyncio.gather(*(one.call(ASK) for _ in range(64)), return_exceptions=True)

    outcomes = asyncio.run(work())
    name = next(iter(limits))
    assert sum(isinstance(outcome, Reply) for outcome in outcomes) == model.asked == meter.spent.calls == paid
    assert {str(error) for error in outcomes if isinstance(error, LimitReached)} == {
        f"limits.{name} is reached: {meter.spent.calls * (1 if name == 'calls' else 15)} of {limits[name]}"
    }


def test_overload_halves_what_runs_at_once_and_success_grows_it_back() -> None:
    limiter = Limiter(8)
    model = Queue([busy()] * 8 + [reply()], turns=2)

    async def work(times: int) -> None:
        one = caller(model, limiter=limiter)
        await asyncio.gather(*(one.call(ASK) for _ in range(times)))

    asyncio.run(work(8))
    assert (model.most_open, limiter.allowed) == (8, 4)
    model.most_open = 0
    asyncio.run(work(16))
    assert model.most_open == 4
    asyncio.run(work(100))
    assert limiter.allowed == 8


@pytest.mark.parametrize("model", [Hanging([]), Queue([busy(after=60)])])
def test_cancelled_calls_leave_nobody_behind(model: Queue) -> None:
    meter, limiter = Meter(LimitSettings(calls=100)), Limiter(5)

    async def work() -> None:
        before = asyncio.all_tasks()
        one = caller(model, meter=meter, limiter=limiter, sleep=asyncio.sleep)
        tasks = [asyncio.ensure_future(one.call(ASK)) for _ in range(20)]
        while model.asked < 5:
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes)
        assert asyncio.all_tasks() <= before
        assert (model.open, limiter.taken) == (0, 0)
        await caller(Queue([reply()]), meter=meter, limiter=limiter).call(ASK)

    asyncio.run(asyncio.wait_for(work(), 20))
