"""The command judge, with real processes."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgit import env as environments
from skillgit import judges
from skillgit.config import JudgeSettings
from skillgit.errors import ConfigError, OutputError
from skillgit.judges import Judgement
from skillgit.splits import Task
from tests import world
from tests.e2e.training import Training

TASK = Task("t-1", "What is 2 + 2?", "4", "sum", fields={"unit": "apples"})
pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")


def judged(command: str, answer: str = "4", folder: Path = Path(), **options: Any) -> Judgement:
    judge = judges.make(JudgeSettings(kind="command", command=command, **options), folder=folder)
    return asyncio.run(judge.judge(TASK, answer))


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where scratch folders are made; none may be left."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize(
    ("command", "options", "hard", "soft", "reason"),
    [
        ('test "$(cat answer.txt)" = 4', {}, 1, 1, ""),
        ('test "$(cat answer.txt)" = 5', {}, 0, 0, "the command says no"),
        ("echo too short; exit 1", {}, 0, 0, "too short"),
        ("echo thinking; echo 0.25", {"score": "printed"}, 0, 0.25, "scored 0.25, 1 needed"),
        ("echo 0.75; echo", {"score": "printed", "pass_at": 0.5}, 1, 0.75, ""),
        ('grep -q apples task.json && grep -q \'"answer": "4"\' task.json', {}, 1, 1, ""),
    ],
)
def test_what_a_command_says(
    command: str, options: dict[str, Any], hard: float, soft: float, reason: str, scratch: Path
) -> None:
    assert judged(command, **options) == Judgement(hard, soft, reason)
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("echo broken >&2; exit 3", {}, "ended with code 3: broken"),
        ("no-such-command-here", {}, "ended with code 127"),
        ("kill -9 $$", {}, "ended with code -9"),
        ("echo 7", {"score": "printed"}, "must print a number from 0 to 1 last, not '7'"),
        ("echo nan", {"score": "printed"}, "not 'nan'"),
        ("true", {"score": "printed"}, "not ''"),
        ("echo 1; exit 1", {"score": "printed"}, "ended with code 1: 1"),
    ],
)
def test_a_command_that_gives_no_score_is_an_error_and_no_zero(
    command: str, options: dict[str, Any], message: str, scratch: Path
) -> None:
    with pytest.raises(OutputError, match=message):
        judged(command, **options)
    assert list(scratch.iterdir()) == []


def test_a_command_that_hangs_is_killed_with_all_it_started(tmp_path: Path) -> None:
    """A grandchild would write the file if it lived on; its process is gone when the judge returns."""
    pids = tmp_path / "pids"
    with pytest.raises(OutputError, match=r"took longer than 0\.2 s"):
        judged(f"sleep 600 & echo $! > {pids}; wait", timeout=0.2)
    assert gone(int(pids.read_text()))


def test_what_a_command_leaves_running_is_killed(tmp_path: Path) -> None:
    """It holds the pipes open, and must not be waited for."""
    pids = tmp_path / "pids"
    assert judged(f"sleep 600 & echo $! > {pids}; exit 0").hard == 1
    assert gone(int(pids.read_text()))


def gone(pid: int) -> bool:
    """Whether a process is dead, if only not yet reaped by whoever inherited it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in ("Z", "X")


def test_output_of_any_size_is_read(scratch: Path) -> None:
    found = judged(
        "head -c 3000000 /dev/zero | tr '\\0' x; head -c 3000000 /dev/zero >&2; echo; echo 0.5", score="printed"
    )
    assert found.soft == 0.5


def test_a_command_sees_few_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("ALLOWED", "yes")
    seen = tmp_path / "seen"
    judged(f"env > {seen}", folder=tmp_path, variables=["ALLOWED", "NOT_THERE"])
    names = {line.partition("=")[0]: line.partition("=")[2] for line in seen.read_text().splitlines()}
    assert set(names) - {"PWD", "OLDPWD", "SHLVL", "_"} <= {
        "PATH",
        "LANG",
        "LC_ALL",
        "HOME",
        "TMPDIR",
        "FOLDER",
        "ALLOWED",
    }
    assert (names["ALLOWED"], names["FOLDER"]) == ("yes", str(tmp_path))
    assert names["HOME"] == names["TMPDIR"] == names["PWD"] != os.environ.get("HOME")


def test_an_interrupted_judge_leaves_nothing(tmp_path: Path, scratch: Path) -> None:
    pids = tmp_path / "pids"
    judge = judges.make(JudgeSettings(kind="command", command=f"echo $$ > {pids}.new; mv {pids}.new {pids}; sleep 600"))

    async def interrupt() -> None:
        task = asyncio.ensure_future(judge.judge(TASK, "4"))
        while not pids.exists():
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupt())
    assert gone(int(pids.read_text()))
    assert list(scratch.iterdir()) == []


def settings(command: str) -> dict[str, Any]:
    return {**world.ENV, "judge": {"kind": "command", "command": command}}


RIGHT = "python3 $FOLDER/check.py"
CHECK = """\
import json
answer, task = open("answer.txt").read(), json.load(open("task.json"))
raise SystemExit(answer != task["answer"])
"""


def test_a_training_with_a_command_as_its_judge(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"train": {"epochs": 1, "batch_size": 6}, "slow_update": {"enabled": False}}
    root = repo("demo", skill=world.SKILL, env={**settings(RIGHT), **small}, tasks=world.tasks(6, 6, 6))
    (root / "skills/demo/check.py").write_text(CHECK, encoding="utf-8")
    done = Training(root, monkeypatch)
    summary = done.run("gate.early_stop=false")
    assert summary.initial.scores.hard == pytest.approx(1 / 6)
    assert done.records("step")[0]["verdict"]["before"] == pytest.approx(1 / 6, abs=1e-6)


def test_a_changed_check_measures_anew(repo: Callable[..., Path]) -> None:
    root = repo("demo", skill=world.SKILL, env=settings("sh $FOLDER/check.sh"), tasks=world.tasks())
    folder = root / "skills/demo"
    prints = []
    for text in ("exit 0", "exit 1"):
        (folder / "check.sh").write_text(text, encoding="utf-8")
        prints.append(environments.load(folder).fingerprint)
    (folder / "other.sh").write_text("exit 0", encoding="utf-8")
    assert environments.load(folder).fingerprint == prints[1] != prints[0]


@pytest.mark.parametrize(
    ("command", "message"), [("exit 0", "passes an empty answer"), ("exit 1", "fails the reference answer of task")]
)
def test_a_judge_that_cannot_tell_stops_before_anything_is_spent(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, command: str, message: str
) -> None:
    root = repo("demo", skill=world.SKILL, env=settings(command), tasks=world.tasks())
    with pytest.raises(ConfigError, match=message):
        Training(root, monkeypatch).run()
