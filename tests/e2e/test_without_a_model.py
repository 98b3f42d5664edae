"""Whole trainings by files: answered by hand between the runs, and answered again from a recording."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.__main__ import main
from skillgit.models import registry
from skillgit.models.base import Message, Request
from tests import world
from tests.commands.running import Captured, run
from tests.e2e.over_http import CALLS, LEARNED, LESSON, OPTIONS, at, serve
from tests.repos import git
from tests.servers.scripted import Server


@pytest.fixture
def root(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks())
    monkeypatch.chdir(folder)
    return folder


def train(capsys: Captured, *options: str, code: int = 0) -> str:
    words = [word for option in (*OPTIONS, *options) for word in ("-o", option)]
    return run(capsys, "train", "demo", "--quiet", *words, code=code)


def learned(root: Path) -> str:
    return git(root, "show", "skill/demo:skills/demo/SKILL.md")


def answer_all(folder: Path) -> int:
    """What a person does between two runs; says how many calls there were to answer."""
    pending = [path for path in folder.glob("*.request.json") if not _answered(path).exists()]
    for path in pending:
        data = json.loads(path.read_text(encoding="utf-8"))
        request = Request(tuple(Message(m["role"], m["content"]) for m in data["messages"]))
        text = json.dumps(LESSON) if "schema" in data else world.target(request)
        _answered(path).write_text(text, encoding="utf-8")
    return len(pending)


def _answered(request: Path) -> Path:
    return request.with_name(request.name.replace(".request.json", ".answer.md"))


def test_a_training_without_any_model(root: Path, capsys: Captured, tmp_path: Path) -> None:
    """Baseline 12 selection tasks, a batch of 12, one reflection, 12 for the gate; then 12 tests of each of two texts."""
    folder = tmp_path / "calls"
    both = (f"models.target.model=handoff:{folder}", f"models.optimizer.model=handoff:{folder}")
    one_by_one = "models.target.concurrency=1"
    for pending in (12, 12, 1, 12, 12, 12):
        train(capsys, *both, one_by_one, code=4)
        assert answer_all(folder) == pending
    train(capsys, *both, one_by_one)
    assert learned(root).endswith(LEARNED)
    assert answer_all(folder) == 0


def test_all_reflections_of_a_step_are_asked_at_once(root: Path, capsys: Captured, tmp_path: Path) -> None:
    """10 of 12 tasks fail; in minibatches of 3 they take 4 calls, however few may run at once."""
    folder = tmp_path / "calls"
    both = [f"models.{role}.model=handoff:{folder}" for role in registry.BOTH]
    for pending in (12, 12, 4):
        train(capsys, *both, "reflect.minibatch_size=3", "reflect.concurrency=1", code=4)
        assert answer_all(folder) == pending


def test_all_repeats_of_a_task_are_asked_at_once(root: Path, capsys: Captured, tmp_path: Path) -> None:
    folder = tmp_path / "calls"
    words = ["eval", "demo", "--repeats", "3", "-o", f"models.target.model=handoff:{folder}"]
    assert main(words) == 4
    assert answer_all(folder) == 36
    capsys.readouterr()
    assert main(words) == 0


def test_the_last_line_says_what_to_do(root: Path, capsys: Captured, tmp_path: Path) -> None:
    assert main(["eval", "demo", "-o", f"models.target.model=handoff:{tmp_path / 'calls'}"]) == 4
    said = capsys.readouterr().err
    assert f"12 calls wait for an answer in {tmp_path / 'calls'}" in said
    assert re.search(r"HASH\.answer\.md, then run the same command again", said)


def test_a_recorded_training_is_replayed_without_its_models(
    repo: Callable[..., Path], root: Path, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = tmp_path / "calls.jsonl"
    with Server(serve) as server:
        train(capsys, *at(server), *(f"models.{role}.record={calls}" for role in registry.BOTH))
        paid = len(server.requests)
    other = repo("demo", folder="other", skill=world.SKILL, env=world.ENV, tasks=world.tasks())
    monkeypatch.chdir(other)
    train(capsys, *(f"models.{role}.model=replay:{calls}" for role in registry.BOTH))
    assert learned(other) == learned(root)
    assert learned(other).endswith(LEARNED)
    assert len(calls.read_bytes().splitlines()) == paid == 1 + CALLS


def test_a_recording_may_begin_in_the_middle_of_a_run(root: Path, capsys: Captured, tmp_path: Path) -> None:
    calls = tmp_path / "calls.jsonl"
    with Server(serve) as server:
        train(capsys, *at(server), "limits.calls=20", code=1)
        train(capsys, *at(server), f"models.target.record={calls}")
    assert len(calls.read_bytes().splitlines()) == 1 + CALLS - 20 - 1  # the reflection is the optimizer's
