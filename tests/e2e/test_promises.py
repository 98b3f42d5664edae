"""What the README promises of a training, on real repositories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.errors import (
    ConfigError,
    FatalModelError,
    LimitReached,
    NotMeasured,
    ProviderError,
)
from skillgit.git.fsck import check
from skillgit.git.history import SkillHistory
from skillgit.git.repo import Repo
from skillgit.models.base import Reply, Request
from skillgit.report import Silent
from skillgit.run import Summary
from skillgit.session import run_training
from tests import world
from tests.repos import git
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
