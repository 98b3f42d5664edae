"""A history of 10,000 commits is read about as fast as git itself reads it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.git.history import SkillHistory
from skillgit.git.repo import Repo
from skillgit.git.trailers import format_message
from tests.repos import git

COMMITS = 10_000
pytestmark = pytest.mark.benchmark


def data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"


def stream(ref: str, start: str, file: str, message: Callable[[int], str], content: Callable[[int], str]) -> str:
    """Input for git fast-import: ref with COMMITS commits that each write file; start is "" or "from ..."."""

    def commit(n: int) -> str:
        head = f"commit {ref}\ncommitter A <a@b> {1750000000 + n} +0200\n{data(message(n))}"
        return f"{head}{start if n == 1 else ''}M 100644 inline {file}\n{data(content(n))}"

    return "".join(map(commit, range(1, COMMITS + 1)))


@pytest.fixture
def long(repo: Callable[..., Path]) -> Path:
    folder = repo()
    head = git(folder, "rev-parse", "HEAD")
    common = {"Skill-Run": "1", "Skill-Epoch": "1"}

    def commit(n: int) -> str:
        evidence = {"Skill-Edit": "1/1", "Skill-Op": "append", "Skill-Evidence": "train-001 train-002 train-003"}
        trailers = {**common, "Skill-Step": str(n), **evidence, "Skill-Gate": "accept strict"}
        return format_message(f"demo: Add rule {n}", "The failures show that units are missing. " * 4, trailers)

    def entry(n: int) -> str:
        facts = {"Skill-Step": str(n), "Skill-Kind": "step", "Skill-Action": "accept"}
        refs = {"Skill-Current": head, "Skill-Best": head, "Skill-Base": head}
        return format_message(f"demo: step {n} accept", "", {**common, **facts, **refs})

    feed = stream("refs/heads/skill/demo", f"from {head}\n", "skills/demo/SKILL.md", commit, lambda n: f"# Rule {n}\n")
    feed += stream("refs/skillgit/demo/journal", "", "record.yaml", entry, lambda n: f"step: {n}\n")
    subprocess.run(["git", "fast-import", "--quiet"], input=feed.encode(), cwd=folder, check=True, timeout=120)
    return folder


def fastest(work: Callable[[], object], times: int = 3) -> float:
    measured = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        measured.append(time.perf_counter() - began)
    return min(measured)


def test_reading_a_long_history(long: Path) -> None:
    by_git = fastest(lambda: git(long, "log", "--first-parent", "--format=%H %T %P %cd %an %B", "skill/demo"))
    with Repo.discover(long) as found:
        history = SkillHistory(found, "demo")
        assert sum(1 for _ in history.log()) == COMMITS
        whole = fastest(lambda: list(history.log()))
        first = fastest(lambda: [next(entries) for entries in [history.log()] for _ in range(20)])
        oldest_step = fastest(lambda: history.resolve("demo@step-1"))
        newest_step = fastest(lambda: history.resolve(f"demo@step-{COMMITS}"))
    assert whole < 5 * by_git
    assert oldest_step < 5 * by_git
    assert first < 2 * by_git
    assert newest_step < by_git / 2
