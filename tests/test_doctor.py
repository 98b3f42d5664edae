from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.doctor import examine
from skillgit.models import registry
from tests.models.asking import KEY


def test_providers_that_are_not_set_up_are_one_row_and_a_key_alone_is_not_tried_on_any_model(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key may be good for one region and one model only; a wrong guess of ours is no fault of the user's."""
    monkeypatch.chdir(repo())
    monkeypatch.setenv("MINIMAX_API_KEY", KEY)
    rows = {row.what: row for row in examine()}
    assert (rows["minimax"].state, rows["minimax-cn"].detail) == ("ok", "ready: MINIMAX_API_KEY")
    assert rows["providers"].state == "ok"
    for provider in ("openai", "anthropic", "qwen", "deepseek"):
        assert provider in rows["providers"].detail
        assert provider not in rows
    assert set(registry.backends()) >= {"azure", "handoff", "replay"}
