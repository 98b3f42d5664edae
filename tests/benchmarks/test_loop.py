"""What skillgit adds to the time of its model calls, and what it keeps in memory."""

from __future__ import annotations

import asyncio
import gc
import json
import math
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from skillgit import recorder
from skillgit.git.publish import publish
from skillgit.git.repo import Repo
from skillgit.models.base import Reply, Request
from skillgit.report import Silent
from skillgit.session import run_training
from tests import world
from tests.world import Scripted, World

LATENCY, CONCURRENCY, SELECTION, BATCH, STEPS = 0.2, 32, 160, 40, 3
ATTEMPTS = 3
"""Whatever else the machine does only adds to the time, so the best run is the one that tells."""


class Slow(Scripted):
    """Answers after a fixed time."""

    async def call(self, request: Request) -> Reply:
        await asyncio.sleep(LATENCY)
        return await super().call(request)


class Watched(Silent):
    """Counts the calls of each stage, so that the time that they need can be worked out."""

    def __init__(self, both: World) -> None:
        self.world = both
        self.counts: list[tuple[str, int, int]] = []

    def stage(self, name: str, total: int) -> None:
        self.counts.append((name, len(self.world.target.asked), len(self.world.optimizer.asked)))


def improving(request: Request) -> str:
    """Proposes rules only, so that every step is accepted and the gate, which may stop early, evaluates each in full."""
    answer = json.loads(world.optimizer(request)) if request.context.get("stage") == "reflect" else {}
    if not answer:
        return world.optimizer(request)
    return json.dumps({**answer, "edits": [edit for edit in answer["edits"] if "POISON" not in edit["content"]]})


def critical_path(counts: list[tuple[str, int, int]], end: tuple[int, int]) -> float:
    """Stages follow each other; within one, target calls come in waves. Merges come level after level: two, then one."""
    seconds = 0.0
    for (name, target, optimizer), (_, later, more) in zip(counts, [*counts[1:], ("", *end)], strict=True):
        waves = math.ceil((later - target) / CONCURRENCY)
        asked = more - optimizer
        levels = 0 if not asked else 2 if name == "aggregate" and asked > 1 else 1
        seconds += (waves + levels) * LATENCY if name != "preflight" else 2 * LATENCY
    return seconds


@pytest.mark.benchmark
def test_wall_time_over_the_critical_path_of_the_calls(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    env = {
        **world.ENV,
        "models": {
            "target": {"model": "openai:world", "concurrency": CONCURRENCY},
            "optimizer": {"model": "openai:world-optimizer", "concurrency": CONCURRENCY},
        },
        "train": {"epochs": 1, "batch_size": BATCH},
        "reflect": {"minibatch_size": 8},
        "slow_update": {"enabled": False},
        "meta_skill": {"enabled": False},
    }
    found = []
    for attempt in range(ATTEMPTS):
        tasks = world.tasks(BATCH * STEPS, SELECTION, SELECTION)
        root = repo("demo", folder=str(attempt), skill=world.SKILL, env=env, tasks=tasks)
        found.append(measured(root, monkeypatch))
        if found[-1].wall < 1.10:
            break
    best = min(found, key=lambda one: one.wall)
    print(
        f"\nover the critical path of the calls: wall time {best.wall:.3f}, our CPU time {best.cpu:.3f}, git {best.git:.3f}"
    )
    # on a busy or slow machine the wall time tells what others do, and the same work of ours takes up to half as long again
    assert best.wall < 1.10 or best.cpu < 0.15
    # the aim is 0.01; half of it is waiting for the disk, which makes a step safe before a ref names it
    assert min(one.git for one in found) < 0.03


class Ratios(NamedTuple):
    """Seconds of a run over the critical path of its calls: wall time, CPU time of this process, wall time of git work."""

    wall: float
    cpu: float
    git: float


def measured(root: Path, monkeypatch: pytest.MonkeyPatch) -> Ratios:
    """One run with two models that only wait."""
    both = World(Slow("openai:world", world.target), Slow("openai:world-optimizer", improving))
    both.install(monkeypatch)
    spent = [0.0]

    def timed(*arguments: Any) -> str:
        began = time.perf_counter()
        entry = publish(*arguments)
        spent[0] += time.perf_counter() - began
        return entry

    monkeypatch.setattr(recorder, "publish", timed)
    watch = Watched(both)
    with Repo.discover(root) as opened:
        began, worked = time.perf_counter(), time.process_time()
        summary = run_training(opened, "demo", watch)
        wall, cpu = time.perf_counter() - began, time.process_time() - worked
    assert summary.counts["accept_new_best"] == STEPS
    path = critical_path(watch.counts, (len(both.target.asked), len(both.optimizer.asked)))
    return Ratios(wall / path, cpu / path, spent[0] / path)


@pytest.mark.benchmark
@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is read from POSIX's getrusage")
def test_memory_is_flat_over_200_steps(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    env = {
        **world.ENV,
        "train": {"epochs": 100, "batch_size": 6},
        "slow_update": {"enabled": False},
        "meta_skill": {"enabled": False},
        "eval": {"test": False},
    }
    root = repo("demo", skill=world.SKILL, env=env, tasks=world.tasks())
    forgetful = World()
    forgetful.install(monkeypatch)
    held: list[int] = []

    class Watch(Silent):
        def entry(self, record: Mapping[str, Any], spend: Mapping[str, Any]) -> None:
            forgetful.target.asked.clear()
            forgetful.optimizer.asked.clear()
            if record["kind"] == "step" and record["step"] % 50 == 0:
                gc.collect()
                import resource

                held.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

    with Repo.discover(root) as opened:
        run_training(opened, "demo", Watch())
    print(f"\npeak memory after steps 50, 100, 150, 200: {[round(size / 1024) for size in held]} MB")
    assert len(held) == 4
    assert held[3] / held[0] < 1.05
