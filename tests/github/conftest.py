from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from tests import world
from tests.github.hub import Hub
from tests.world import World


@pytest.fixture
def hub(repo: Callable[..., Path], tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Hub:
    author = repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks(), folder="author")
    World().install(monkeypatch)
    return Hub(tmp_path, author, httpserver, monkeypatch)
