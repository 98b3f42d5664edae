"""The first five minutes: a real model, a real training, a score on unseen tasks that really rises."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repos import git

pytest.importorskip("xllamacpp", reason="the runtime of the embedded model is not installed")


@pytest.mark.model
def test_the_demo_learns_on_this_machine(tmp_path: Path) -> None:
    root = tmp_path / "demo"
    command = [sys.executable, "-m", "skillgit", "demo", "--dir", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=1500, check=False)
    assert done.returncode == 0, done.stderr
    print(done.stdout)

    status = subprocess.run(
        [sys.executable, "-m", "skillgit", "status", "dates", "--json"],
        cwd=root,
        capture_output=True,
        check=True,
        timeout=60,
    )
    test = json.loads(status.stdout)["test"]
    assert test["initial"]["hard"] <= 0.1
    assert test["best"]["hard"] >= 0.6
    assert test["best"]["interval"][0] > test["initial"]["interval"][1]
    assert git(root, "log", "--format=%s", "main..skill/dates").count("dates: ") >= 2
    fsck = subprocess.run(
        [sys.executable, "-m", "skillgit", "fsck", "dates"], cwd=root, capture_output=True, text=True, timeout=60
    )
    assert (fsck.returncode, fsck.stdout.strip()) == (0, "dates: clean")
