"""What the README promises of a training, on real repositories."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.errors import (
    ConfigError,
    FatalModelError,
    LimitReached,
    LockedError,
    NotMeasured,
    ProviderError,
    RepositoryError,
)
from skillgit.evaluate import evaluate_revision
from skillgit.git.fsck import check
from skillgit.git.history import SkillHistory
from skillgit.git.repo import Repo
from skillgit.models.base import Reply, Request
from skillgit.report import Silent
from skillgit.run import Summary
from skillgit.session import run_training
from tests import world
from tests.repos import git
from tests.snapshots import snapshot
from tests.world import World

Make = Callable[..., Path]


def train(
    root: Path, monkeypatch: pytest.MonkeyPatch, *options: str, new_run: bool = False, world_: World | None = None
) -> Summary:
    (world_ or World()).install(monkeypatch)
    with Repo.discover(root) as repo:
        return run_training(repo, "demo", Silent(), overrides=options, new_run=new_run)


@pytest.fixture
def root(repo: Make) -> Path:
    return repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks())


def test_uncommitted_and_staged_work_survives(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "skills/demo/SKILL.md").write_text("half an edit", encoding="utf-8")
    git(root, "add", "skills/demo/SKILL.md")
    (root / "skills/demo/SKILL.md").write_text("half an edit, and more", encoding="utf-8")
    (root / "untracked").write_text("mine", encoding="utf-8")
    git(root, "stash", "push", "--quiet", "--keep-index", "--include-untracked")
    (root / "again").write_text("x", encoding="utf-8")
    before = snapshot(root)
    assert not train(root, monkeypatch).unchanged
    assert snapshot(root) == before


@pytest.mark.parametrize("kind", ["bare", "detached", "sha256", "umlaut", "worktree"])
def test_every_kind_of_repository(repo: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    form = {"object_format": "sha256"} if kind == "sha256" else {}
    root = repo(
        "demo",
        skill=world.SKILL,
        env=world.ENV,
        tasks=world.tasks(),
        folder="ein Örtchen" if kind == "umlaut" else "r",
        **form,
    )
    if kind == "bare":
        git(root, "clone", "--quiet", "--bare", str(root), str(tmp_path / "bare.git"))
        root = tmp_path / "bare.git"
    elif kind == "detached":
        git(root, "checkout", "--quiet", "--detach")
    elif kind == "worktree":
        git(root, "worktree", "add", "--quiet", str(tmp_path / "linked"))
        root = tmp_path / "linked"
    assert train(root, monkeypatch).best.scores.hard == 0.5
    with Repo.discover(root) as opened:
        assert list(check(opened, "demo")) == []
    assert git(root, "fsck", "--strict", check=False).count("error") == 0


def test_a_clean_checkout_of_the_branch_moves_along_and_a_dirty_one_refuses(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(root, monkeypatch, "train.max_steps=1")
    linked = tmp_path / "linked"
    git(root, "worktree", "add", "--quiet", str(linked), "skill/demo")
    train(root, monkeypatch, new_run=True)
    assert git(linked, "status", "--porcelain") == ""
    assert (linked / "skills/demo/SKILL.md").read_text(encoding="utf-8") == git(
        root, "show", "skill/demo:skills/demo/SKILL.md"
    ) + "\n"
    (linked / "skills/demo/SKILL.md").write_text("mine", encoding="utf-8")
    fresh = World()
    with pytest.raises(RepositoryError, match="uncommitted changes"):
        train(root, monkeypatch, new_run=True, world_=fresh)
    assert fresh.calls == 0


def test_equal_text_is_never_scored_twice(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train(root, monkeypatch)
    second = World().install(monkeypatch)
    with Repo.discover(root) as repo:
        for revision in ("demo@best", "demo@base"):
            for split in ("selection", "test"):
                evaluate_revision(repo, revision, Silent(), split=split)
    assert second.calls == 0
    git(root, "clone", "--quiet", str(root), str(tmp_path / "clone"))
    clone = tmp_path / "clone"
    git(
        clone,
        "fetch",
        "--quiet",
        "origin",
        "refs/notes/*:refs/notes/*",
        "refs/skillgit/*:refs/skillgit/*",
        "skill/demo:skill/demo",
    )
    with Repo.discover(clone) as repo:
        evaluate_revision(repo, "demo@best", Silent(), split="test")
    assert second.calls == 0
    third = World()
    train(clone, monkeypatch, new_run=True, world_=third)
    texts = [
        request.messages[0].content for request in third.target.asked if "selection" in request.messages[-1].content
    ]
    with Repo.discover(clone) as repo:
        history = SkillHistory(repo, "demo")
        assert history.text(history.resolve("demo@run-1-epoch-2")) not in texts


def test_a_second_train_says_who_holds_the_lock(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    holding, go_on = threading.Event(), threading.Event()
    slow = World()

    def wait(request: Request) -> str:
        holding.set()
        assert go_on.wait(60)
        return world.target(request)

    slow.target.answer = wait
    slow.install(monkeypatch)
    first = threading.Thread(target=lambda: run_training_in(root))
    first.start()
    assert holding.wait(60)
    with Repo.discover(root) as repo, pytest.raises(LockedError, match=r"is being trained by pid \d+"):
        run_training(repo, "demo", Silent())
    go_on.set()
    first.join(60)
    with Repo.discover(root) as repo:
        assert list(check(repo, "demo")) == []


def run_training_in(root: Path) -> None:
    with Repo.discover(root) as repo:
        run_training(repo, "demo", Silent())


def test_two_skills_train_at_once_in_one_repository(root: Path) -> None:
    git(root, "mv", "skills/demo", "skills/other")
    text = (root / "skills/other/SKILL.md").read_text(encoding="utf-8").replace("name: demo", "name: other")
    (root / "skills/other/SKILL.md").write_text(text, encoding="utf-8")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "Rename")
    git(root, "checkout", "--quiet", "HEAD~1", "--", "skills/demo")
    git(root, "commit", "--quiet", "-am", "Both")
    code = (
        "import sys; from tests.world import World; from skillgit.models import registry; registry.create = World().create\n"
        "from skillgit.__main__ import main; sys.exit(main(['-C', sys.argv[1], 'train', sys.argv[2], '--quiet']))"
    )
    here = Path(__file__).parents[2]
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(root), name], cwd=here, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        for name in ("demo", "other")
    ]
    for process in both:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    with Repo.discover(root) as repo:
        for name in ("demo", "other"):
            assert list(check(repo, name)) == []


def test_a_changed_setting_is_refused_and_a_raised_cap_is_not(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LimitReached, match=r"limits\.calls"):
        train(root, monkeypatch, "limits.calls=40")
    with pytest.raises(ConfigError, match=r"train\.batch_size: 6 -> 5"):
        train(root, monkeypatch, "train.batch_size=5")
    assert train(root, monkeypatch, "limits.calls=1000").finished
    again = World()
    assert train(root, monkeypatch, world_=again).finished
    assert again.calls == 0


def test_an_outage_is_not_measured_and_the_run_goes_on_later(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = World()

    def down(request: Request) -> str | Exception:
        return (
            ProviderError("503: down for maintenance")
            if "selection" in request.messages[-1].content
            else world.target(request)
        )

    broken.target.answer = down
    with pytest.raises((NotMeasured, FatalModelError), match="down for maintenance"):
        train(root, monkeypatch, world_=broken)
    assert git(root, "for-each-ref", "refs/skillgit", "refs/heads/skill") == ""
    assert train(root, monkeypatch).initial.scores.hard == 2 / 12


def test_a_wrong_key_stops_before_anything_with_the_providers_words(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = World()
    broken.optimizer.answer = lambda request: FatalModelError("401: invalid key")
    with pytest.raises(FatalModelError, match="401: invalid key"):
        train(root, monkeypatch, world_=broken)
    assert len(broken.target.asked) == 1


def test_nonsense_from_the_optimizer_never_ends_a_run(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    silly = World()
    silly.optimizer.answer = lambda request: Reply("I would rather talk about the weather {")
    summary = train(root, monkeypatch, world_=silly)
    assert (summary.finished, summary.unchanged, summary.counts["skip"]) == (True, True, 6)


def test_a_persons_commit_is_scored_afresh_and_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LimitReached):
        train(root, monkeypatch, "limits.calls=75")
    text = git(root, "show", "skill/demo:skills/demo/SKILL.md").replace("# Rules", "# Rules\n\n- RULE 3 holds.")
    (root / "skills/demo/SKILL.md").write_text(text + "\n", encoding="utf-8")
    git(root, "symbolic-ref", "HEAD", "refs/heads/skill/demo")
    git(root, "commit", "--quiet", "-am", "Say rule 3 by hand")
    git(root, "symbolic-ref", "HEAD", "refs/heads/main")
    by_hand = git(root, "rev-parse", "skill/demo")
    summary = train(root, monkeypatch)
    assert summary.finished
    assert by_hand in git(root, "rev-list", "skill/demo").split()
    with Repo.discover(root) as repo:
        kinds = [entry.kind for entry in SkillHistory(repo, "demo").journal.entries()]
        assert kinds.count("baseline") == 2
        assert list(check(repo, "demo")) == []


@pytest.mark.parametrize("schedule", ["constant", "linear", "cosine", "autonomous", "none"])
def test_every_schedule_trains(root: Path, monkeypatch: pytest.MonkeyPatch, schedule: str) -> None:
    summary = train(root, monkeypatch, f"edits.schedule={schedule}", "edits.budget=4")
    assert summary.finished
    with Repo.discover(root) as repo:
        budgets = [e.record["budget"] for e in SkillHistory(repo, "demo").journal.entries() if e.kind == "step"][::-1]
    expected = {
        "constant": [4] * 4,
        "linear": [3, 2, 2, 1],
        "cosine": [4, 2, 1, 1],
        "autonomous": [4] * 4,
        "none": [None] * 4,
    }
    assert budgets == expected[schedule]


def test_forced_guidance_is_marked_and_scored_by_itself(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = train(root, monkeypatch, "slow_update.acceptance=forced")
    assert summary.counts["forced"] >= 1
    assert "Skill-Gate: forced off" in git(root, "log", "--format=%B", "skill/demo")
    with Repo.discover(root) as repo:
        assert list(check(repo, "demo")) == []
