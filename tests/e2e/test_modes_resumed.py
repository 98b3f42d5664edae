"""A run that broke off ends as one that did not, in every mode of updating."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import FatalModelError, SkillgitError
from skillgit.models.base import Reply, Request
from tests import world
from tests.e2e.interruptions import outcome
from tests.e2e.test_settings import optimizer
from tests.e2e.training import Training
from tests.world import Scripted, World


@dataclass
class Failing(Scripted):
    """Fails for good at one call, as with a key that ran out."""

    at: int = 0
    seen: list[int] = field(default_factory=list)

    async def call(self, request: Request) -> Reply:
        self.seen.append(1)
        if len(self.seen) == self.at:
            raise FatalModelError("the key ran out")
        return await super().call(request)


@pytest.mark.parametrize(
    "options",
    [
        ("edits.mode=rewrite_from_suggestions",),
        ("edits.mode=full_rewrite_minibatch",),
        ("reflect.skill_aware=true", "appendix.consolidate_above=1"),
        ("reflect.skill_aware=true", "appendix.gate=forced", "slow_update.acceptance=forced"),
        ("slow_update.pairs=changed", "slow_update.samples=3", "gate.policy=off"),
        ("edits.max_tokens=60", "gate.contamination=reject", "gate.salvage=2"),
    ],
)
def test_a_run_that_broke_off_goes_on(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    """Once for each of the optimizer's calls."""

    def run(folder: str, at: int) -> tuple[dict[str, Any], int]:
        root = repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks(), folder=folder)
        done = Training(root, monkeypatch)
        model = Failing("openai:o", optimizer, at=at)
        if at:
            with pytest.raises(SkillgitError, match="the key ran out"):
                done.run(*options, world=World(optimizer=model), proven=False)
        done.run(*options, world=World(optimizer=model))
        return outcome(root), len(model.seen)

    whole, calls = run("whole", 0)
    for at in range(1, calls + 1, 3):
        assert run(f"broken-{at}", at)[0] == whole, at
