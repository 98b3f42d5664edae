"""A real repository with a skill, as it is before and after a training."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.__main__ import main
from tests import world
from tests.world import World


@pytest.fixture
def untrained(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    root = repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks())
    World().install(monkeypatch)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def trained(untrained: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["train", "demo", "--quiet"]) == 0
    capsys.readouterr()
    return untrained
