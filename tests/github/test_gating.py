"""The gate on pull requests: the world's skill solves 2 of 12 tasks with each rule that it holds."""

from __future__ import annotations

import pytest

from tests import world
from tests.github.hub import BOT, Hub
from tests.repos import git
from tests.world import World

MARKER = "<!-- skillgit gate -->"
BETTER = world.SKILL + "- RULE 1 holds.\n"
WORSE = world.SKILL.replace("RULE 0", "NOTHING")


def test_a_better_skill_gets_a_comment_and_passes(hub: Hub) -> None:
    """Rule 1 fixes selection-001 and selection-007: 2 of 12 become 4 of 12."""
    base, head = hub.change(BETTER)
    hub.checkout(head)
    assert hub.step("pull_request", hub.pull_event(base, head), "gate") == 0
    (comment,) = hub.comments
    assert comment["body"].startswith(MARKER + "\n### `demo`: better")
    assert "0.1667 -> 0.3333 (n = 12)" in comment["body"]
    assert "2 fixed, 0 broken, 10 unchanged" in comment["body"]
    assert "`selection-001`, `selection-007`" in comment["body"]
    assert "+- RULE 1 holds." in comment["body"]
    assert hub.summary.strip() == comment["body"].removeprefix(MARKER).strip()
    assert hub.outputs == {"result": "passed", "skills": "demo", "fixed": "2", "broken": "0"}


def test_a_push_updates_the_one_comment_and_pays_for_the_new_text_only(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.comments += [{"id": n, "user": {"type": "User"}, "body": f"{MARKER} said a person"} for n in range(130)]
    base, head = hub.change(BETTER)
    hub.checkout(head)
    hub.step("pull_request", hub.pull_event(base, head), "gate")
    base, head = hub.change(BETTER + "- RULE 2 holds.\n")
    git(hub.runner, "fetch", "--quiet", "origin", head)
    models = World().install(monkeypatch)
    hub.step("pull_request", hub.pull_event(base, head), "gate")
    assert len(models.target.asked) == 12
    assert hub.calls == ["POST /issues/7/comments", "PATCH /issues/comments/130"]
    assert "0.1667 -> 0.5000" in hub.comments[-1]["body"]
    assert [one["user"] for one in hub.comments[-2:]] == [{"type": "User"}, BOT]


@pytest.mark.parametrize(
    ("text", "fail_on", "code"),
    [
        (BETTER, "reject", 0),
        (world.SKILL + "- Words.\n", "reject", 1),
        (world.SKILL + "- Words.\n", "worse", 0),
        (WORSE, "reject", 1),
        (WORSE, "worse", 0),  # 2 of 12 lost: the interval of the difference holds 0
        (world.SKILL + "".join(f"- POISON {n} holds.\n" for n in range(6)), "never", 0),
    ],
)
def test_what_makes_the_check_red(hub: Hub, text: str, fail_on: str, code: int) -> None:
    base, head = hub.change(text)
    hub.checkout(head)
    assert hub.step("pull_request", hub.pull_event(base, head), "gate", "--fail-on", fail_on) == code
    assert hub.outputs["result"] == ("failed" if code else "passed")


def test_measurably_worse_is_red(hub: Hub) -> None:
    """All six rules lost at once: 12 of 12 become 0 of 12."""
    all_rules = "".join(f"- RULE {n} holds.\n" for n in range(6))
    (hub.author / "skills/demo/SKILL.md").write_text(world.SKILL + all_rules, encoding="utf-8")
    git(hub.author, "commit", "--quiet", "-am", "Know everything")
    git(hub.author, "push", "--quiet", "origin", "main")
    base, head = hub.change(WORSE)
    hub.checkout(head)
    assert hub.step("pull_request", hub.pull_event(base, head), "gate") == 1
    assert "0 fixed, 12 broken" in hub.summary


@pytest.mark.parametrize("source", ["stranger/skills", None])
def test_a_fork_ends_neutral_and_measures_nothing(
    hub: Hub, source: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, head = hub.change(BETTER)
    hub.checkout(head)
    models = World().install(monkeypatch)
    assert hub.step("pull_request", hub.pull_event(base, head, source=source), "gate") == 0
    assert (models.calls, hub.calls, hub.outputs["result"]) == (0, [], "neutral")
    assert "fork" in hub.summary


def test_a_push_event_ends_neutral(hub: Hub) -> None:
    hub.checkout()
    assert hub.step("push", {"ref": "refs/heads/main"}, "gate") == 0
    assert "the event 'push' has none" in hub.summary


def test_a_pull_request_without_a_skill_ends_neutral(hub: Hub) -> None:
    (hub.author / "other.txt").write_text("x", encoding="utf-8")
    base, head = hub.change(world.SKILL)
    hub.checkout(head)
    assert hub.step("pull_request", hub.pull_event(base, head), "gate") == 0
    assert hub.outputs["result"] == "neutral"


def test_a_shallow_clone_is_deepened_and_main_may_have_moved_on(hub: Hub) -> None:
    """What others did on main meanwhile is not the pull request's: its text is compared with where it branched off."""
    _, head = hub.change(BETTER)
    git(hub.author, "checkout", "--quiet", "main")
    (hub.author / "skills/demo/SKILL.md").write_text(world.SKILL + "- RULE 5 holds.\n", encoding="utf-8")
    git(hub.author, "commit", "--quiet", "-am", "Meanwhile")
    git(hub.author, "push", "--quiet", "origin", "main")
    hub.checkout(head, depth=1)
    assert git(hub.runner, "rev-parse", "--is-shallow-repository") == "true"
    assert hub.step("pull_request", hub.pull_event(git(hub.author, "rev-parse", "main"), head), "gate") == 0
    assert "0.1667 -> 0.3333" in hub.summary
    assert "RULE 5" not in hub.summary


def test_known_scores_are_fetched_and_not_paid_again(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    base, head = hub.change(BETTER)
    hub.checkout(head)
    hub.step("pull_request", hub.pull_event(base, head), "gate")
    git(hub.runner, "push", "--quiet", "origin", "refs/notes/skillgit/scores")
    hub.runner = hub.folder / "another"
    hub.checkout(head)
    models = World().install(monkeypatch)
    assert hub.step("pull_request", hub.pull_event(base, head), "gate") == 0
    assert models.calls == 0
    assert "0.1667 -> 0.3333" in hub.summary


def test_a_new_skill_is_scored_alone(hub: Hub) -> None:
    base = git(hub.author, "rev-parse", "main")
    git(hub.author, "checkout", "--quiet", "-b", "new")
    git(hub.author, "mv", "skills/demo", "skills/fresh")
    path = hub.author / "skills/fresh/SKILL.md"
    path.write_text(path.read_text(encoding="utf-8").replace("name: demo", "name: fresh"), encoding="utf-8")
    git(hub.author, "commit", "--quiet", "-am", "A new skill")
    git(hub.author, "push", "--quiet", "origin", "new")
    head = git(hub.author, "rev-parse", "new")
    hub.checkout(head)
    assert hub.step("pull_request", hub.pull_event(base, head), "gate", "--fail-on", "reject") == 0
    assert "### `fresh`: new" in hub.summary
    assert "0.1667" in hub.summary


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_token_that_may_not_comment_leaves_the_summary(
    hub: Hub, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    base, head = hub.change(BETTER)
    hub.checkout(head)
    hub.refuse = status
    assert hub.step("pull_request", hub.pull_event(base, head), "gate") == 0
    assert "pull-requests: write" in capsys.readouterr().err
    assert "0.1667 -> 0.3333" in hub.summary


def test_a_diff_cannot_leave_its_fence(hub: Hub) -> None:
    base, head = hub.change(BETTER + "\n````\n@everyone <script>\n````\n")
    hub.checkout(head)
    hub.step("pull_request", hub.pull_event(base, head), "gate")
    assert "`````diff\n" in hub.comments[0]["body"]


@pytest.mark.parametrize("text", ["", "[]", "{", "\x00"])
def test_an_event_that_is_none(
    hub: Hub, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from skillgit.__main__ import main

    hub.checkout()
    hub.step("push", {}, "gate")
    (hub.folder / "event.json").write_text(text, encoding="utf-8")
    assert main(["github", "gate"]) == 2
    assert "is not an event" in capsys.readouterr().err
