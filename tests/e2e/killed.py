"""Trains the world's skill in a process of its own, which ends itself where its environment tells it to.

At the n-th of some moments it sends itself a signal, SIGKILL unless ``SEND`` names another one::

    KILL_AT_CALL        the start of a model call         KILL_IN_STAGE=gate    ... of this stage only (the first)
    KILL_BEFORE_ENTRY   before a publication              KILL_AFTER_ENTRY      after it
    KILL_BEFORE_REFS    before its refs move              KILL_AFTER_REFS       after that, before anything follows

``HOLD=PATH`` makes it wait in its first call until there is a file PATH.go, and make PATH.held before. ``SKILL`` names
another skill than ``demo``; ``OPTIONS`` are settings, ``MORE`` other arguments, a word each. ``JITTER`` makes calls take
a random time, so that those in flight end in another order in each process. Each call is logged when it starts and when
it ends: its stage, and a hash of what was asked.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from skillgit import recorder
from skillgit.__main__ import main as skillgit
from skillgit.git.transaction import Transaction
from skillgit.models import base, registry
from skillgit.models.base import Reply, Request
from tests.world import Scripted, World

ONE_BY_ONE = "models.target.concurrency=1 models.optimizer.concurrency=1 reflect.concurrency=1"
seen: Counter[str] = Counter()


def moment(name: str) -> None:
    """One of the moments above has come."""
    seen[name] += 1
    if seen[name] == int(os.environ.get(f"KILL_{name}", "0")):
        end()


def end() -> None:
    os.kill(os.getpid(), getattr(signal, os.environ.get("SEND", "SIGKILL")))


def around(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
    def both(*arguments: Any, **options: Any) -> Any:
        moment(f"BEFORE_{name}")
        result = work(*arguments, **options)
        moment(f"AFTER_{name}")
        return result

    return both


def watched(model: Scripted, log: Path) -> None:
    original = model.call

    def say(what: str, key: str) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{what} {key} {base.stage.get()}\n")

    async def call(request: Request) -> Reply:
        if hold := os.environ.pop("HOLD", ""):
            Path(f"{hold}.held").touch()
            while not Path(f"{hold}.go").exists():
                await asyncio.sleep(0.01)
        key = hashlib.sha256(repr((model.name, request.messages, request.sample)).encode()).hexdigest()[:16]
        say("start", key)
        moment("AT_CALL")
        if base.stage.get() == os.environ.get("KILL_IN_STAGE"):
            end()
        if "JITTER" in os.environ:
            await asyncio.sleep(random.random() / 200)
        reply = await original(request)
        say("end", key)
        return reply

    model.call = call  # type: ignore[method-assign]


def main(repository: str, log: Path) -> int:
    world = World()
    watched(world.target, log)
    watched(world.optimizer, log)
    registry.create = world.create  # type: ignore[assignment]
    recorder.publish = around("ENTRY", recorder.publish)
    Transaction.commit = around("REFS", Transaction.commit)  # type: ignore[method-assign]
    options = os.environ.get("OPTIONS", ONE_BY_ONE).split()
    train = ["train", os.environ.get("SKILL", "demo"), *os.environ.get("MORE", "").split()]
    return skillgit(["-C", repository, *train, "--quiet", *(word for one in options for word in ("-o", one))])


def child(env: Mapping[str, str], said: Path, repository: str, log: Path) -> None:
    """What the process does: its output goes to the file ``said``, its exit code is the command's."""
    os.environ.clear()
    os.environ.update(env)
    with said.open("w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.exit(main(repository, log))
