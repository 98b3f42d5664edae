"""Command lines, run in this process as a person would type them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skillgit.__main__ import main

Captured = pytest.CaptureFixture[str]


def run(capsys: Captured, *arguments: str, code: int = 0) -> str:
    """What a command prints on stdout."""
    assert main(arguments) == code, capsys.readouterr()
    return capsys.readouterr().out


def run_json(capsys: Captured, *arguments: str, code: int = 0) -> Any:
    """The one JSON document that a command prints."""
    return json.loads(run(capsys, *arguments, "--json", code=code))
