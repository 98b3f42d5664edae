"""One file a subcommand: parse, call, print. A command is a module with a function ``run`` that typer reads."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from skillgit import console
from skillgit.errors import SkillgitError, UsageError


def run_command(arguments: Sequence[str]) -> int:
    """Run one subcommand; every outcome becomes an exit code and, on failure, one line on stderr."""
    console.prepare()
    try:
        return _dispatch(list(arguments))
    except SkillgitError as error:
        console.error(error.message, error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        console.error("interrupted")
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the last place to catch a bug, and to say where its traceback is
        return _bug(error)


def _dispatch(arguments: list[str]) -> int:
    from skillgit.__main__ import COMMANDS

    if arguments[0] == "-C":
        if len(arguments) < 3:
            raise UsageError("-C needs a folder and a command", hint="skillgit -C FOLDER status NAME")
        if not Path(arguments[1]).is_dir():
            raise UsageError(f"-C {arguments[1]}: there is no such folder")
        os.chdir(arguments[1])
        arguments = arguments[2:]
    name, *rest = arguments
    if name in ("--install-completion", "--show-completion"):
        return _typer(None, arguments)
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        tail = f"did you mean '{near[0]}'?" if near else "skillgit --help lists them"
        raise UsageError(f"there is no command '{name}'; {tail}")
    return _typer(name, rest)


def _typer(name: str | None, arguments: list[str]) -> int:
    import typer

    from skillgit.__main__ import COMMANDS

    app = typer.Typer(rich_markup_mode=None, add_completion=name is None, pretty_exceptions_enable=False)
    for command in [name] if name else COMMANDS:
        module = importlib.import_module(f"skillgit.commands.{command}")
        app.command(command, help=module.run.__doc__)(module.run)
    try:
        result = app(arguments, prog_name=f"skillgit {name}" if name else "skillgit", standalone_mode=False)
    except typer.Abort:
        return 130
    except typer.TyperException as error:
        raise UsageError(error.format_message(), hint=f"skillgit {name} --help") from None
    return result if isinstance(result, int) else 0


def _bug(error: Exception) -> int:
    with tempfile.NamedTemporaryFile(
        "w", suffix=".txt", prefix="skillgit-bug-", delete=False, encoding="utf-8"
    ) as file:
        traceback.print_exception(error, file=file)
    console.error(
        f"this is a bug in skillgit: {type(error).__name__}: {' '.join(str(error).split())}",
        f"please report it with the traceback in {file.name}",
    )
    return 3
