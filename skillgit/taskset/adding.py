"""Adds tasks to a skill's task file: all of them after every check, or none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from skillgit import env as environments
from skillgit.errors import RepositoryError, TaskError
from skillgit.files import write_whole
from skillgit.splits import SPLITS, Task, asked, split_of
from skillgit.tasks import DRAFT, is_draft, make_task, read_lines
from skillgit.taskset.judging import judge_findings, try_judge
from skillgit.taskset.placing import Placed, placed
from skillgit.workspace import skill_folder

if TYPE_CHECKING:
    from skillgit.env import Environment
    from skillgit.git.repo import Repo


def add(
    repo: Repo, name: str, text: str, where: str, overrides: Sequence[str] = (), *, reviewed: bool = False
) -> list[Placed]:
    """Append the tasks of a JSONL text; returns where each of them went.

    ``reviewed``: a person has read them, so that drafts become tasks. Raises TaskError and writes nothing when a task is
    malformed, a draft, or there already by its id or by what it asks, and when the judge fails its reference answer.
    """
    if repo.work_tree is None:
        raise RepositoryError("a bare repository has no working tree to write to", hint="add in a clone of it")
    folder = skill_folder(repo, name)
    repo.state_dir.mkdir(parents=True, exist_ok=True)
    with FileLock(repo.state_dir / f"tasks-{name}.lock"):
        env = environments.load(folder, overrides)
        records = [(place, _accepted(record) if reviewed else record) for place, record in read_lines(text, where)]
        fresh = [make_task(record, place) for place, record in records]
        if not fresh:
            raise TaskError(f"{where} holds no tasks")
        files = [_file(env, task) for task in fresh]
        _refuse_known(env.tasks(), fresh, [place for place, _ in records])
        _refuse_unjudged(env, fresh)
        _append(folder, [(file, record) for file, (_, record) in zip(files, records, strict=True)])
    return placed(fresh, env.settings)


def _accepted(record: Any) -> Any:
    if isinstance(record, Mapping) and is_draft(record):
        return {key: value for key, value in record.items() if key != DRAFT}
    return record


def _file(env: Environment, task: Task) -> str:
    """The file that a task belongs into."""
    files = env.settings.tasks
    if env.own_tasks:
        raise TaskError(f"the tasks of '{env.name}' are made by its env.py", hint="add them where tasks() finds them")
    split = task.split or split_of(task.id, env.settings.split.ratio, env.settings.split.seed)
    file = files.all or str(getattr(files, split))
    if Path(file).suffix.lower() not in (".jsonl", ".ndjson"):
        raise TaskError(f"tasks are added to .jsonl files only, not to {file}", hint="write them into it by hand")
    return file


def _refuse_known(known: Sequence[Task], fresh: Sequence[Task], places: Sequence[str]) -> None:
    ids = {task.id: "the task file" for task in known}
    questions = {asked(task): task.id for task in known}
    for task, place in zip(fresh, places, strict=True):
        if task.id in ids:
            raise TaskError(f"{place}: the id {task.id} is there already, in {ids[task.id]}", hint="give it another id")
        if asked(task) in questions:
            raise TaskError(
                f"{place}: task '{task.id}' asks the same as '{questions[asked(task)]}'", hint="leave it out"
            )
        ids[task.id], questions[asked(task)] = place, task.id


def _refuse_unjudged(env: Environment, fresh: Sequence[Task]) -> None:
    if env.judging == "costly":
        return
    wrong = [finding for finding in judge_findings(try_judge(env, fresh)) if finding.severity == "error"]
    serious = [finding for finding in wrong if finding.rule != "other-passes"]
    if serious:
        raise TaskError(f"{serious[0].message} ({', '.join(serious[0].tasks[:5])})", hint="mend the task or the judge")


def _append(folder: Path, rows: Sequence[tuple[str, Any]]) -> None:
    for file in dict.fromkeys(file for file, _ in rows):
        path = folder / file
        old = path.read_bytes() if path.is_file() else b""
        end = b"\r\n" if b"\r\n" in old else b"\n"
        lines = [json.dumps(record, ensure_ascii=False).encode("utf-8") for own, record in rows if own == file]
        gap = end if old and not old.endswith(b"\n") else b""
        write_whole(path, old + gap + b"".join(line + end for line in lines))


def counts(rows: Sequence[Placed]) -> dict[str, int]:
    """How many tasks each split has."""
    return {split: sum(row.split == split for row in rows) for split in SPLITS}
