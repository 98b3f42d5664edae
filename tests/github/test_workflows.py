"""The actions and workflows as files: valid, pinned, and their scripts do what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
ACTIONS = sorted((GITHUB / "actions").glob("*/action.yml"))
OURS = "./.github/actions/"
SCRIPTS = pytest.mark.skipif(sys.platform == "win32", reason="the actions' runners are Linux and macOS")


def tool(*words: str) -> subprocess.CompletedProcess[str]:
    """A program of this environment."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        words, cwd=ROOT, check=False, capture_output=True, text=True, timeout=120, env={**os.environ, "PATH": path}
    )


@pytest.mark.parametrize(("schema", "files"), [("github-workflows", WORKFLOWS), ("github-actions", ACTIONS)])
def test_they_hold_to_the_schema(schema: str, files: list[Path]) -> None:
    assert len(files) >= 2
    done = tool("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, files))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_linter_of_workflows_finds_nothing() -> None:
    done = tool("zizmor", "--offline", "--no-progress", "--min-severity", "medium", ".github")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_is_not_ours_is_pinned_by_commit(path: Path) -> None:
    used = re.findall(r"uses:\s*(\S+)", path.read_text(encoding="utf-8"))
    assert used
    assert [one for one in used if not one.startswith(OURS) and not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", one)] == []


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_script_holds_an_expression(path: Path) -> None:
    """What a stranger may write (a title, a comment) must reach a shell as a variable only."""
    assert [run for run in scripts(yaml.safe_load(path.read_text(encoding="utf-8"))) if "${{" in run] == []


def scripts(data: Any) -> list[str]:
    if isinstance(data, dict):
        return [text for key, value in data.items() for text in ([value] if key == "run" else scripts(value))]
    return [text for value in data for text in scripts(value)] if isinstance(data, list) else []


def called(folder: Path, action: str, **inputs: str) -> list[str]:
    """The arguments that an action's last script runs skillgit with, given the variables that its inputs become."""
    fake = folder / "bin" / "skillgit"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    fake.chmod(0o755)
    step = yaml.safe_load((GITHUB / f"actions/{action}/action.yml").read_text(encoding="utf-8"))["runs"]["steps"][-1]
    assert set(inputs) <= set(step["env"])
    given = {
        **dict.fromkeys(step["env"], ""),
        **inputs,
        "GITHUB_ACTION_PATH": str(GITHUB / "actions" / action),
        "PATH": f"{fake.parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", step["run"]], check=True, capture_output=True, text=True, env=given
    )
    return done.stdout.splitlines()


@SCRIPTS
def test_settings_reach_the_gate_as_they_are(tmp_path: Path) -> None:
    settings = "limits.usd=2\r\n\nmodels.target.model=openai:$(touch x) `y` *\n"
    assert called(tmp_path, "gate", FAIL_ON="reject", SETTINGS=settings) == [
        *("github", "gate", "--fail-on", "reject"),
        *("-o", "limits.usd=2", "-o", "models.target.model=openai:$(touch x) `y` *"),
    ]


@SCRIPTS
@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({}, []),
        ({"SKILL": "dates", "USD": "1", "NEW_RUN": "1"}, ["dates", "--usd", "1", "--new-run"]),
        ({"SKILL": "a b; id"}, ["a b; id"]),
    ],
)
def test_inputs_reach_the_training(tmp_path: Path, inputs: dict[str, str], words: list[str]) -> None:
    assert called(tmp_path, "train", **inputs) == ["github", "train", *words]


@SCRIPTS
@pytest.mark.parametrize("extras", ["local; id", "$(id)", "local]"])
def test_extras_are_names_only(extras: str) -> None:
    done = subprocess.run(
        ["bash", str(GITHUB / "actions/install.sh")],
        check=False, capture_output=True, text=True, env={**os.environ, "EXTRAS": extras},
    )  # fmt: skip
    assert done.returncode == 2
    assert "is not a list of extras" in done.stderr


def test_a_comment_trains_the_skill_that_it_names() -> None:
    """GitHub's ``a && '' || b`` is always b; the empty name must come last."""
    job = yaml.safe_load((GITHUB / "workflows/skill-train.yml").read_text(encoding="utf-8"))["jobs"]["train"]
    skill = job["steps"][-1]["with"]["skill"]
    assert re.fullmatch(r"\$\{\{ github\.event_name != 'issue_comment' && \(.*\) \|\| '' \}\}", skill)
