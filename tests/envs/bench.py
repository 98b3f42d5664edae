"""What the tests of the benchmark environments share: where real samples lie, and a whole training on them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skillgit import env, scaffold
from skillgit.env_file import load_module
from skillgit.git.repo import Repo
from skillgit.models.base import Reply, Request
from skillgit.preparing import prepare
from skillgit.sources import Source
from tests import world
from tests.e2e.training import Training
from tests.repos import git
from tests.world import Scripted, World

BENCHDATA = Path(os.environ.get("SKILLGIT_BENCHDATA") or Path(__file__).parents[3] / "shared" / "benchdata")
LESSON = "LESSON: read to the end."
QUICK = ("train.epochs=1", "meta_skill.enabled=false", "slow_update.enabled=false", "gate.early_stop=false")

needs_benchdata = pytest.mark.skipif(not BENCHDATA.is_dir(), reason="the shared sample data is not here")
Target = Callable[[Request], "str | Reply"]


def module(name: str, file: str = "env.py") -> Any:
    """A Python file of a bundled environment."""
    return load_module(env.bundled()[name] / file)


def cases(name: str) -> Any:
    """What the paper's scorer gave."""
    return json.loads((BENCHDATA / name / "scoring_cases.json").read_text(encoding="utf-8"))


def optimizer(request: Request) -> str:
    """Propose the one lesson whenever something failed."""
    context = request.context
    if context.get("stage") == "reflect" and context["kind"] == "failure":
        rows = context["trajectories"]
        edit = {"op": "append", "target": None, "content": LESSON, "title": "teach", "reasoning": "seen"}
        edit["task_ids"] = [row["id"] for row in rows]
        return json.dumps({"patterns": [], "reasoning": "it failed", "edits": [edit]})
    if context.get("stage") == "reflect":
        return json.dumps({"patterns": [], "reasoning": "fine", "edits": []})
    return world.optimizer(request)


@dataclass
class Trained:
    """A training that ended: its journal, the models, and what the optimizer was shown of the failures."""

    training: Training
    world: World
    root: Path

    @property
    def shown(self) -> str:
        asked = self.world.optimizer.asked
        failures = [request for request in asked if request.context.get("kind") == "failure"]
        return "\n".join(message.content for request in failures for message in request.messages)


def made(name: str, root: Path, source: Path | None = None) -> Path:
    """A repository with the environment as the skill ``demo``, prepared from a source if one is given; the skill's folder."""
    root.mkdir()
    git(root, "init", "-q")
    with Repo.discover(root) as repo:
        scaffold.init(repo, "demo", env=name)
    folder = root / "skills" / "demo"
    if source:
        prepare(env.bundled()[name], Source(source, folder))
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Start")
    return folder


def train(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    target: Target,
    source: Path | None = None,
    *options: str,
) -> Trained:
    """One epoch in one batch against scripted models; on the prepared tasks if a source is given."""
    root = tmp_path / "repo"
    made(name, root, source)

    def answer(request: Request) -> str | Reply:
        return "ready" if request.context.get("stage") == "ping" else target(request)

    models = World(Scripted("openai:world", answer), Scripted("openai:world-optimizer", optimizer))
    training = Training(root, monkeypatch)
    where = ["tasks=data/tasks.jsonl"] if source else []
    training.run(
        *QUICK, "models.target=openai:world", "models.optimizer=openai:world-optimizer", *where, *options, world=models
    )
    return Trained(training, models, root)
