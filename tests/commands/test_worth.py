"""gate, attribute, prune and runs, as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgit.__main__ import main
from skillgit.models.base import Request
from tests import world
from tests.commands.running import Captured, run, run_json
from tests.repos import git
from tests.world import Scripted, World

SETTINGS = {
    "gate.policy": "off",
    "train.epochs": 1,
    "train.batch_size": 12,
    "reflect.minibatch_size": 12,
    "edits.budget": 3,
    "edits.min_budget": 3,
    "slow_update.enabled": "false",
}
OFF = [word for key, value in SETTINGS.items() for word in ("-o", f"{key}={value}")]


def useless(request: Request) -> str:
    """RULE 1, which solves 2 of 12, then words that do nothing, then POISON 0, which breaks 2."""
    if not request.schema_name.startswith("reflect_failure"):
        return world.optimizer(request)
    rows = [
        {"op": "append", "content": f"- {text} holds.", "title": f"say {text}", "target": None}
        for text in ("RULE 1", "nothing", "POISON 0")
    ]
    return json.dumps({"patterns": [], "reasoning": "", "edits": rows})


@pytest.fixture
def loose(untrained: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Path:
    """A training without a gate, with an edit of each kind."""
    World(optimizer=Scripted("openai:o", useless)).install(monkeypatch)
    assert main(["train", "demo", "--quiet", *OFF]) == 0
    capsys.readouterr()
    return untrained


def test_an_edit_dropped_after_the_end_is_tested_by_the_next_train(loose: Path, capsys: Captured) -> None:
    """The tip solves rule 1 alone, 2 of 12; without POISON 0 it solves rule 0 too. Its own test score is told, not the old."""
    before = run_json(capsys, "status", "demo")
    assert (before["finished"], before["test"]["best"]["hard"]) == (True, round(2 / 12, 6))
    assert run_json(capsys, "prune", "demo", *OFF)["action"] == "accept_new_best"
    dropped = run_json(capsys, "status", "demo")
    assert (dropped["finished"], dropped["test"]) == (False, None)
    assert [(row["finished"], row["test"]) for row in run_json(capsys, "runs", "demo")] == [(False, {})]
    assert run_json(capsys, "train", "demo", *OFF)["test"]["best"]["hard"] == round(4 / 12, 6)
    after = run_json(capsys, "status", "demo")
    assert (after["finished"], after["test"]["best"]["hard"]) == (True, round(4 / 12, 6))
    assert run_json(capsys, "fsck", "demo") == []


def test_attribute_measures_each_edit_and_log_shows_it(loose: Path, capsys: Captured) -> None:
    """The tip solves rule 1 alone (2 of 12); without RULE 1 nothing, without POISON 0 rules 0 and 1."""
    found = run_json(capsys, "attribute", "demo")
    rows = {row["title"]: row for row in found["changes"]}
    assert found["score"] == round(2 / 12, 6)
    assert [rows[name]["worth"] for name in ("say RULE 1", "say nothing", "say POISON 0")] == [
        round(2 / 12, 6),
        0.0,
        round(-2 / 12, 6),
    ]
    assert rows["say RULE 1"]["kept"] == ["selection-001", "selection-007"]
    assert rows["say POISON 0"]["cost"] == ["selection-000", "selection-006"]
    assert run_json(capsys, "attribute", "demo")["spend"]["calls"] == 0
    assert "    worth -0.1667: say POISON 0" in run(capsys, "log", "demo").splitlines()
    (step,) = [row for row in run_json(capsys, "log", "demo") if row["kind"] == "step"]
    assert [one["worth"] for one in step["worth"]] == [round(2 / 12, 6), 0.0, round(-2 / 12, 6)]
    table = run(capsys, "attribute", "demo").splitlines()
    assert table[0].endswith(": 0.1667 with everything")
    assert "say POISON 0" in table[-2] and "-0.1667" in table[-2]


def test_prune_drops_what_is_worth_nothing(loose: Path, capsys: Captured) -> None:
    tip = git(loose, "rev-parse", "skill/demo")
    planned = run_json(capsys, "prune", "demo", "--dry-run")
    assert [row["title"] for row in planned["dropped"]] == ["say POISON 0", "say nothing"]
    assert git(loose, "rev-parse", "skill/demo") == tip
    done = run_json(capsys, "prune", "demo", *OFF)
    assert (done["action"], done["before"], done["after"]) == ("accept_new_best", round(2 / 12, 6), round(4 / 12, 6))
    assert git(loose, "log", "--format=%s", f"{tip}..skill/demo").splitlines() == [
        "demo: drop 'say nothing'",
        "demo: drop 'say POISON 0'",
    ]
    text = git(loose, "show", "skill/demo:skills/demo/SKILL.md")
    assert text == world.SKILL.rstrip("\n") + "\n- RULE 1 holds."
    assert run(capsys, "fsck", "demo")
    assert run_json(capsys, "prune", "demo", *OFF)["action"] == "nothing"


def test_prune_of_words_that_do_nothing_wins_the_tie(
    untrained: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def idle(request: Request) -> str:
        if request.schema_name != "reflect_failure":
            return world.optimizer(request)
        rows = [{"op": "append", "content": "- Words.", "title": "say words", "target": None}]
        return json.dumps({"patterns": [], "reasoning": "", "edits": rows})

    World(optimizer=Scripted("openai:o", idle)).install(monkeypatch)
    assert main(["train", "demo", "--quiet", *OFF]) == 0
    capsys.readouterr()
    done = run_json(capsys, "prune", "demo", *OFF)
    assert (done["action"], done["reason"]) == ("accept", "2 of 12 against 2: a tie, and shorter")
    assert git(untrained, "show", "skill/demo:skills/demo/SKILL.md") == world.SKILL.rstrip("\n")
    assert run(capsys, "fsck", "demo")


def test_gate_compares_two_revisions(trained: Path, capsys: Captured) -> None:
    found = run_json(capsys, "gate", "demo@best", "--against", "base")
    assert found["verdict"]["action"].startswith("accept")
    assert (found["verdict"]["before"], found["verdict"]["after"]) == (round(2 / 12, 6), 0.5)
    assert found["spend"]["calls"] == 0
    text = run(capsys, "gate", "demo@base", "--against", "best", code=1)
    assert "rejected: 2 of 12 against 6: lower" in text
    assert "  broken    4: selection-001 selection-005 selection-007 selection-011" in text


def test_gate_aa_of_a_steady_target_finds_no_noise(trained: Path, capsys: Captured) -> None:
    found = run_json(capsys, "gate", "demo", "--aa")
    assert (found["flipped"], found["noise"], found["tasks"], found["spend"]["calls"]) == (0, 0.0, 12, 12)
    assert {name: rate["look"] for name, rate in found["rates"].items()} == {
        "strict": 0.0,
        "no_regression": 0.0,
        "paired": 0.0,
        "off": 1.0,
    }
    assert run_json(capsys, "gate", "demo", "--aa")["spend"]["calls"] == 0


def test_gate_aa_of_a_noisy_target_says_how_often_noise_is_accepted(
    trained: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """The second time six of the twelve tasks come out otherwise: three either way in half of the swaps is a tie."""

    def noisy(request: Request) -> str:
        answer = world.target(request)
        number = int(request.messages[-1].content.rsplit(" ", 1)[-1]) if ":" in request.messages[-1].content else 1
        flip = request.sample == 1 and number % 2 == 0
        if not flip:
            return answer
        asked = request.messages[-1].content.split(": ")[1]
        return "no idea" if answer.startswith("done") else f"done {asked}"

    World(target=Scripted("openai:world", noisy)).install(monkeypatch)
    found = run_json(capsys, "gate", "demo", "--aa")
    assert found["flipped"] == 6
    assert found["noise"] == round(6**0.5 / 12, 6)
    # more than half of six coins: (6C4 + 6C5 + 6C6) / 64 = 22/64 = 0.344
    assert found["rates"]["strict"]["look"] == pytest.approx(22 / 64, abs=0.05)
    assert found["rates"]["paired"]["look"] <= 0.05
    text = run(capsys, "gate", "demo", "--aa")
    assert "6 of 12 tasks came out differently" in text


def test_runs_stand_side_by_side(trained: Path, capsys: Captured) -> None:
    assert (
        main(["train", "demo", "--quiet", "--new-run", "-o", "gate.policy=no_regression", "-o", "train.epochs=1"]) == 0
    )
    capsys.readouterr()
    first, second = run_json(capsys, "runs", "demo")
    assert (first["run"], first["initial"]["hard"], first["best"]["hard"]) == (1, round(2 / 12, 6), 0.5)
    assert first["steps"] == {"reject": 3, "accept_new_best": 1}
    assert first["test"]["best"]["n"] == 12
    assert second["changed"] == {"gate.policy": ["strict", "no_regression"], "train.epochs": [2, 1]}
    assert second["initial"]["hard"] == 0.5
    lines = run(capsys, "runs", "demo").splitlines()
    assert lines[0].split() == ["run", "steps", "accepted", "initial", "best", "test", "of", "best", "calls", "cost"]
    assert "     gate.policy: strict -> no_regression" in lines


@pytest.mark.parametrize("command", ["attribute", "prune", "runs"])
def test_what_was_never_trained_is_said_so(untrained: Path, capsys: Captured, command: str) -> None:
    assert main([command, "demo"]) == 1
    assert "was never trained here" in capsys.readouterr().err


def test_no_one_knows_an_unknown_revision(trained: Path, capsys: Captured) -> None:
    assert main(["gate", "demo@nowhere"]) == 1
    assert "has no revision 'nowhere'" in capsys.readouterr().err


def test_prune_keeps_one_of_two_edits_that_say_the_same(
    untrained: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Each of them is worth nothing beside the other; without both, two tasks of twelve are lost."""

    def twice(request: Request) -> str:
        if not request.schema_name.startswith("reflect_failure"):
            return world.optimizer(request)
        rows = [
            {"op": "append", "content": f"- RULE 1 holds, {word}.", "title": f"say it {word}", "target": None}
            for word in ("once", "again")
        ]
        return json.dumps({"patterns": [], "reasoning": "", "edits": rows})

    World(optimizer=Scripted("openai:o", twice)).install(monkeypatch)
    assert main(["train", "demo", "--quiet", *OFF]) == 0
    capsys.readouterr()
    worths = [row["worth"] for row in run_json(capsys, "attribute", "demo")["changes"]]
    assert worths == [0.0, 0.0]
    done = run_json(capsys, "prune", "demo", *OFF)
    assert [row["title"] for row in done["dropped"]] == ["say it once"]
    assert (done["action"], done["before"], done["after"]) == ("accept_new_best", round(4 / 12, 6), round(4 / 12, 6))
    left = run_json(capsys, "attribute", "demo")["changes"]
    assert [(row["title"], row["worth"]) for row in left] == [("say it again", round(2 / 12, 6))]


def test_what_was_taken_back_cannot_be_taken_back_again(loose: Path, capsys: Captured) -> None:
    commit = {row["title"]: row["commit"] for row in run_json(capsys, "attribute", "demo")["changes"]}["say POISON 0"]
    run(capsys, "revert", f"demo@{commit}", *OFF)
    by = git(loose, "rev-parse", "skill/demo")
    assert main(["revert", f"demo@{commit}", *OFF]) == 1
    said = f"'say POISON 0' ({commit[:10]}) was taken back already, by {by[:10]}\n"
    assert capsys.readouterr().err.startswith(f"error: {said}")
    titles = [row["title"] for row in run_json(capsys, "attribute", "demo")["changes"]]
    assert titles == ["say RULE 1", "say nothing"]


def test_a_skill_without_edits_has_nothing_to_prune(
    untrained: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    World(optimizer=Scripted("openai:o", lambda request: '{"edits": []}')).install(monkeypatch)
    main(["train", "demo", "--quiet", "-o", "train.epochs=1", "-o", "slow_update.enabled=false"])
    capsys.readouterr()
    assert run_json(capsys, "prune", "demo")["reason"] == "the skill has no accepted edits"


def test_aa_takes_no_other_revision(trained: Path, capsys: Captured) -> None:
    assert main(["gate", "demo", "--aa", "--against", "best"]) == 2
    assert "--aa measures demo against itself, so --against best has no place beside it" in capsys.readouterr().err


def test_aa_counts_the_looks_of_the_epochs_ends_too(trained: Path, capsys: Captured) -> None:
    """12 train tasks in batches of 4: three steps an epoch, two epochs; the slow update looks at the end of the second."""
    options = ["-o", "train.epochs=2", "-o", "train.batch_size=4", "-o", "slow_update.first_epoch=false"]
    gated = [*options, "-o", "slow_update.acceptance=gated"]
    assert run_json(capsys, "gate", "demo", "--aa", *gated)["looks"] == 2 * 3 + 1
    assert run_json(capsys, "gate", "demo", "--aa", *options, "-o", "slow_update.acceptance=forced")["looks"] == 2 * 3
