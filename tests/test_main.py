"""The door of the program: which command a line means, and how each outcome ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.__main__ import COMMANDS, COMPLETION, main
from skillgit.errors import InterruptedRun

PROGRAM = [sys.executable, "-m", "skillgit"]
FULL = Path("/dev/full")


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert main(arguments) == code, capsys.readouterr()
    out, err = capsys.readouterr()
    return out, err


def test_there_is_a_file_for_each_row_and_a_row_for_each_file() -> None:
    folder = Path(__file__).parents[1] / "skillgit" / "commands"
    assert sorted(COMMANDS) == sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))


def test_help_and_version_are_the_same_in_any_folder(capsys: pytest.CaptureFixture[str]) -> None:
    whole = said(capsys, "--help")
    assert [name for name in COMMANDS if f"\n  {name} " not in whole[0]] == []
    for arguments in (["-h"], ["help"], ["help", "help"], [], ["-C", "/no/such", "--help"]):
        assert said(capsys, *arguments) == whole
    assert said(capsys, "-V") == said(capsys, "-C", ".", "--version")
    log = said(capsys, "log", "--help")
    for arguments in (["help", "log"], ["log", "-h"], ["-C", "/no/such", "help", "log"]):
        assert said(capsys, *arguments) == log
    assert said(capsys, "help", "lgo", code=2)[1] == "error: there is no command 'lgo'; did you mean 'log'?\n"


def test_a_folder_is_entered_before_the_command(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = repo()
    monkeypatch.chdir(root.parent)
    out, _ = said(capsys, "-C", root.name, "-C", "skills/demo", "status")
    assert out.startswith("demo: not trained yet")
    monkeypatch.chdir(root.parent)
    assert "-C needs a folder and a command" in said(capsys, "-C", root.name, code=2)[1]


def test_an_option_without_its_command_says_where_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    assert "options follow the command" in said(capsys, "--json", "status", code=2)[1]


def test_the_shell_completes_commands_and_options() -> None:
    def completed(line: str) -> list[str]:
        env = {**os.environ, COMPLETION: "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        return subprocess.run(PROGRAM, env=env, capture_output=True, text=True, check=True).stdout.split()

    assert completed("skillgit st") == ["status"]
    assert "--rejected" in completed("skillgit log --")
    shown = subprocess.run([*PROGRAM, "--show-completion", "bash"], capture_output=True, text=True, check=True).stdout
    assert COMPLETION in shown


@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise there")
@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"], ["config", "demo", "--explain"], ["envs"]])
def test_a_reader_who_leaves_is_no_error(repo: Callable[..., Path], arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*PROGRAM, *arguments], cwd=repo(), stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no full device")
@pytest.mark.parametrize("arguments", [["--help"], ["envs", "--json"], ["train", "--help"]])
def test_a_full_disk_is_one_line(arguments: list[str]) -> None:
    with FULL.open("wb") as full:
        done = subprocess.run([*PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b"error: standard output: No space left on device\n")


@pytest.mark.skipif(os.name == "nt", reason="a file descriptor is closed with a POSIX shell")
@pytest.mark.parametrize("command", ["--help", "envs", "config demo --json"])
def test_a_closed_output_is_no_bug(repo: Callable[..., Path], command: str) -> None:
    line = f"{sys.executable} -m skillgit {command} >&-"
    done = subprocess.run(line, shell=True, cwd=repo(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("error", "code", "lines"),
    [
        (InterruptedRun("stopped", hint="skillgit train demo"), 130, ["error: stopped", "hint:  skillgit train demo"]),
        (KeyboardInterrupt(), 130, ["error: interrupted"]),
        (PermissionError(13, "Permission denied", "/some/file"), 1, ["error: /some/file: Permission denied"]),
    ],
)
def test_each_outcome_has_its_code_and_its_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    lines: list[str],
) -> None:
    def ends(*_: object) -> None:
        raise error

    monkeypatch.setattr("skillgit.env.bundled", ends)
    assert said(capsys, "envs", code=code) == ("", "\n".join(lines) + "\n")


def test_a_bug_leaves_a_traceback_to_paste(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("skillgit.env.bundled", broken)
    _, err = said(capsys, "envs", code=3)
    place = Path(err.split("traceback in ")[1].strip())
    assert err.startswith("error: this is a bug in skillgit: ZeroDivisionError: oh\n")
    assert "in broken" in place.read_text(encoding="utf-8")
    place.unlink()
