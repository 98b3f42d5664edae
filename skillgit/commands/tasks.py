from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, Overrides, repository
from skillgit.errors import UsageError

ACTIONS = ("check", "split", "add")


def run(
    action: Annotated[str, typer.Argument(metavar="check|split|add", show_default=False, help="what to do")],
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="the skill")],
    file: Annotated[
        str, typer.Argument(metavar="FILE", show_default=False, help="add: the new tasks as JSONL, - for stdin")
    ] = "",
    show: Annotated[bool, typer.Option("--show", help="split: which task goes where, and why")] = False,
    noise: Annotated[
        float,
        typer.Option(
            "--noise", min=0, max=0.5, help="check: share of tasks that vary by chance (gate NAME --aa measures it)"
        ),
    ] = 0.1,
    reviewed: Annotated[bool, typer.Option("--reviewed", help="add: you have read these drafts; take them")] = False,
    override: Overrides = None,
    as_json: Json = False,
) -> None:
    """The tasks of a skill: are they sound, where does each go, and more of them.

    Example: skillgit tasks check dates

    check looks for duplicates, overlaps between splits, lopsided answers and a judge that does not judge, says what difference
    the gate can see, and ends with 1 when a training could not be trusted. add writes all of a file's tasks or none.

    JSON: check {skill, tasks, splits, answers, types, judge, gate, test_margin, findings, sound}; split and add {skill, splits,
    tasks: [{id, type, split, why, place}]}.
    """
    if action not in ACTIONS:
        raise UsageError(
            f"'tasks {action}' is not known; allowed are: {', '.join(ACTIONS)}", hint="skillgit tasks --help"
        )
    if (action == "add") != bool(file):
        said = "add needs a file of tasks, or - for standard input" if action == "add" else f"{action} takes no file"
        raise UsageError(said, hint=f"skillgit tasks add {name} more.jsonl")
    if action == "add":
        return _add(name, file, override or [], reviewed, as_json)
    return (
        _check(name, noise, override or [], as_json)
        if action == "check"
        else _split(name, show, override or [], as_json)
    )


def _check(name: str, noise: float, overrides: list[str], as_json: bool) -> None:
    from skillgit import env as environments
    from skillgit.taskset.check import check
    from skillgit.views.tasks import report_lines
    from skillgit.workspace import skill_folder

    with repository() as repo:
        report = check(environments.load(skill_folder(repo, name), overrides), noise=noise)
    if as_json:
        console.emit(report.as_dict())
    else:
        console.lines(report_lines(report))
    if not report.sound:
        raise typer.Exit(1)


def _split(name: str, show: bool, overrides: list[str], as_json: bool) -> None:
    from skillgit import env as environments
    from skillgit.taskset.adding import counts
    from skillgit.taskset.placing import placed
    from skillgit.views.tasks import placed_lines
    from skillgit.workspace import skill_folder

    with repository() as repo:
        env = environments.load(skill_folder(repo, name), overrides)
        rows = placed(env.tasks(), env.settings)
    if as_json:
        return console.emit({"skill": name, "splits": counts(rows), "tasks": [asdict(row) for row in rows]})
    if show:
        console.lines(placed_lines(rows))
    console.say(", ".join(f"{split} {count}" for split, count in counts(rows).items()))
    return None


def _add(name: str, file: str, overrides: list[str], reviewed: bool, as_json: bool) -> None:
    from skillgit.taskset.adding import add, counts
    from skillgit.views.tasks import placed_lines

    text, where = _read(file)
    with repository() as repo:
        rows = add(repo, name, text, where, overrides, reviewed=reviewed)
    if as_json:
        return console.emit({"skill": name, "splits": counts(rows), "tasks": [asdict(row) for row in rows]})
    console.lines(placed_lines(rows))
    console.say(f"added {len(rows)} tasks; a run that has begun goes on only with the tasks it began with")
    return None


def _read(file: str) -> tuple[str, str]:
    """The text of the new tasks, and what to call its source."""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8-sig"), "standard input" if file == "-" else file
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: byte {error.start} is not UTF-8", hint="save the file as UTF-8") from None
