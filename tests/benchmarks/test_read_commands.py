"""The read commands on a training of 10,000 steps: little slower than on one of four, in bounded memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.long_history import lengthen
from tests.commands.conftest import trained, untrained

__all__ = ["trained", "untrained"]

READ = (
    *("status demo", "log demo", "log demo -n 20 --json", "log demo --rejected", "log demo --graph", "show demo"),
    *("show demo@step-1", "blame demo", "diff demo@step-1 demo@best", "rejected demo", "runs demo", "export demo"),
)
MEASURE = """
import resource, subprocess, sys, time
best = 1e9
for _ in range(3):
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "skillgit", *sys.argv[1:]], check=True, stdout=-3, stderr=-3)
    best = min(best, time.perf_counter() - began)
print(best, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
"""
"""Prints seconds and peak MB of a command line; a process of its own, as a child's peak begins with its parent's."""


def measured(folder: Path, command: str) -> tuple[float, float]:
    line = [sys.executable, "-c", MEASURE, "-C", str(folder), *command.split()]
    seconds, megabytes = subprocess.run(line, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), float(megabytes)


@pytest.mark.benchmark
@pytest.mark.skipif(sys.platform == "win32", reason="no resource usage of children")
def test_reading_ten_thousand_steps(trained: Path) -> None:
    short = {command: measured(trained, command)[0] for command in READ}
    lengthen(trained)
    found = {command: measured(trained, command) for command in READ}
    for command, (seconds, megabytes) in found.items():
        times = seconds / short[command]
        print(f"{command:<27} {seconds:.2f} s, {times:.1f} times as on four steps, {megabytes:.0f} MB")
    assert [command for command, (seconds, _) in found.items() if seconds > 3 * short[command]] == []
    assert [command for command, (_, megabytes) in found.items() if megabytes > 150] == []
