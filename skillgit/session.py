"""A training from outside: plan, preflight, loop, and an end in good order."""

from __future__ import annotations

import asyncio
import shlex
import signal
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from skillgit.errors import InterruptedRun
from skillgit.judging import roles
from skillgit.models import registry
from skillgit.models.base import Usage
from skillgit.models.prices import cost
from skillgit.opening import Subject, opened
from skillgit.train import train

if TYPE_CHECKING:
    from skillgit.git.repo import Repo
    from skillgit.plan import Plan
    from skillgit.report import Reporter
    from skillgit.run import Summary

T = TypeVar("T")


def run_training(
    repo: Repo, name: str, reporter: Reporter, *, overrides: Sequence[str] = (), new_run: bool = False, start: str = ""
) -> Summary:
    """Train a skill, or go on with a training that was interrupted.

    Raises the expected errors of :mod:`skillgit.errors`; after each of them, and after a kill, the same command goes on.
    """
    subject = Subject.load(repo, name, overrides)
    before = subject.history.journal.tip()

    def again() -> str:
        begun = subject.history.journal.tip() != before
        options = [word for option in overrides for word in ("-o", option)]
        return shlex.join(["skillgit", "train", name, *options, *(["--new-run"] if new_run and not begun else [])])

    return interruptible(_train(subject, reporter, new_run, start), hint=again)


async def _train(subject: Subject, reporter: Reporter, new_run: bool, start: str) -> Summary:
    async with opened(subject, reporter, new_run=new_run, start=start) as run:
        if not run.complete:
            reporter.plan(priced(subject))
            await run.preflight()
        return await train(run)


def plan_training(repo: Repo, name: str, *, overrides: Sequence[str] = ()) -> Plan:
    """What a run from the start would take; nothing is spent and nothing is locked."""
    subject = Subject.load(repo, name, overrides)
    for role, settings in roles(subject.env).items():
        registry.create(settings, role)
    return priced(subject)


def priced(subject: Subject) -> Plan:
    """The plan with its expected cost."""
    plan = subject.plan()
    for role, settings in roles(subject.env).items():
        # one call at a time, since long prompts may cost more for each token
        costs = [
            _times(row.calls, cost(settings, Usage(row.input_tokens, row.output_tokens)))
            for row in plan.rows
            if row.role == role
        ]
        known = [one for one in costs if one is not None]
        plan.usd[role] = sum(known) if len(known) == len(costs) else None
    return plan


def _times(calls: int, usd: float | None) -> float | None:
    return None if usd is None else calls * usd


def interruptible(work: Coroutine[Any, Any, T], *, hint: str | Callable[[], str]) -> T:
    """Run to the end; Ctrl-C, SIGTERM and a closed terminal cancel what is in flight and become InterruptedRun.

    ``hint`` is the command to go on. Under nohup, a closed terminal changes nothing.
    """

    async def main() -> T:
        task = asyncio.ensure_future(work)
        with suppress(NotImplementedError, RuntimeError, AttributeError):  # Windows, or not the main thread
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGTERM, task.cancel)
            if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
                loop.add_signal_handler(signal.SIGHUP, task.cancel)
        return await task

    try:
        return asyncio.run(main())
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise InterruptedRun(
            "interrupted; every finished step and every paid result is kept",
            hint=hint if isinstance(hint, str) else hint(),
        ) from None
