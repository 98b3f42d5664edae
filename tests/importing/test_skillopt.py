from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.__main__ import main
from skillgit.importing.replay import changes
from tests import world
from tests.commands.running import Captured, run, run_json
from tests.importing import runs
from tests.repos import git
from tests.world import World

RANGE = "refs/heads/skill/sums"


@pytest.fixture
def here(repo: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = repo()
    monkeypatch.chdir(root)
    runs.make_run(tmp_path / "out")
    return root


def imported(here: Path, capsys: Captured) -> dict[str, object]:
    return run_json(capsys, "import", "skillopt", str(here.parent / "out"), "sums")


def test_a_run_becomes_a_proven_history(here: Path, capsys: Captured) -> None:
    done = imported(here, capsys)
    assert {k: done[k] for k in ("steps", "accepted", "commits", "by_hand")} == {
        "steps": 4,
        "accepted": 2,
        "commits": 5,
        "by_hand": 0,
    }
    assert run(capsys, "fsck", "sums") == "sums: clean\n"
    subjects = git(here, "log", "--first-parent", "--format=%s", "--reverse", f"main..{RANGE}").splitlines()
    assert subjects == [
        "sums: the initial skill of an imported run",
        "sums: Read twice",
        "sums: append: Answer with a number.",
        "sums: epoch 1 meta-update (squash merge)",
        "sums: append: Check it.",
        "sums: epoch 2 meta-update (squash merge)",
    ]
    assert git(here, "status", "--porcelain") == ""


def test_texts_scores_and_trailers_are_the_runs_own(here: Path, capsys: Captured) -> None:
    imported(here, capsys)
    path = "skills/sums/SKILL.md"
    assert git(here, "show", f"{RANGE}:{path}") + "\n" == runs.FILLED
    assert git(here, "show", f"refs/skillgit/sums/best:{path}") + "\n" == runs.THIRD
    first = git(here, "rev-parse", f"{RANGE}~3")
    assert git(here, "show", f"{first}:{path}") + "\n" == runs.FIRST
    trailers = git(here, "log", "-1", "--format=%(trailers)", first)
    assert "Skill-Edit: 2/2" in trailers and "Skill-Gate: accept_new_best strict" in trailers
    assert "Skill-Score: hard 0.2500 -> 0.5000, soft 0.2500 -> 0.5000 (4 tasks)" in trailers
    assert "Skill-Target: small" in trailers
    assert "Skill-Support: 3" in git(here, "log", "-1", "--format=%(trailers)", f"{first}~1")


def test_the_log_reads_as_any_other(here: Path, capsys: Captured) -> None:
    imported(here, capsys)
    rows = run_json(capsys, "log", "sums", "--rejected")
    told = [(row["kind"], row["record"]["action"], row["record"]["step"]) for row in rows if row["kind"] != "person"]
    assert told == [
        ("final", "final", 4),
        ("epoch", "forced", 4),
        ("step", "skip", 4),
        ("step", "accept_new_best", 3),
        ("epoch", "forced", 2),
        ("step", "reject", 2),
        ("step", "accept_new_best", 1),
        ("baseline", "baseline", 0),
    ]
    verdict = rows[-2]["record"]["verdict"]
    assert verdict["movement"] == {"fixed": ["b"], "broken": [], "unchanged": 3}
    assert verdict["delta"] == 0.25
    assert rows[-2]["spend"]["spent"][0]["input_tokens"] == 40
    text = run(capsys, "log", "sums", "--rejected")
    assert "unpriced" in text and "0.7500" in text
    assert [row["record"]["edits"] for row in rows if row["kind"] == "step"] == [
        {"proposed": 0},
        {"proposed": 1, "applied": 1},
        {"proposed": 1, "applied": 1},
        {"proposed": 2, "applied": 2},
    ]
    assert rows[0]["record"]["test"]["current"]["hard"] == 1.0


def test_the_rejected_edit_and_the_advice_are_noted(here: Path, capsys: Captured) -> None:
    imported(here, capsys)
    (row,) = run_json(capsys, "rejected", "sums")
    assert (row["step"], row["before"], row["after"]) == (2, 0.5, 0.25)
    assert [edit["content"].strip() for edit in row["edits"]] == ["- Guess."]
    assert git(here, "notes", "--ref=skillgit/meta", "show", RANGE) == "Small edits help."
    moved = run_json(capsys, "diff", "sums@base", "sums@step-3")["moved"]
    assert [one["task"] for one in moved] == ["b", "c"]


def test_the_users_own_initial_skill_is_the_base(here: Path, capsys: Captured) -> None:
    home = here / "skills" / "sums"
    home.mkdir()
    (home / "SKILL.md").write_text(runs.INITIAL, encoding="utf-8")
    git(here, "add", ".")
    git(here, "commit", "-q", "-m", "the skill")
    imported(here, capsys)
    assert git(here, "rev-list", "--count", f"main..{RANGE}") == "5"
    assert run(capsys, "fsck", "sums") == "sums: clean\n"


def test_a_change_that_no_edit_can_make_is_a_commit_by_hand(here: Path, capsys: Captured) -> None:
    folder = here.parent / "out"
    other = runs.THIRD.replace("START -->\n", "START -->\nx\n")
    runs.step(folder, 3, other, other, [], "abc")
    done = imported(here, capsys)
    assert done["by_hand"] == 1
    assert run(capsys, "fsck", "sums") == "sums: clean\n"


def test_a_run_whose_gate_was_off(here: Path, capsys: Captured) -> None:
    folder = here.parent / "out"
    history = json.loads((folder / "history.json").read_text(encoding="utf-8"))
    history[1]["action"] = "force_accept"
    runs.write(folder / "history.json", history)
    runs.write(folder / "skills" / "skill_v0002.md", runs.BAD)
    runs.step(
        folder,
        3,
        runs.BAD + "\n- Check it.\n",
        runs.BAD + "\n- Check it.\n",
        [{"op": "append", "content": "- Check it."}],
        "abc",
    )
    runs.write(folder / "skills" / "skill_v0004.md", runs.BAD + "\n- Check it.\n")
    imported(here, capsys)
    assert run(capsys, "fsck", "sums") == "sums: clean\n"
    actions = [row["record"]["action"] for row in run_json(capsys, "log", "sums") if row["kind"] == "step"]
    assert actions == ["accept_new_best", "forced", "accept_new_best"]


def test_means_without_tasks(here: Path, capsys: Captured) -> None:
    folder = here.parent / "out"
    for path in folder.rglob("results.jsonl"):
        path.unlink()
    tests = {"baseline_test_hard": 0.25, "test_hard": 0.75, "test_soft": 0.8}
    runs.write(folder / "summary.json", {"baseline_selection_hard": 0.25, **tests})
    imported(here, capsys)
    assert run(capsys, "fsck", "sums") == "sums: clean\n"
    rows = run_json(capsys, "log", "sums")
    (step,) = [row["record"] for row in rows if row["kind"] == "step" and row["record"]["step"] == 1]
    assert rows[0]["record"]["test"]["best"] == {"hard": 0.75, "soft": 0.8, "n": 0, "interval": [0.0, 1.0]}
    assert rows[0]["record"]["test"]["current"] == rows[0]["record"]["test"]["best"]
    assert step["verdict"]["interval"] == [-1.0, 1.0] and step["current"]["n"] == 0


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda out: (out / "history.json").unlink(), "history.json is missing"),
        (lambda out: (out / "history.json").write_text("{", encoding="utf-8"), "history.json is not JSON"),
        (lambda out: (out / "skills" / "skill_v0003.md").unlink(), "skill_v0003.md is missing"),
        (
            lambda out: runs.write(out / "history.json", [runs.row(1, "reject", "high", 0.5)]),
            "values that a run has not",
        ),
        (lambda out: runs.write(out / "history.json", [{"step": "first"}]), "values that a run has not"),
        (
            lambda out: runs.results(out / "selection_eval_baseline", "", of=0),
            "does not tell the initial skill's score",
        ),
    ],
)
def test_a_folder_that_is_no_run(here: Path, capsys: Captured, break_it: Callable[[Path], object], said: str) -> None:
    break_it(here.parent / "out")
    assert main(["import", "skillopt", str(here.parent / "out"), "sums"]) == 2
    assert said in capsys.readouterr().err
    assert git(here, "for-each-ref", "refs/skillgit") == ""


def test_a_history_is_never_overwritten(here: Path, capsys: Captured) -> None:
    imported(here, capsys)
    tip = git(here, "rev-parse", RANGE)
    assert main(["import", "skillopt", str(here.parent / "out"), "sums"]) == 1
    assert "has a history already" in capsys.readouterr().err
    assert git(here, "rev-parse", RANGE) == tip


def test_edits_are_replayed_as_the_reference_applies_them() -> None:
    found = changes(runs.INITIAL, runs.FIRST, runs.EDITS)
    assert found is not None
    assert [one.text for one in found] == ["# Sums\n\n- Read the question twice.\n", runs.FIRST]
    assert changes(runs.INITIAL, runs.INITIAL, []) == []
    (whole,) = changes("a\nb\n", "a\nc\n", [{"op": "append", "content": "unrelated"}]) or []
    assert whole.text == "a\nc\n" and whole.edit.source == "patch"


def test_no_key_of_the_run_gets_into_the_repository(here: Path, capsys: Captured) -> None:
    secret = "s3cr3t-" + "0123456789"
    runs.make_run(here.parent / "out", config={"optimizer_azure_openai_api_key": secret, "max_completion_tokens": 7})
    imported(here, capsys)
    kept = git(here, "show", "refs/skillgit/sums/journal:config.yaml")
    assert secret not in kept and "max_completion_tokens: 7" in kept


def test_training_goes_on_from_an_imported_run(
    repo: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    root = repo("demo", skill=runs.INITIAL, env=world.ENV, tasks=world.tasks())
    World().install(monkeypatch)
    monkeypatch.chdir(root)
    run(capsys, "import", "skillopt", str(runs.make_run(tmp_path / "out")), "demo")
    assert "run 1, complete" in run(capsys, "status", "demo")
    run(capsys, "train", "demo", "--quiet", "--new-run")
    assert run(capsys, "fsck", "demo") == "demo: clean\n"
    assert {row["record"]["run"] for row in run_json(capsys, "log", "demo") if row["kind"] == "baseline"} == {1, 2}
    run(capsys, "report", "demo", "-o", "r.html")
    html = (root / "r.html").read_text(encoding="utf-8")
    assert "Read twice" in html and "say RULE" in html
