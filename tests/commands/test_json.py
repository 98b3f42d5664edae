"""What --json prints is one document, with the keys that the command's help promises."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from skillgit.__main__ import COMMANDS
from tests.commands.running import Captured, run, run_json


def promised(capsys: Captured, command: str) -> set[str]:
    """The keys in the first braces after "JSON:" in a command's help."""
    text = " ".join(run(capsys, command, "--help").split())
    match = re.search(r"JSON: [^{]*\{([^}]*)\}", text)
    assert match, text
    return set(match[1].split(", "))


def keys(data: Any) -> set[str]:
    return set((data[0] if isinstance(data, list) else data).keys())


@pytest.mark.parametrize(
    "line",
    [
        "train demo --quiet",
        "eval demo",
        "log demo",
        "show demo",
        "show demo@step-1",
        "diff demo@base demo",
        "rejected demo",
        "status demo",
        "status",
        "export demo",
        "config demo",
        "models",
        "envs",
        "doctor",
        "init other",
        "tasks check demo",
    ],
)
def test_the_keys_are_those_of_the_help(trained: Path, capsys: Captured, line: str) -> None:
    arguments = line.split()
    assert keys(run_json(capsys, *arguments)) == promised(capsys, arguments[0])


def test_a_sound_history_has_no_findings(trained: Path, capsys: Captured) -> None:
    assert run_json(capsys, "fsck", "demo") == []


def test_every_command_has_json_but_the_demo(capsys: Captured) -> None:
    without = [name for name in COMMANDS if "--json" not in run(capsys, name, "--help")]
    assert without == ["demo"]


def test_every_help_has_an_example(capsys: Captured) -> None:
    for name in COMMANDS:
        assert re.search(r"Example: .*skillgit", run(capsys, name, "--help")), name
