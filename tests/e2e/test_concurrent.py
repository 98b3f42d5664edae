"""Two trainings at once, and what one of them knows of the other's scores."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.errors import LockedError
from skillgit.evaluate import evaluate_revision
from skillgit.git.fsck import check
from skillgit.git.history import SkillHistory
from skillgit.git.repo import Repo
from skillgit.report import Silent
from tests import world
from tests.e2e.interruptions import end, make, outcome, sound, start, train, uninterrupted
from tests.e2e.training import Training
from tests.repos import git
from tests.world import World

Make = Callable[..., Path]
PLAIN = "# Rules\n\n- RULE 0 holds.\n"
WHOLE = "gate.early_stop=false"  # with early stop, calls in flight are cancelled, and their answers are nobody's


def wait_for(path: Path) -> None:
    until = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.01)


def with_another(root: Path, skill: str) -> Path:
    """The repository with a second skill, ``other``, that has the same tasks and settings."""
    for name in ("env.yaml", "tasks.jsonl"):
        data = (root / "skills/demo" / name).read_bytes()
        (root / "skills/other").mkdir(exist_ok=True)
        (root / "skills/other" / name).write_bytes(data)
    (root / "skills/other/SKILL.md").write_text(skill, encoding="utf-8")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "Another skill")
    return root


def test_the_second_train_says_who_holds_the_lock(tmp_path: Path) -> None:
    root, hold = make(tmp_path / "r"), tmp_path / "hold"
    first = start(root, tmp_path / "first", hold=hold)
    wait_for(Path(f"{hold}.held"))
    train(root, tmp_path / "second", ends=(LockedError.exit_code,))
    said = (tmp_path / "second.err").read_text(encoding="utf-8")
    assert f"skill 'demo' is being trained by pid {first.pid} on host " in said
    assert not (tmp_path / "second").exists()  # it made no call
    Path(f"{hold}.go").touch()
    end(first, tmp_path / "first", (0,))
    sound(root)
    assert outcome(root) == uninterrupted()[0]


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_the_lock_of_a_killed_holder_is_free(tmp_path: Path) -> None:
    root, hold = make(tmp_path / "r"), tmp_path / "hold"
    first = start(root, tmp_path / "first", hold=hold)
    wait_for(Path(f"{hold}.held"))
    first.kill()
    first.join(60)
    assert (root / ".git/skillgit/demo.owner.json").exists()
    train(root, tmp_path / "second", ends=(0,))


def test_two_skills_at_once_in_one_repository(tmp_path: Path) -> None:
    """They start at the same commit and share the three notes refs; nothing of either is lost."""
    root = with_another(make(tmp_path / "r"), world.SKILL.replace("name: demo", "name: other"))
    both = {name: start(root, tmp_path / name, skill=name, jitter=1) for name in ("demo", "other")}
    for name, process in both.items():
        end(process, tmp_path / name, (0,))
    rejected = git(root, "log", "--notes=skillgit/rejected", "--format=%N", "skill/demo", "skill/other")
    with Repo.discover(root) as repo:
        for name in both:
            assert list(check(repo, name)) == []
            entries = list(SkillHistory(repo, name).journal.entries())
            assert rejected.count(f"skill: {name}\n") == sum(entry.action == "reject" for entry in entries) > 0
            for entry in (entry for entry in entries if entry.read("scores.jsonl")):
                blob = entry.record.get("candidate", entry.record["current"])["blob"]
                noted = git(root, "notes", "--ref=skillgit/scores", "show", blob)
                items = [item for line in noted.splitlines() for item in json.loads(line)["items"].items()]
                known = [
                    item
                    for line in entry.read("scores.jsonl").splitlines()
                    for item in json.loads(line)["items"].items()
                ]
                assert all(item in items for item in known)


class Measured:
    """Counts how often each text was measured on each selection and test task, over many worlds."""

    def __init__(self) -> None:
        self.worlds: list[World] = []

    def world(self) -> World:
        self.worlds.append(World())
        return self.worlds[-1]

    def counts(self) -> Counter[tuple[str, ...]]:
        asked = [request.messages for one in self.worlds for request in one.target.asked]
        return Counter(
            tuple(m.content for m in messages) for messages in asked if ": train " not in messages[-1].content
        )

    def twice(self) -> list[tuple[str, ...]]:
        return [measured for measured, times in self.counts().items() if times > 1 and "rule" in measured[-1]]


def test_equal_text_is_never_measured_twice(repo: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the memo forgets: the notes know it, in a second run, on a second branch, and in a clone that fetched them."""
    root = repo("demo", skill=PLAIN, env=world.ENV, tasks=world.tasks())
    training, measured = Training(with_another(root, PLAIN), monkeypatch), Measured()
    training.run(WHOLE, world=measured.world())

    def forget() -> None:
        (root / ".git/skillgit/memo.sqlite").unlink()

    forget()
    training.run(WHOLE, "train.seed=7", world=measured.world(), new_run=True)
    forget()
    training.git("branch", "-D", "skill/demo")
    training.run(
        WHOLE, world=measured.world(), new_run=True, proven=False
    )  # the journal misses the edits of that branch
    forget()
    training.run(WHOLE, world=measured.world(), name="other")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(root), str(clone))
    git(clone, "fetch", "--quiet", "origin", "refs/notes/*:refs/notes/*")
    Training(clone, monkeypatch).run(WHOLE, world=measured.world(), new_run=True)
    assert len(measured.worlds) == 5
    assert measured.twice() == []
    assert (
        sum(text == PLAIN for text, *_ in measured.counts()) == 24
    )  # selection and test, though five runs began with it


def test_an_evaluation_of_what_was_trained_costs_nothing(repo: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks())
    Training(root, monkeypatch).run()
    (root / ".git/skillgit/memo.sqlite").unlink()
    later = World().install(monkeypatch)
    with Repo.discover(root) as opened:
        for revision in ("demo@best", "demo@base"):
            for split in ("selection", "test"):
                evaluate_revision(opened, revision, Silent(), split=split)
    assert later.calls == 0
