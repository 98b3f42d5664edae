"""Trains the world's skill in a process of its own, which ends itself where it is told: ``killed.py REPOSITORY LOG``.

``KILL_AT_CALL=n`` ends it at the start of the n-th model call, ``KILL_AFTER_ENTRY=n`` right after the n-th journal entry.
Each call is logged when it starts and when it ends, by a hash of what was asked.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from pathlib import Path
from typing import Any

from skillgit import recorder
from skillgit.git.publish import publish
from skillgit.git.repo import Repo
from skillgit.models import registry
from skillgit.models.base import Reply, Request
from skillgit.report import Silent
from skillgit.session import run_training
from tests.world import Scripted, World


def main(repository: str, log: Path) -> None:
    at_call, after_entry = (int(os.environ.get(name, "0")) for name in ("KILL_AT_CALL", "KILL_AFTER_ENTRY"))
    done = {"calls": 0, "entries": 0}

    def say(text: str) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")

    def watched(model: Scripted) -> Scripted:
        original = model.call

        async def call(request: Request) -> Reply:
            done["calls"] += 1
            key = hashlib.sha256(repr((model.name, request.messages, request.sample)).encode()).hexdigest()[:16]
            say(f"start {key}")
            if done["calls"] == at_call:
                os.kill(os.getpid(), signal.SIGKILL)
            reply = await original(request)
            say(f"end {key}")
            return reply

        model.call = call  # type: ignore[method-assign]
        return model

    def published(*arguments: Any) -> str:
        entry = publish(*arguments)
        done["entries"] += 1
        if done["entries"] == after_entry:
            os.kill(os.getpid(), signal.SIGKILL)
        return entry

    world = World()
    watched(world.target), watched(world.optimizer)
    registry.create = world.create  # type: ignore[assignment]
    recorder.publish = published
    calm = ["models.target.concurrency=1", "reflect.concurrency=1"]
    with Repo.discover(repository) as repo:
        run_training(repo, "demo", Silent(), overrides=calm)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
