"""Start-up is part of the interface."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import pytest

MODULES = ("typer", "pydantic", "rich", "openai", "anthropic", "git", "yaml")


def seconds(*arguments: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


@pytest.mark.benchmark
def test_help_takes_less_than_five_times_an_empty_python() -> None:
    ratios = [seconds("-m", "skillgit", "--help") / seconds("-c", "pass") for _ in range(9)]
    print(f"skillgit --help / python -c pass: {statistics.median(ratios):.2f}")
    assert statistics.median(ratios) < 5


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from skillgit.__main__ import main; main(['--help']); "
        f"sys.exit(', '.join(m for m in {MODULES!r} if m in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["train", "log", "config"])
def test_a_command_imports_no_sdk_before_it_is_needed(command: str) -> None:
    code = (
        f"import sys; from skillgit.__main__ import main; main(['{command}', '--help']); "
        "sys.exit(', '.join(m for m in ('openai', 'anthropic', 'xllamacpp') if m in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
