"""The example in CONTRIBUTING.md is installed as it stands there, and run."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from skillgit.config import ModelSettings
from skillgit.models import registry
from skillgit.models.base import Model
from tests import world
from tests.commands.running import Captured, run, run_json
from tests.models.asking import ASK

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The only code block in a language."""
    (code,) = re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    return str(code)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module and its entry point, as pip would leave them."""
    (entry,) = re.findall(r'^(\w+) = "([\w.:]+)"$', block("toml"), re.MULTILINE)
    assert '[project.entry-points."skillgit.models"]' in block("toml")
    folder = tmp_path / "site"
    info = folder / "shouting-1.dist-info"
    info.mkdir(parents=True)
    (folder / "shouting.py").write_text(block("python"), encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[skillgit.models]\n{} = {}\n".format(*entry), encoding="utf-8")
    monkeypatch.syspath_prepend(folder)


def test_the_example_is_a_backend_of_about_20_lines(installed: None, capsys: Captured) -> None:
    model = registry.create(ModelSettings(model="shouting:loud"), "optimizer")
    assert isinstance(model, Model)
    assert (model.name, model.fingerprint) == ("shouting:loud", "shouting 1 loud")
    assert asyncio.run(model.call(ASK)).text == "HELLO"
    assert sum(bool(line.strip()) for line in block("python").splitlines()) <= 20
    assert "shouting:loud" in run(capsys, "models")


def test_it_does_the_tasks_of_an_evaluation(
    installed: None, repo: Any, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    tasks = world.tasks()
    for task in tasks:
        task["answer"] = task["input"].upper() if task["input"].startswith("rule 0") else "no"
    monkeypatch.chdir(repo("demo", skill=world.SKILL, env=world.ENV, tasks=tasks))
    result = run_json(capsys, "eval", "demo", "-o", "models.target.model=shouting:loud")
    assert result["target"].startswith("shouting:loud")
    assert (result["scores"]["hard"], result["scores"]["n"]) == (pytest.approx(2 / 12, abs=1e-6), 12)  # rules 0 of 12
    assert (result["spend"]["calls"], result["spend"]["usd"]) == (12, 0.0)
