from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgit.errors import RepositoryError
from skillgit.git.fsck import check
from skillgit.git.history import SkillHistory
from skillgit.git.journal import JournalEntry
from skillgit.git.repo import Repo
from skillgit.skill import with_guidance
from tests.git.training import Trainer
from tests.repos import git

SKILL = "skills/demo/SKILL.md"


@pytest.fixture
def trained(repo: Callable[..., Path]) -> Iterator[Trainer]:
    """Steps 1 (two edits) and 3 accepted, 2 rejected, and an epoch whose guidance was accepted."""
    trainer = Trainer(repo())
    trainer.step("- one", "- two", hard=0.6)
    trainer.step("- worse", hard=0.4)
    trainer.step("- three", hard=0.7)
    trainer.end_epoch(with_guidance(trainer.history.text(trainer.tip), "Take care."), hard=0.8)
    yield trainer
    trainer.repo.close()


def findings(trainer: Trainer) -> list[str]:
    return [str(finding) for finding in check(trainer.repo, "demo")]


def expect(trainer: Trainer, *messages: str) -> None:
    """Exactly these, each a part of its finding."""
    found = findings(trainer)
    assert len(found) == len(messages), found
    for message in messages:
        assert any(message in line for line in found), (message, found)


def rebuild(trainer: Trainer, change: Callable[[int, str, str], tuple[str, str]]) -> None:
    """Write the branch anew: change(number, tree, message) -> (tree, message) for each commit, oldest first.

    The journal is told the new ids, as if it had been so from the start.
    """
    repo, history = trainer.repo, trainer.history
    parent, renamed = history.base(), {}
    for number, commit in enumerate(list(history.log())[::-1]):
        tree, message = change(number, commit.tree, repo.message(commit.oid))
        parent = renamed[commit.oid] = repo.write_commit(tree, [parent], message)
    repo.git("update-ref", history.branch, parent)
    if best := renamed.get(trainer.history.best() or ""):
        repo.git("update-ref", history.best_ref, best)

    def rename(entry: JournalEntry, record: dict[str, Any], files: dict[str, str]) -> None:
        for role in ("current", "best"):
            commit = renamed.get(record[role]["commit"], record[role]["commit"])
            record[role] |= {"commit": commit, "blob": history.blob(commit)}
        if entry.action.startswith("accept") and "candidate" in record:
            record["candidate"]["blob"] = record["current"]["blob"]
            files["candidate.md"] = history.text(record["current"]["commit"])
            note = repo.git("notes", "--ref=skillgit/scores", "add", "-f", "-m", "{}", record["current"]["blob"])
            assert note.returncode == 0
        for namespace in ("rejected", "meta"):
            repo.git(
                "notes",
                f"--ref=skillgit/{namespace}",
                "copy",
                "-f",
                entry.current,
                record["current"]["commit"],
                check=False,
            )

    retell(trainer, rename)
    trainer.tip = parent


def retell(trainer: Trainer, change: Callable[[JournalEntry, dict[str, Any], dict[str, str]], None]) -> None:
    """Write the journal anew: change(entry, record, files) alters either in place."""
    journal, parent = trainer.history.journal, None
    for entry in list(journal.entries())[::-1]:
        files = {name: entry.read(name) for name in entry.names}
        record = yaml.safe_load(files["record.yaml"])
        change(entry, record, files)
        files["record.yaml"] = yaml.safe_dump(record, sort_keys=False)
        parent = journal.append(parent, files, entry.subject, base=entry.base)
    assert parent is not None
    trainer.repo.git("update-ref", journal.ref, parent)


def record_of(kind: str, number: int, change: Callable[[dict[str, Any]], Any]) -> Any:
    def apply(entry: JournalEntry, record: dict[str, Any], files: dict[str, str]) -> None:
        if entry.kind == kind and number == (entry.step if kind == "step" else entry.epoch):
            change(record)

    return apply


def with_text(trainer: Trainer, tree: str, text: str) -> str:
    entries = trainer.repo.objects.tree(tree)
    commit = trainer.repo.write_commit(tree, [], "aside")
    assert entries
    return trainer.repo.replace_file(commit, SKILL, trainer.repo.write_blob(text.encode()))


def test_a_true_history_has_no_findings(trained: Trainer) -> None:
    assert findings(trained) == []
    trained.person(trained.history.text(trained.tip) + "By hand.\n")
    assert findings(trained) == []
    second = Trainer(trained.repo.git_dir.parent, run=2)
    second.step("- four", hard=0.9)
    second.step("- bad", hard=0.1)
    second.repo.close()
    assert findings(trained) == []


def test_rebuilding_alone_has_no_findings(trained: Trainer) -> None:
    rebuild(trained, lambda number, tree, message: (tree, message + "Signed-off-by: A <a@b>\n"))
    assert findings(trained) == []


def test_never_trained(repo: Callable[..., Path]) -> None:
    with Repo.discover(repo()) as found, pytest.raises(RepositoryError, match="skill 'demo' was never trained here"):
        list(check(found, "demo"))


class TestCommits:
    def text_of(self, trained: Trainer, number: int) -> str:
        return trained.history.text(list(trained.history.log())[::-1][number].oid)

    def test_the_recorded_edit_gives_another_text(self, trained: Trainer) -> None:
        text = self.text_of(trained, 2).replace("- three", "- something else")
        last = self.text_of(trained, 3).replace("- three", "- something else")
        rebuild(
            trained,
            lambda n, tree, message: (with_text(trained, tree, text if n == 2 else last) if n >= 2 else tree, message),
        )
        trained.repo.git("update-ref", trained.history.epoch_ref("1-1"), trained.tip)
        expect(trained, "(demo: Say - three): the recorded edit, applied to the parent's skill, does not give this")

    def test_another_file_is_changed(self, trained: Trainer) -> None:
        def change(number: int, tree: str, message: str) -> tuple[str, str]:
            aside = trained.repo.write_commit(tree, [], "aside")
            blob = trained.repo.write_blob(b"x")
            return (trained.repo.replace_file(aside, "skills/demo/tasks.jsonl", blob) if number else tree), message

        rebuild(trained, change)
        expect(trained, "(demo: Say - two): changes skills/demo/tasks.jsonl")

    def test_a_new_file_and_folder(self, trained: Trainer) -> None:
        def change(number: int, tree: str, message: str) -> tuple[str, str]:
            aside = trained.repo.write_commit(tree, [], "aside")
            return (
                trained.repo.replace_file(aside, "new/file", trained.repo.write_blob(b"x")) if number else tree
            ), message

        rebuild(trained, change)
        expect(trained, "(demo: Say - two): changes new")

    def test_the_mode_is_changed(self, trained: Trainer) -> None:
        def change(number: int, tree: str, message: str) -> tuple[str, str]:
            aside = trained.repo.write_commit(tree, [], "aside")
            blob = trained.repo.blob_of(aside, SKILL) or ""
            return (trained.repo.replace_file(aside, SKILL, blob, "100755") if number else tree), message

        rebuild(trained, change)
        expect(trained, f"(demo: Say - two): changes the mode of {SKILL} from 100644 to 100755")

    def test_an_edit_reaches_into_the_frontmatter(self, trained: Trainer) -> None:
        def change(number: int, tree: str, message: str) -> tuple[str, str]:
            text = self.text_of(trained, number).replace("name: demo", "name: other")
            return (with_text(trained, tree, text) if number else tree), message

        rebuild(trained, change)
        trained.repo.git("update-ref", trained.history.epoch_ref("1-1"), trained.tip)
        expect(
            trained,
            "(demo: Say - two): changes a protected region",
            "(demo: Say - two): the recorded edit, applied to the parent's skill, does not give this commit's skill",
        )

    def test_a_squash_changes_the_body(self, trained: Trainer) -> None:
        text = self.text_of(trained, 3).replace("- one", "- uno")
        rebuild(trained, lambda n, tree, message: (with_text(trained, tree, text) if n == 3 else tree, message))
        expect(
            trained,
            "meta-update (squash merge)): changes more than the protected regions",
            "is not what its side branch refs/skillgit/demo/epochs/1-1 ends with",
        )

    def test_the_side_branch_is_missing(self, trained: Trainer) -> None:
        trained.repo.git("update-ref", "-d", trained.history.epoch_ref("1-1"))
        expect(trained, "its side branch refs/skillgit/demo/epochs/1-1 is missing")

    def test_a_commit_claims_an_edit_that_the_journal_does_not_know(self, trained: Trainer) -> None:
        rebuild(trained, lambda n, tree, message: (tree, message.replace("Skill-Step: 3", "Skill-Step: 2")))
        found = findings(trained)
        assert any("accepted 1 edits, but the branch has 0 of them" in line for line in found)
        assert any("(demo: Say - three): the recorded edit" in line for line in found)

    def test_an_edit_number_out_of_range(self, trained: Trainer) -> None:
        rebuild(trained, lambda n, tree, message: (tree, message.replace("Skill-Edit: 1/1", "Skill-Edit: 7/9")))
        expect(trained, "(demo: Say - three): is edit 7/9, but the journal has 1 of that step")

    def test_a_merge(self, trained: Trainer) -> None:
        repo, history = trained.repo, trained.history
        message = "demo: merged\n\nSkill-Run: 1\n"
        merge = repo.write_commit(repo.tree_of(trained.tip), [trained.tip, history.base()], message)
        repo.git("update-ref", history.branch, merge)
        expect(trained, "(demo: merged): has 2 parents: the branch is not linear")

    def test_the_document_is_gone(self, trained: Trainer) -> None:
        repo, history = trained.repo, trained.history
        empty = repo.write_commit(repo.write_tree(()), [trained.tip], "demo: x\n\nSkill-Run: 1\nSkill-Edit: 1/1\n")
        repo.git("update-ref", history.branch, empty)
        expect(trained, "(demo: x): changes skills", f"(demo: x): {empty[:12]} does not hold {SKILL}")


class TestJournal:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda r: r.update(step=7), "run 1 step 7 (", ),
            (lambda r: r.update(kind="other"), "unknown kind 'other'"),
            (lambda r: r["verdict"].update(before=0.9), "accepted though 0.7 is not above 0.9"),
            (lambda r: r["verdict"].update(best=0.7), "new best though 0.7 is not above 0.7"),
            (lambda r: r["verdict"].update(action="reject"), "action accept_new_best is not the verdict's, reject"),
            (lambda r: r["candidate"].update(upper_bound=True), "accepted on an evaluation that stopped early"),
            (lambda r: r["candidate"].update(hard=0.65), "current does not have the score of the candidate"),
            (lambda r: r["candidate"].update(blob="1" * 40), "current is not the candidate that was accepted"),
            (lambda r: r["verdict"].update(before=0.55), "was compared with 0.55, but current had 0.6"),
            (lambda r: r["best"].update(hard=0.55), "best fell from 0.6 to 0.55"),
            (lambda r: r.update(best=r["best"] | {"commit": "2" * 40}), "222222222222"),
            (lambda r: r["current"].update(blob="3" * 40), "not 333333333333"),
        ],
    )  # fmt: skip
    def test_an_accepted_step(self, trained: Trainer, change: Callable[[dict[str, Any]], Any], message: str) -> None:
        retell(trained, record_of("step", 3, change))
        assert any(message in line for line in findings(trained)), findings(trained)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda r: r["verdict"].update(after=0.65), "rejected though 0.65 is above 0.6"),
            (lambda r: r["current"].update(hard=0.61), "current changed though nothing was accepted"),
            (lambda r: r["candidate"].update(blob="1" * 40), "candidate.md is not the text that was scored (1111"),
            (lambda r: r.update(action="accept"), "action accept is not the verdict's, reject"),
        ],
    )
    def test_a_rejected_step(self, trained: Trainer, change: Callable[[dict[str, Any]], Any], message: str) -> None:
        retell(trained, record_of("step", 2, change))
        assert any(message in line for line in findings(trained)), findings(trained)

    def test_best_moves_without_a_new_best(self, trained: Trainer) -> None:
        base = trained.version(trained.history.base(), 0.6)
        retell(trained, record_of("step", 2, lambda record: record.update(best=base)))
        assert any("without a new best" in line for line in findings(trained))

    def test_a_plain_accept_that_should_be_best(self, trained: Trainer) -> None:
        def change(record: dict[str, Any]) -> None:
            record["action"] = record["verdict"]["action"] = "accept"

        retell(trained, record_of("step", 3, change))
        found = findings(trained)
        assert any("not best though 0.7 is above 0.6" in line for line in found)

    def test_the_baseline_is_missing(self, trained: Trainer) -> None:
        journal, parent = trained.history.journal, None
        for entry in list(journal.entries())[::-1][1:]:
            parent = journal.append(parent, {n: entry.read(n) for n in entry.names}, entry.subject, base=entry.base)
        trained.repo.git("update-ref", journal.ref, parent or "")
        expect(trained, "run 1 does not begin with a baseline")

    def test_a_run_is_missing(self, trained: Trainer) -> None:
        Trainer(trained.repo.git_dir.parent, run=4).repo.close()
        expect(trained, "run 4 follows run 1")

    def test_message_and_record_differ(self, trained: Trainer) -> None:
        repo, journal = trained.repo, trained.history.journal
        tip = journal.tip()
        assert tip is not None
        message = repo.message(tip.oid).replace("Skill-Action: accept_new_best", "Skill-Action: reject")
        forged = repo.write_commit(repo.tree_of(tip.oid), [tip.parent or ""], message)
        repo.git("update-ref", journal.ref, forged)
        assert any("say different things" in line for line in findings(trained))

    @pytest.mark.parametrize("content", ["a: [", "just text", ""])
    def test_an_unreadable_record(self, trained: Trainer, content: str) -> None:
        repo, journal = trained.repo, trained.history.journal
        tip = journal.tip()
        assert tip is not None
        tree = repo.replace_file(tip.oid, "record.yaml", repo.write_blob(content.encode()))
        repo.git("update-ref", journal.ref, repo.write_commit(tree, [tip.parent or ""], repo.message(tip.oid)))
        assert any("record.yaml or patch.yaml cannot be read" in line for line in findings(trained))


class TestRefs:
    def test_best_is_elsewhere(self, trained: Trainer) -> None:
        trained.repo.git("update-ref", trained.history.best_ref, "main")
        main, tip = trained.history.base()[:12], trained.tip[:12]
        expect(trained, f"refs/skillgit/demo/best: is at {main}, the journal says {tip}")

    def test_best_is_gone(self, trained: Trainer) -> None:
        trained.repo.git("update-ref", "-d", trained.history.best_ref)
        expect(trained, f"refs/skillgit/demo/best: is at nothing, the journal says {trained.tip[:12]}")

    def test_the_branch_was_set_back(self, trained: Trainer) -> None:
        trained.repo.git("update-ref", trained.history.branch, f"{trained.tip}~1")
        expect(trained, f"refs/heads/skill/demo: does not hold {trained.tip[:12]}, the journal's current skill")

    def test_the_branch_is_gone(self, trained: Trainer) -> None:
        trained.repo.git("update-ref", "-d", trained.history.branch)
        expect(trained, "refs/heads/skill/demo: is missing, though there is a journal")

    def test_the_journal_is_gone(self, trained: Trainer) -> None:
        trained.repo.git("update-ref", "-d", trained.history.journal_ref)
        assert any("journal: is missing or empty, though there is a branch" in line for line in findings(trained))

    def test_a_damaged_ref(self, trained: Trainer) -> None:
        (trained.repo.git_dir / "refs/heads/skill/demo").write_text("garbage\n", encoding="utf-8")
        expect(trained, "skill 'demo': the ref refs/heads/skill/demo is damaged")


class TestNotes:
    @pytest.mark.parametrize(("namespace", "count"), [("rejected", 1), ("scores", 4)])
    def test_missing_notes_are_warnings(self, trained: Trainer, namespace: str, count: int) -> None:
        trained.repo.git("update-ref", "-d", f"refs/notes/skillgit/{namespace}")
        found = findings(trained)
        assert len(found) == count
        assert all(
            line.startswith("warning: ") and f"no note under refs/notes/skillgit/{namespace}" in line for line in found
        )

    def test_the_advice_is_missing(self, trained: Trainer) -> None:
        def advise(entry: JournalEntry, record: dict[str, Any], files: dict[str, str]) -> None:
            files["meta.md"] = "Advice.\n"

        retell(trained, advise)
        assert findings(trained) == []
        trained.repo.git("update-ref", "-d", "refs/notes/skillgit/meta")
        expect(trained, "no note under refs/notes/skillgit/meta")

    def test_a_note_that_lost_a_step(self, trained: Trainer) -> None:
        rejected = next(entry for entry in trained.history.journal.entries() if entry.action == "reject")
        git(
            str(trained.repo.work_tree), "notes", "--ref=skillgit/rejected", "add", "-f", "-m", "a: [", rejected.current
        )
        expect(trained, "no note under refs/notes/skillgit/rejected")


def test_another_document_path(trained: Trainer) -> None:
    assert SkillHistory(trained.repo, "demo", SKILL).path == SKILL
    found = list(check(trained.repo, "demo", "skills/demo/env.yaml"))
    assert any("changes skills/demo/SKILL.md" in str(finding) for finding in found)
