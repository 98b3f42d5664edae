"""Claims of trailers, measured again: a training's own, one that was made up, and one with made-up scores in the notes."""

from __future__ import annotations

import pytest

from skillgit.__main__ import main
from tests.github.hub import Hub
from tests.repos import git
from tests.world import World


@pytest.fixture
def claimed(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> str:
    """The tip of a skill branch that an author trained and pushed with its notes: three rules, 6 of 12 tasks."""
    monkeypatch.chdir(hub.author)
    assert main(["train", "demo", "--quiet"]) == 0
    git(hub.author, "push", "--quiet", "origin", "skill/demo", "refs/notes/skillgit/scores")
    return git(hub.author, "rev-parse", "skill/demo")


def gate(hub: Hub, head: str) -> int:
    base = git(hub.author, "rev-parse", "main")
    hub.checkout(head)
    return hub.step("pull_request", hub.pull_event(base, head), "gate", "-q", "--verify")


def test_a_trainings_claim_holds_and_is_measured_afresh(
    hub: Hub, claimed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = World().install(monkeypatch)
    assert gate(hub, claimed) == 0
    assert "the recorded score holds" in hub.summary
    assert "claims 0.5000; measured afresh: 0.5000" in hub.summary
    assert len(models.target.asked) == 12  # both ends are known from the notes


def test_a_claim_that_was_made_up_is_red(hub: Hub, claimed: str) -> None:
    message = git(hub.author, "log", "-1", "--format=%B", claimed)
    assert "-> 0.5000, soft" in message
    tree, parent = (git(hub.author, "rev-parse", f"{claimed}{what}") for what in ("^{tree}", "^"))
    forged = git(hub.author, "commit-tree", tree, "-p", parent, "-m", message.replace("-> 0.5000", "-> 0.9500"))
    git(hub.author, "push", "--quiet", "--force", "origin", f"{forged}:refs/heads/skill/demo")
    assert gate(hub, forged) == 1
    assert "does NOT hold" in hub.summary
    assert "claims 0.9500; measured afresh: 0.5000" in hub.summary


def test_without_a_claim_there_is_nothing_to_verify(hub: Hub) -> None:
    base, head = hub.change(
        "---\nname: demo\ndescription: Follow the rules.\n---\n\n- RULE 0 holds.\n- RULE 1 holds.\n"
    )
    hub.checkout(head)
    assert hub.step("pull_request", hub.pull_event(base, head), "gate", "--verify") == 0
    assert "recorded score" not in hub.summary
