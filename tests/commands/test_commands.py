"""The commands as a person types them, on a real repository with a trained skill."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgit.__main__ import COMMANDS, main
from tests import world
from tests.repos import git
from tests.snapshots import snapshot
from tests.world import World


@pytest.fixture
def untrained(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    root = repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks())
    World().install(monkeypatch)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def trained(untrained: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["train", "demo", "--quiet"]) == 0
    capsys.readouterr()
    return untrained


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(arguments) == code, capsys.readouterr()
    return capsys.readouterr().out


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    return json.loads(run(capsys, *arguments, "--json", code=code))


def test_train_tells_plan_steps_and_summary(untrained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "demo"]) == 0
    out, err = capsys.readouterr()
    assert "plan: 2 epochs, 4 steps (so 4 proposals); tasks: train 12, selection 12, test 12" in err
    assert "step 4/4" in err
    assert "initial" in out
    assert "test (untouched until now)" in out


def test_train_says_loudly_when_nothing_was_learned(
    untrained: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    useless = World()
    useless.optimizer.answer = lambda request: (
        '{"patterns": [], "reasoning": "", "edits": [], "guidance": "", "meta_skill": ""}'
    )
    monkeypatch.setattr("skillgit.models.registry.create", useless.create)
    summary = run_json(
        capsys, "train", "demo", "--quiet", "-o", "slow_update.enabled=false", "-o", "meta_skill.enabled=false"
    )
    assert summary["unchanged"] is True
    assert "UNCHANGED" in run(capsys, "status", "demo")


def test_a_dry_run_spends_nothing_and_writes_nothing(untrained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = snapshot(untrained)
    plan = run_json(capsys, "train", "demo", "--dry-run")
    assert (plan["steps"], plan["splits"]["test"]) == (4, 12)
    assert snapshot(untrained) == before
    assert git(untrained, "for-each-ref", "refs/skillgit", "refs/notes", "refs/heads/skill") == ""


def test_every_read_command_gives_one_json_document(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = run_json(capsys, "log", "demo", "--rejected")
    kinds = [row["record"]["kind"] for row in log]
    assert kinds == ["final", "epoch", "step", "step", "epoch", "step", "step", "baseline"]
    assert run_json(capsys, "show", "demo")["trailers"]["Skill-Run"] == "1"
    difference = run_json(capsys, "diff", "demo@base", "demo@best")
    assert difference["compared"] == 24  # selection and test
    assert difference["hard"][1] > difference["hard"][0]
    assert all(row["before"] != row["after"] for row in difference["moved"])
    assert {row["run"] for row in run_json(capsys, "rejected", "demo")} == {1}
    assert run_json(capsys, "status", "demo")["finished"] is True
    assert run_json(capsys, "fsck", "demo") == []
    assert any(row["key"] == "train.epochs" and row["value"] == 2 for row in run_json(capsys, "config", "demo"))
    assert any(row["provider"] == "local" for row in run_json(capsys, "models")["providers"])
    assert any(row["name"] == "commit-type" for row in run_json(capsys, "envs"))
    assert any(row["what"] == "git" for row in run_json(capsys, "doctor"))


def test_the_log_is_a_line_a_step(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    accepted = run(capsys, "log", "demo").splitlines()
    every = run(capsys, "log", "demo", "--rejected").splitlines()
    assert len(accepted) < len(every) == 8
    assert every[0].split()[:2] == ["final", "complete"]
    assert all(len(line) <= 100 for line in every)
    assert len(run(capsys, "log", "demo", "-n", "2").splitlines()) == 2


def test_an_export_is_the_best_document_without_markers_when_asked(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def exported(*arguments: str) -> str:
        return run(capsys, "export", *arguments)

    best = git(trained, "show", "refs/skillgit/demo/best:skills/demo/SKILL.md") + "\n"
    assert exported("demo") == best
    assert "SLOW_UPDATE" in best
    assert "SLOW_UPDATE" not in exported("demo", "--plain")
    patch = exported("demo", "--patch")
    (trained / "p.patch").write_text(patch, encoding="utf-8")
    git(trained, "apply", "--check", "p.patch")
    assert main(["export", "demo", "-o", "out.md"]) == 0
    assert (trained / "out.md").read_bytes().decode() == best
    assert main(["export", "demo", "-o", "no/such/folder/out.md"]) == 2


def test_a_persons_patch_passes_the_same_gate(
    trained: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def patch(line: str) -> None:
        old = git(trained, "show", "skill/demo:skills/demo/SKILL.md") + "\n"
        (trained / "skills/demo/SKILL.md").write_text(old, encoding="utf-8")
        git(trained, "add", "skills")
        new = old.replace("# Rules\n", f"# Rules\n\n{line}\n")
        (trained / "skills/demo/SKILL.md").write_text(new, encoding="utf-8")
        monkeypatch.setattr("sys.stdin", io.StringIO(git(trained, "diff", "--", "skills/demo/SKILL.md") + "\n"))

    tip = git(trained, "rev-parse", "skill/demo")
    patch("- POISON 0 holds.")
    assert run_json(capsys, "apply", "demo", "-", code=1)["action"] == "reject"
    assert git(trained, "rev-parse", "skill/demo") == tip
    patch("- RULE 2 holds.\n- RULE 3 holds.\n- RULE 4 holds.")
    result = run_json(capsys, "apply", "demo", "-")
    assert result["action"] == "accept_new_best"
    assert result["commit"] == git(trained, "rev-parse", "skill/demo")
    assert "Skill-Kind: patch" in git(trained, "log", "-1", "--format=%B", "skill/demo")
    assert run_json(capsys, "fsck", "demo") == []
    patch("x")
    monkeypatch.setattr("sys.stdin", io.StringIO("--- a/other.md\n+++ b/other.md\n@@ -1 +1 @@\n-a\n+b\n"))
    assert main(["apply", "demo", "-"]) in (1, 2)


def test_eval_scores_a_revision_once(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = run_json(capsys, "eval", "demo@best", "--split", "test")
    assert known["spend"]["calls"] == 0
    fresh = run_json(capsys, "eval", "demo@best", "--split", "train")
    assert fresh["scores"]["n"] == 12
    again = run_json(capsys, "eval", "demo@best", "--split", "train")
    assert again["spend"]["calls"] == 0
    assert again["scores"] == fresh["scores"]
    low, high = fresh["scores"]["interval"]
    assert low < fresh["scores"]["hard"] < high
    assert "n=12" in run(capsys, "eval", "demo@base")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["trian", "demo"], 2, "did you mean 'train'"),
        (["train"], 2, "Missing argument"),
        (["train", "demo", "--nope"], 2, "No such option"),
        (["train", "nosuch"], 2, "there is no skill 'nosuch'"),
        (["train", "No_Name"], 2, "is not a skill name"),
        (["train", "demo", "-o", "train.epoch=3"], 2, "did you mean 'epochs'"),
        (["log", "demo"], 1, "was never trained here"),
        (["eval", "demo@nope"], 1, "never trained|no revision"),
        (["apply", "demo", "none.patch"], 2, "cannot read the patch"),
        (["models", "pull"], 2, "needs a name"),
        (["init", "x", "--env", "nope"], 2, "there is no bundled environment 'nope'"),
        (["-C", "/no/such", "status"], 2, "there is no such folder"),
    ],
)
def test_a_mistake_is_one_line_with_its_exit_code(
    untrained: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    assert main(arguments) == code
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert re.search(said, err)
    assert len([line for line in err.splitlines() if line.startswith("error:")]) == 1


def test_outside_a_repository(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["status"]) == 1
    assert "is not in a git repository" in capsys.readouterr().err


def test_a_bug_leaves_a_traceback_to_paste(
    trained: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("skillgit.inspecting.status", broken)
    assert main(["status", "demo"]) == 3
    err = capsys.readouterr().err
    place = err.split("traceback in ")[1].strip()
    assert "ZeroDivisionError: oh" in err
    assert "Traceback" in Path(place).read_text(encoding="utf-8")
    Path(place).unlink()


def test_init_never_overwrites_and_every_key_is_in_the_file(
    untrained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = run_json(capsys, "init", "fresh")
    assert made["written"] == ["skills/fresh/SKILL.md", "skills/fresh/env.yaml", "skills/fresh/tasks.jsonl"]
    (untrained / "skills/fresh/SKILL.md").write_text("mine", encoding="utf-8")
    again = run_json(capsys, "init", "fresh")
    assert (again["written"], len(again["kept"])) == ([], 3)
    assert (untrained / "skills/fresh/SKILL.md").read_text(encoding="utf-8") == "mine"
    text = (untrained / "skills/fresh/env.yaml").read_text(encoding="utf-8")
    keys = {
        row["key"].split(".")[-1] for row in run_json(capsys, "config", "demo") if not row["key"].startswith("models")
    }
    assert [key for key in keys - {"all", "train", "selection", "test", "kind"} if f"{key}:" not in text] == []


def test_help_names_every_command_and_each_has_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "--help")
    for name in COMMANDS:
        assert f"  {name} " in out
        assert re.search(r"Example: .*skillgit", run(capsys, name, "--help"))
    assert run(capsys, "help", "log") == run(capsys, "log", "--help")
    assert run(capsys, "--version").startswith("skillgit 0.")
