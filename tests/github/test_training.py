"""Trainings in a workflow: pushed as they go, stopped and taken up, asked for by comments."""

from __future__ import annotations

from typing import Any

import pytest

from skillgit.github import training
from tests.github.hub import Hub
from tests.repos import git
from tests.world import World

BY_HAND: dict[str, Any] = {"repository": {"default_branch": "main"}}
REFS = ("refs/heads/skill/demo", "refs/skillgit/demo/journal", "refs/skillgit/demo/best", "refs/notes/skillgit/scores")


def comment(body: str, who: str = "MEMBER") -> dict[str, Any]:
    return {**BY_HAND, "comment": {"body": body, "author_association": who}}


def there(hub: Hub) -> list[str]:
    return git(hub.remote, "for-each-ref", "--format=%(refname)", *REFS).splitlines()


def test_a_training_ends_in_a_pull_request(hub: Hub) -> None:
    hub.checkout()
    assert hub.step("workflow_dispatch", BY_HAND, "train", "demo", "-q") == 0
    assert sorted(there(hub)) == sorted(REFS)
    tip = git(hub.remote, "rev-parse", "skill/demo")
    (pull,) = hub.pulls
    assert (pull["head"], pull["base"], pull["title"]) == ({"ref": "skill/demo"}, "main", "Train the skill demo")
    assert f"`{tip[:10]}`" in pull["body"]
    assert hub.outputs == {"result": "complete", "pull-request": "https://github.test/pulls"}
    assert hub.summary.strip() == pull["body"]
    assert hub.step("schedule", BY_HAND, "train", "demo", "-q") == 0
    assert hub.calls == ["POST /pulls", "PATCH /pulls/8"]
    assert git(hub.remote, "rev-parse", "skill/demo") == tip


def test_the_next_job_goes_on_where_a_cap_stopped_the_last_one(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.checkout()
    assert hub.step("workflow_dispatch", BY_HAND, "train", "demo", "-q", "-o", "limits.calls=75") == 0
    assert hub.outputs["result"] == "stopped"
    first = git(hub.remote, "log", "--format=%s", REFS[1]).splitlines()
    hub.runner = hub.folder / "another"
    hub.checkout()
    assert hub.step("workflow_dispatch", BY_HAND, "train", "demo", "-q") == 0
    assert hub.outputs["result"] == "complete"
    whole = git(hub.remote, "log", "--format=%s", REFS[1]).splitlines()
    assert whole[-len(first) :] == first
    assert whole[0] == "demo: run 1 final"


def test_each_accepted_edit_is_pushed_at_once(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.checkout()
    seen: list[tuple[str, bool]] = []
    entry = training.Pushing.entry

    def watched(self: training.Pushing, record: Any, spend: Any) -> None:
        entry(self, record, spend)
        ours = git(hub.runner, "rev-parse", "skill/demo")
        theirs = git(hub.remote, "rev-parse", "--verify", "--quiet", "skill/demo", check=False)
        seen.append((record["action"], ours == theirs))

    monkeypatch.setattr(training.Pushing, "entry", watched)
    hub.step("workflow_dispatch", BY_HAND, "train", "demo", "-q")
    accepted = [pushed for action, pushed in seen if action.startswith("accept")]
    assert accepted == [True, True]


def test_new_run_starts_another_only_where_the_last_is_complete(hub: Hub) -> None:
    hub.checkout()
    for expected in (1, 2):
        assert hub.step("schedule", BY_HAND, "train", "demo", "-q", "--new-run") == 0
        assert git(hub.remote, "log", "-1", "--format=%s", REFS[1]) == f"demo: run {expected} final"


@pytest.mark.parametrize(
    ("event", "name", "actor", "why"),
    [
        (comment("/skillgit train demo", "NONE"), "", "person", "only people who may write"),
        (comment("/skillgit train demo", "CONTRIBUTOR"), "", "person", "only people who may write"),
        (comment("please /skillgit train demo"), "", "person", "does not begin with"),
        (comment("/skillgit train demo"), "", "github-actions[bot]", "does not begin with"),
        (comment("/skillgit train demo"), "other", "person", "this job trains 'other'"),
    ],
)
def test_who_may_not_start_a_training(
    hub: Hub, event: dict[str, Any], name: str, actor: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.checkout()
    models = World().install(monkeypatch)
    arguments = ("train", *([name] if name else []))
    assert hub.step("issue_comment", event, *arguments, GITHUB_ACTOR=actor) == 0
    assert why in hub.summary
    assert (models.calls, there(hub), hub.outputs["result"]) == (0, [], "neutral")


def test_a_comment_starts_a_training(hub: Hub) -> None:
    hub.checkout()
    assert hub.step("issue_comment", comment("/skillgit train demo\r\n\r\nthanks"), "train", "-q") == 0
    assert len(hub.pulls) == 1


@pytest.mark.parametrize("said", ["demo; rm -rf /", "../demo", "-o limits.usd=1000", "$(id)", "demo -o x=y"])
def test_a_comment_names_a_skill_and_nothing_else(hub: Hub, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    hub.checkout()
    assert hub.step("issue_comment", comment(f"/skillgit train {said}"), "train") == 2
    assert there(hub) == []
    assert capsys.readouterr().err.startswith("error: ")


def test_somebody_elses_line_is_never_overwritten(hub: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    hub.checkout()
    hub.step("workflow_dispatch", BY_HAND, "train", "demo", "-q")
    git(hub.author, "fetch", "--quiet", "origin", "skill/demo")
    git(hub.author, "checkout", "--quiet", "--detach", "main")
    git(hub.author, "commit", "--quiet", "--allow-empty", "-m", "Another line")
    git(hub.author, "push", "--quiet", "--force", "origin", "HEAD:refs/heads/skill/demo")
    theirs = git(hub.author, "rev-parse", "HEAD")
    assert hub.step("workflow_dispatch", BY_HAND, "train", "demo", "-q") == 1
    assert "--theirs demo" in capsys.readouterr().err
    assert git(hub.remote, "rev-parse", "skill/demo") == theirs


def test_nothing_accepted_opens_nothing(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """The optimizer proposes words that do nothing."""
    hub.checkout()
    models = World().install(monkeypatch)
    models.optimizer.answer = lambda _: '{"patterns": [], "reasoning": "", "edits": []}'
    assert hub.step("workflow_dispatch", BY_HAND, "train", "demo", "-q") == 0
    assert (hub.pulls, hub.outputs["pull-request"]) == ([], "")
    assert "unchanged" in hub.summary


def test_a_token_that_may_not_open_one_leaves_the_branch(hub: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    hub.checkout()
    hub.refuse = 403
    assert hub.step("workflow_dispatch", BY_HAND, "train", "demo") == 0
    assert "allow Actions to create pull requests" in capsys.readouterr().err
    assert sorted(there(hub)) == sorted(REFS)
