from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skillgit.errors import RepositoryError, SkillError
from skillgit.git.history import SkillHistory
from skillgit.git.repo import Repo
from skillgit.git.trailers import CommitMessage
from tests.git.training import Trainer
from tests.repos import git
from tests.snapshots import snapshot

Factory = Callable[..., Path]


@pytest.fixture(params=["sha1", "sha256"])
def trained(request: pytest.FixtureRequest, repo: Factory) -> Iterator[Trainer]:
    """Baseline, an accepted step of two edits, a rejected one, an accepted one, an epoch's end."""
    trainer = Trainer(repo(object_format=request.param))
    trainer.step("- one", "- two", hard=0.6)
    trainer.step("- worse", hard=0.4)
    trainer.step("- three", hard=0.7)
    trainer.end_epoch(trainer.history.text(trainer.tip) + "guidance\n", hard=0.8)
    yield trainer
    trainer.repo.close()


def top(trainer: Trainer) -> Path:
    assert trainer.repo.work_tree is not None
    return trainer.repo.work_tree


def test_the_branch_reads_well_with_git_alone(trained: Trainer) -> None:
    shown = git(top(trained), "log", "--reverse", "--format=%s|%(trailers:key=Skill-Score,valueonly)", "skill/demo")
    assert [line for line in shown.splitlines() if line] == [
        "Start|",
        "demo: Say - one|",
        "demo: Say - two|hard 0.5000 -> 0.6000, soft 0.0000 -> 0.0000 (10 tasks)",
        "demo: Say - three|hard 0.6000 -> 0.7000, soft 0.0000 -> 0.0000 (10 tasks)",
        "demo: epoch 1 meta-update (squash merge)|",
    ]
    assert git(top(trained), "diff", "--name-only", "main", "skill/demo") == "skills/demo/SKILL.md"
    blamed = git(top(trained), "blame", "-s", "skill/demo", "--", "skills/demo/SKILL.md").splitlines()
    assert blamed[-4].endswith("- one")
    assert blamed[-4].split()[0] != blamed[-3].split()[0]
    assert git(top(trained), "fsck", "--strict", "--no-dangling") == ""


def test_training_touches_nothing_of_the_user(repo: Factory) -> None:
    folder = repo()
    (folder / "untracked").write_text("x", encoding="utf-8")
    (folder / "skills/demo/env.yaml").write_text("changed", encoding="utf-8")
    git(folder, "stash", "-q")
    (folder / "skills/demo/SKILL.md").write_text("staged", encoding="utf-8")
    git(folder, "add", ".")
    (folder / "skills/demo/SKILL.md").write_text("dirty", encoding="utf-8")
    before = snapshot(folder)
    trainer = Trainer(folder)
    trainer.step("- one")
    trainer.end_epoch("# all new\n")
    trainer.repo.close()
    assert snapshot(folder) == before


def test_revisions(trained: Trainer) -> None:
    history = trained.history
    log = list(history.log())
    assert [entry.subject for entry in log] == [
        "demo: epoch 1 meta-update (squash merge)",
        "demo: Say - three",
        "demo: Say - two",
        "demo: Say - one",
    ]
    epoch, three, two, _ = (entry.oid for entry in log)
    base = git(top(trained), "rev-parse", "main")
    expected = {
        "demo": epoch,
        "": epoch,
        "demo@best": epoch,
        "@base": base,
        "demo@step-0": base,
        "demo@step-1": two,
        "demo@step-2": two,
        "demo@step-3": three,
        "demo@run-1-step-3": three,
        "demo@epoch-1": epoch,
        "demo@skill/demo~1": three,
        "demo@main": base,
        f"demo@{two[:9]}": two,
        "demo@skill/demo@{0}": epoch,
    }
    assert {spec: history.resolve(spec) for spec in expected} == expected


@pytest.mark.parametrize("spec", ["demo@step-9", "demo@epoch-2", "demo@run-2-step-1", "demo@nothing"])
def test_an_unknown_revision_lists_what_is_known(trained: Trainer, spec: str) -> None:
    with pytest.raises(RepositoryError) as caught:
        trained.history.resolve(spec)
    rev = spec.partition("@")[2]
    assert caught.value.message == (
        f"skill 'demo' has no revision '{rev}'; known: best, base, step-0 to step-3, epoch-1, or a git revision"
    )


def test_other_refusals(trained: Trainer) -> None:
    folder = top(trained)
    git(folder, "switch", "-q", "--orphan", "empty")
    git(folder, "commit", "-q", "--allow-empty", "-m", "Nothing here")
    blob = git(folder, "rev-parse", "main:skills/demo/SKILL.md")
    cases = {
        "demo@empty": r"'empty' \([0-9a-f]{12}\) does not hold skills/demo/SKILL.md",
        f"demo@{blob}": f"{blob} is a blob, not a commit",
        "demo@": "'demo@' is not a revision of skill 'demo'",
        "other@best": "'other@best' is not a revision of skill 'demo'",
    }
    for spec, message in cases.items():
        with pytest.raises(RepositoryError, match=message):
            trained.history.resolve(spec)


def test_the_latest_run_is_meant(trained: Trainer) -> None:
    second = Trainer(top(trained), run=2)
    second.step("- run two", hard=0.9)
    history = second.history
    assert history.resolve("demo@step-1") == second.tip
    assert history.resolve("demo@run-1-step-1") == history.resolve("demo@skill/demo~3")
    assert history.base() == git(top(trained), "rev-parse", "main")
    second.repo.close()


def test_before_any_training(repo: Factory) -> None:
    with Repo.discover(repo()) as found:
        history = SkillHistory(found, "demo")
        assert (history.tip(), history.best(), list(history.log())) == (None, None, [])
        with pytest.raises(RepositoryError, match="skill 'demo' was never trained here") as caught:
            history.resolve("demo")
        assert caught.value.hint == "skillgit train demo"
        with pytest.raises(RepositoryError, match="known: best, base, or a git revision"):
            history.resolve("demo@step-1")


def test_where_to_start(repo: Factory, tmp_path: Path) -> None:
    folder = repo()
    with Repo.discover(folder) as found:
        assert SkillHistory(found, "demo").start("main") == found.head
        with pytest.raises(RepositoryError, match="'nothing' is not a revision"):
            SkillHistory(found, "demo").start("nothing")
        git(folder, "branch", "skill")
        with pytest.raises(RepositoryError, match="a branch 'skill' is in the way of 'skill/demo'"):
            SkillHistory(found, "demo").start()
        with pytest.raises(RepositoryError, match=r"skills/other/SKILL\.md is not committed in HEAD") as caught:
            SkillHistory(found, "other").start()
        assert caught.value.hint == "git add skills/other && git commit -m 'Add the skill other'"
    git(tmp_path, "init", "-q", "unborn")
    with Repo.discover(tmp_path / "unborn") as found:
        with pytest.raises(RepositoryError, match="nothing is committed") as caught:
            SkillHistory(found, "demo").start()
        assert caught.value.hint == "git add skills/demo && git commit -m 'Add the skill demo'"


class TestBase:
    def test_main_goes_on_and_merges(self, trained: Trainer) -> None:
        folder, base = top(trained), git(top(trained), "rev-parse", "main")
        git(folder, "commit", "-q", "--allow-empty", "-m", "Elsewhere")
        git(folder, "merge", "-q", "--no-edit", "skill/demo")
        assert trained.history.base() == base
        assert len(list(trained.history.log())) == 4

    def test_without_a_journal(self, trained: Trainer) -> None:
        base = trained.history.base()
        trained.person(trained.history.text(trained.tip) + "by hand\n")
        git(top(trained), "update-ref", "-d", trained.history.journal_ref)
        assert trained.history.base() == base

    def test_after_a_rebase(self, trained: Trainer) -> None:
        folder = top(trained)
        git(folder, "commit", "-q", "--allow-empty", "-m", "Elsewhere")
        git(folder, "rebase", "-q", "main", "skill/demo")
        assert trained.history.base() == git(folder, "rev-parse", "main")
        assert len(list(trained.history.log())) == 4

    def test_a_branch_that_is_started_anew(self, trained: Trainer) -> None:
        folder = top(trained)
        git(folder, "branch", "-q", "-D", "skill/demo")
        git(folder, "commit", "-q", "--allow-empty", "-m", "Elsewhere")
        again = Trainer(folder, run=2)
        again.step("- new", hard=0.9)
        assert again.history.base() == git(folder, "rev-parse", "main")
        again.repo.close()

    def test_never_trained_on(self, repo: Factory) -> None:
        folder = repo()
        git(folder, "branch", "skill/demo")
        with Repo.discover(folder) as found:
            assert SkillHistory(found, "demo").base() == found.head

    def test_a_shallow_clone(self, trained: Trainer, tmp_path: Path) -> None:
        url = top(trained).as_uri()
        git(tmp_path, "clone", "-q", "--depth=4", "--branch=skill/demo", url, "shallow")
        with Repo.discover(tmp_path / "shallow") as found:
            with pytest.raises(RepositoryError, match="history of skill/demo is cut off before its start") as caught:
                SkillHistory(found, "demo").base()
            assert caught.value.hint == "git fetch --unshallow"
            git(tmp_path / "shallow", "fetch", "-q", "--depth=2", "origin", f"{trained.history.journal_ref}:refs/j")
            git(tmp_path / "shallow", "update-ref", trained.history.journal_ref, "refs/j")
            with pytest.raises(RepositoryError, match="cut off before its start"):
                list(SkillHistory(found, "demo").log())


def test_log_entries(trained: Trainer) -> None:
    newest, *_, oldest = trained.history.log()
    assert oldest.parents == (trained.history.base(),)
    assert oldest.trailers["Skill-Edit"] == "1/2"
    assert oldest.body == "Because it helped."
    assert (oldest.author, oldest.when.isoformat()) == ("Ada Author", "2025-06-15T17:06:40+02:00")
    assert oldest.tree == trained.repo.tree_of(oldest.oid)
    assert newest.trailers["Skill-Kind"] == "epoch"
    assert next(iter(trained.history.log(since=newest.parents[0]))).oid == newest.oid


def test_a_reader_that_stops_early(trained: Trainer) -> None:
    log = trained.history.log()
    assert next(log).oid == trained.tip
    log.close()


def test_a_squash_lists_its_commits_as_git_does(trained: Trainer) -> None:
    folder, tip = top(trained), trained.tip
    side = trained.repo.ref(trained.history.epoch_ref("1-1"))
    assert side is not None
    git(folder, "switch", "-q", "--detach", f"{tip}~1")
    git(folder, "merge", "-q", "--squash", side)
    by_git = (folder / ".git" / "SQUASH_MSG").read_text(encoding="utf-8").strip()
    body = next(iter(trained.history.log())).body
    assert body == by_git
    assert "demo: slow update" in body
    assert git(folder, "rev-parse", f"{tip}^{{tree}}") == git(folder, "rev-parse", f"{side}^{{tree}}")
    assert trained.repo.parents(tip) == (f"{git(folder, 'rev-parse', tip + '~1')}",)


def test_bytes_of_the_document(repo: Factory) -> None:
    folder = repo(skill=b"---\r\nname: demo\r\n---\r\n\xef\xbb\xbfa\r\n")
    git(folder, "config", "core.autocrlf", "true")
    with Repo.discover(folder) as found:
        history = SkillHistory(found, "demo")
        text = history.text(history.start())
        assert text == "---\r\nname: demo\r\n---\r\n\ufeffa\r\n"
        (commit,) = history.edit_commits(history.start(), [text + "b\r\n"], [CommitMessage("b")])
        assert found.read_file(commit, history.path) == text.encode() + b"b\r\n"


def test_a_document_that_is_not_text(repo: Factory) -> None:
    with Repo.discover(repo(skill=b"a\xffb")) as found:
        history = SkillHistory(found, "demo")
        with pytest.raises(SkillError, match=r"SKILL\.md in [0-9a-f]{12} is not UTF-8 \(byte 1\)"):
            history.text(history.start())


def test_a_damaged_branch_is_said(trained: Trainer) -> None:
    (trained.repo.git_dir / "refs/heads/skill/demo").write_text("garbage\n", encoding="utf-8")
    with pytest.raises(RepositoryError, match="the ref refs/heads/skill/demo is damaged"):
        trained.history.tip()
