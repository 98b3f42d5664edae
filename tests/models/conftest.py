"""Keys for the backends that need one."""

from __future__ import annotations

import pytest

from tests.models.asking import KEY


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)
