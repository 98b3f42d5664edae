from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import RaceError, RepositoryError
from skillgit.git import intent
from skillgit.git.notes import Notes
from skillgit.git.publish import Publication, publish
from skillgit.git.repo import Repo
from skillgit.git.trailers import CommitMessage
from skillgit.git.transaction import LockedRefError, Move, Transaction
from tests.git.training import Trainer
from tests.repos import git, make_repo

Factory = Callable[..., Path]


@pytest.fixture
def trained(repo: Factory) -> Iterator[Trainer]:
    trainer = Trainer(repo())
    trainer.step("- one", hard=0.6)
    yield trainer
    trainer.repo.close()


def all_refs(repo: Repo) -> dict[str, str]:
    return repo.refs("refs/")


def test_everything_of_a_step_is_there(trained: Trainer) -> None:
    repo, history = trained.repo, trained.history
    entry = trained.end_epoch("# new\n", hard=0.8)
    refs = all_refs(repo)
    assert refs[history.journal_ref] == entry
    assert refs[history.branch] == refs[history.best_ref] == trained.tip
    assert "refs/skillgit/demo/epochs/1-1" in refs
    assert Notes(repo, "meta").get(trained.tip) == "Advice.\n"
    assert Notes(repo, "scores").get(history.blob(trained.tip)) == '{"epoch": 1}\n'
    trained.step("- bad", hard=0.1)
    assert Notes(repo, "rejected").get(trained.tip) == "---\nrun: 1\nstep: 2\nkind: step\n"
    assert not (repo.state_dir / "demo.intent").exists()


def test_the_same_work_gives_the_same_ids(repo: Factory) -> None:
    tips = []
    for folder in ("a", "b"):
        trainer = Trainer(repo(folder=folder))
        trainer.step("- one", "- two", hard=0.6)
        trainer.end_epoch("# x\n", hard=0.9)
        tips.append(all_refs(trainer.repo))
        trainer.repo.close()
    assert tips[0] == tips[1]


@pytest.mark.parametrize("ref", ["branch", "best_ref", "journal_ref"])
def test_a_ref_that_moved_meanwhile(trained: Trainer, ref: str) -> None:
    name = getattr(trained.history, ref)
    parent = trained.repo.ref(trained.history.journal_ref)
    git(str(trained.repo.work_tree), "update-ref", name, "main")
    before = all_refs(trained.repo)
    (commit,) = trained.history.edit_commits(trained.tip, ["x\n"], [CommitMessage("x")])
    step = Publication(
        {}, "step 2", parent, branch=(commit, trained.tip), best=(commit, trained.tip), notes={"meta": {commit: "x"}}
    )
    with pytest.raises(RaceError, match=f"{name} was moved by somebody else; nothing was written"):
        publish(trained.repo, trained.history, step)
    assert all_refs(trained.repo) == before


def test_notes_that_moved_meanwhile_are_staged_again(trained: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two skills publish at once: the second one's note is added to the first one's."""
    folder, tip = str(trained.repo.work_tree), trained.tip
    commit, raced = Transaction.commit, []

    def slow(self: Transaction, message: str) -> None:
        if not raced:
            raced.append(git(folder, "notes", "--ref=skillgit/rejected", "add", "-m", "other skill", tip))
        commit(self, message)

    monkeypatch.setattr(Transaction, "commit", slow)
    trained.step("- bad", hard=0.1)
    assert Notes(trained.repo, "rejected").get(tip).split("\n")[:2] == ["other skill", "---"]


def test_a_race_for_notes_that_never_ends_gives_up(trained: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(self: Transaction, message: str) -> None:
        raise RaceError("refs/notes/skillgit/scores was moved by somebody else; nothing was written")

    monkeypatch.setattr(Transaction, "commit", lost)
    with pytest.raises(RaceError):
        trained.step("- bad", hard=0.1)


def test_two_skills_train_at_once(repo: Factory) -> None:
    folder = repo()
    make_skill(folder, "other")
    program = (
        "import sys; from pathlib import Path; from tests.git.training import Trainer\n"
        "t = Trainer(Path(sys.argv[1]), sys.argv[2])\n"
        "for n in range(12): t.step(f'- {sys.argv[2]} {n}', hard=0.6 if n % 2 else 0.1 * n + 0.6)\n"
        "t.repo.close()"
    )
    root = Path(__file__).parents[2]
    runs = [
        subprocess.Popen([sys.executable, "-c", program, str(folder), name], cwd=root) for name in ("demo", "other")
    ]
    assert [run.wait(120) for run in runs] == [0, 0]
    with Repo.discover(folder) as found:
        rejected = dict(Notes(found, "rejected").all())
        assert sum(text.count("---\n") for text in rejected.values()) >= 12
        assert len(git(folder, "rev-list", "refs/skillgit/demo/journal").split()) == 13
        assert len(git(folder, "rev-list", "refs/skillgit/other/journal").split()) == 13
    assert git(folder, "fsck", "--strict", "--no-dangling") == ""


def make_skill(folder: Path, name: str) -> None:
    aside = make_repo(folder.parent / "aside", name)
    (aside / "skills" / name).rename(folder / "skills" / name)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", f"Add {name}")


def test_killed_at_any_time_a_step_is_there_wholly_or_not_at_all(repo: Factory) -> None:
    folder = repo()
    program = (
        "import sys; from pathlib import Path; from tests.git.training import Trainer\n"
        "t = Trainer(Path(sys.argv[1]))\n"
        "print('ready', flush=True)\n"
        "for n in range(1000): t.step(f'- {n}', f'- {n}b', hard=0.6 + n / 1e4); print(n, flush=True)"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", program, str(folder)], cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    for _ in range(8):
        run.stdout.readline()
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    with Repo.discover(folder) as found:
        intent.recover(found, "demo")
        refs = all_refs(found)
        trainer_steps = int(git(folder, "rev-list", "--count", "refs/skillgit/demo/journal")) - 1
        commits = int(git(folder, "rev-list", "--count", "main..skill/demo"))
        assert trainer_steps >= 6
        assert commits == 2 * trainer_steps
        assert refs["refs/skillgit/demo/best"] == refs["refs/heads/skill/demo"]
    assert git(folder, "fsck", "--strict", "--no-dangling") == ""


class TestIntent:
    """git itself was killed between two renames: simulated by moving some refs only."""

    def cut(self, trained: Trainer, done: int) -> list[Move]:
        repo, history = trained.repo, trained.history
        (commit,) = history.edit_commits(trained.tip, ["new\n"], [CommitMessage("x")])
        entry = history.journal.append(repo.ref(history.journal_ref), {}, "x")
        moves = [
            Move(history.journal_ref, entry, repo.ref(history.journal_ref)),
            Move(history.branch, commit, trained.tip),
            Move(history.best_ref, commit, trained.tip),
            Move(history.epoch_ref("1-9"), commit, None),
        ]
        with pytest.raises(KeyboardInterrupt), intent.recorded(repo, "demo", moves):
            raise KeyboardInterrupt
        for move in moves[:done]:
            repo.git("update-ref", move.ref, move.new or "")
        repo.objects.flush()
        return moves

    @pytest.mark.parametrize("done", [1, 2, 3, 4])
    def test_what_was_begun_is_completed(self, trained: Trainer, done: int) -> None:
        moves = self.cut(trained, done)
        assert intent.recover(trained.repo, "demo") == (done < 4)
        refs = all_refs(trained.repo)
        assert [refs[move.ref] for move in moves] == [move.new for move in moves]
        assert not (trained.repo.state_dir / "demo.intent").exists()
        assert not intent.recover(trained.repo, "demo")

    def test_what_was_not_begun_is_forgotten(self, trained: Trainer) -> None:
        before = all_refs(trained.repo)
        self.cut(trained, 0)
        assert not intent.recover(trained.repo, "demo")
        assert all_refs(trained.repo) == before

    def test_locks_left_by_the_killed_git_go_away(self, trained: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("skillgit.git.transaction.LOCK_TIMEOUT", 100)
        moves = self.cut(trained, 1)
        locks = [trained.repo.git_dir / f"{move.ref}.lock" for move in moves]
        for lock in locks:
            lock.parent.mkdir(parents=True, exist_ok=True)
            lock.write_text("", encoding="utf-8")
        assert intent.recover(trained.repo, "demo")
        assert not any(lock.exists() for lock in locks)
        assert trained.repo.ref(trained.history.branch) == moves[1].new

    def test_a_branch_that_a_person_moved_since_stays(self, trained: Trainer) -> None:
        self.cut(trained, 1)
        commit = trained.person("by hand\n")
        intent.recover(trained.repo, "demo")
        assert trained.repo.ref(trained.history.branch) == commit

    @pytest.mark.parametrize("content", ["", "[{", '[{"x": 1}]', "null", "3"])
    def test_a_file_cut_short_means_that_nothing_was_begun(self, trained: Trainer, content: str) -> None:
        path = trained.repo.state_dir / "demo.intent"
        path.write_text(content, encoding="utf-8")
        assert not intent.recover(trained.repo, "demo")
        assert not path.exists()


def test_a_lock_of_another_git_stops_the_step(trained: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillgit.git.transaction.LOCK_TIMEOUT", 100)
    before = all_refs(trained.repo)
    (trained.repo.git_dir / "refs/skillgit/demo/best.lock").write_text("", encoding="utf-8")
    with pytest.raises(LockedRefError, match="refs/skillgit/demo/best is locked"):
        trained.step("- more", hard=0.9)
    assert all_refs(trained.repo) == before


def test_objects_reach_the_disk_before_the_refs(trained: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    from skillgit.git import process

    order: list[str] = []
    start = process.start

    def spy(args: Any, **more: Any) -> Any:
        order.append(process.verb(args))
        return start(args, **more)

    monkeypatch.setattr(process, "start", spy)
    trained.step("- two", "- three", hard=0.7)
    assert order == ["worktree", "update-ref"], "no process for objects, one for all refs"


def test_a_failed_step_can_be_published_again(trained: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:

    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    before = all_refs(trained.repo)
    state = (trained.number, trained.tip, trained.current, trained.best)
    with pytest.raises(RepositoryError, match=r"cannot write objects in .*: No space left on device"):
        trained.step("- two", hard=0.7)
    assert all_refs(trained.repo) == before
    monkeypatch.undo()
    trained.number, trained.tip, trained.current, trained.best = state
    trained.step("- two", hard=0.7)
    assert trained.repo.ref(trained.history.branch) == trained.tip


def test_the_intent_is_plain_json(trained: Trainer) -> None:
    moves = [Move("refs/x", "1" * 40, None)]
    with intent.recorded(trained.repo, "demo", moves):
        path = trained.repo.state_dir / "demo.intent"
        assert json.loads(path.read_text(encoding="utf-8")) == [asdict(move) for move in moves]
