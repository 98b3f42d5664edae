from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skillgit.errors import RepositoryError
from skillgit.git.journal import Journal
from skillgit.git.repo import Repo
from tests.git.training import Trainer
from tests.repos import git


@pytest.fixture
def trained(repo: Callable[..., Path]) -> Iterator[Trainer]:
    trainer = Trainer(repo())
    trainer.step("- one", hard=0.6)
    trainer.step("- worse", hard=0.4)
    trainer.end_epoch("# guidance\n", hard=0.8)
    yield trainer
    trainer.repo.close()


def test_entries_newest_first(trained: Trainer) -> None:
    entries = list(trained.history.journal.entries())
    seen = [(entry.kind, entry.run, entry.epoch, entry.step, entry.action) for entry in entries]
    assert seen == [
        ("epoch", 1, 1, 2, "accept_new_best"),
        ("step", 1, 1, 2, "reject"),
        ("step", 1, 1, 1, "accept_new_best"),
        ("baseline", 1, 0, 0, "accept"),
    ]
    assert [entry.parent for entry in entries] == [*(entry.oid for entry in entries[1:]), None]
    assert {entry.base for entry in entries} == {trained.history.base()}
    tip = trained.history.journal.tip()
    assert tip is not None
    assert (tip.oid, tip.current, tip.best) == (entries[0].oid, trained.tip, trained.tip)
    assert entries[1].subject == "demo: step 2 reject"
    assert entries[1].when.isoformat() == "2025-06-15T17:06:40+02:00"


def test_files(trained: Trainer) -> None:
    _, rejected, step, baseline = trained.history.journal.entries()
    assert step.record["verdict"]["after"] == 0.6
    assert step.candidate.endswith("- one\n")
    assert [row["title"] for row in step.patch] == ["Say - one"]
    assert step.patch[0]["commit"] == step.current
    assert rejected.candidate.endswith("- worse\n")
    assert step.config == "gate: {metric: hard}\n"
    assert (baseline.meta, baseline.spend, baseline.patch, baseline.candidate) == ("", {}, [], "")
    assert set(step.names) == {"record.yaml", "config.yaml", "candidate.md", "patch.yaml"}


def test_the_newest_entry_is_read_without_the_rest(trained: Trainer) -> None:
    entries = trained.history.journal.entries()
    assert next(entries).kind == "epoch"
    entries.close()  # type: ignore[attr-defined]


def test_no_journal(repo: Callable[..., Path]) -> None:
    with Repo.discover(repo()) as found:
        journal = Journal(found, "demo")
        assert (journal.tip(), list(journal.entries())) == (None, [])


def test_a_damaged_record_is_named(trained: Trainer) -> None:
    journal = trained.history.journal
    entry = journal.append(None, {"record.yaml": "kind: step\n"}, "x")
    broken = trained.repo.write_commit(
        trained.repo.replace_file(entry, "record.yaml", trained.repo.write_blob(b"a: [")), [entry], "x"
    )
    with pytest.raises(RepositoryError, match=rf"record\.yaml of journal entry {broken[:12]} is damaged: ") as caught:
        assert journal.entry(broken).record
    assert "\n" not in caught.value.message


def test_a_journal_of_another_hand_has_no_numbers(trained: Trainer) -> None:
    oid = trained.history.journal.append(None, {"notes.txt": b"\xff"}, "By hand")
    entry = trained.history.journal.entry(oid)
    assert (entry.kind, entry.run, entry.step, entry.current, entry.record) == ("", 0, 0, "", {})
    assert entry.read("notes.txt") == "\ufffd"


def test_the_journal_reads_well_with_git_alone(trained: Trainer) -> None:
    shown = git(
        str(trained.repo.work_tree),
        "log",
        "--format=%s: %(trailers:key=Skill-Action,valueonly,separator=%x20)",
        trained.history.journal_ref,
    )
    assert shown.splitlines()[0] == "demo: epoch 1 accept_new_best: accept_new_best"
    record = git(str(trained.repo.work_tree), "show", f"{trained.history.journal_ref}:record.yaml")
    assert record.startswith("run: 1\n")
