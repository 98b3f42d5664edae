"""One file a subcommand: parse, call, print. A command is a module with a function ``run`` that typer reads."""

from __future__ import annotations

import difflib
import errno
import importlib
import io
import os
import sys
import tempfile
import traceback
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Any

from skillgit import console
from skillgit.errors import SkillgitError, UsageError

ENVIRONMENT = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC})
"""What a full or closed disk says: no bug of ours."""


def run_command(arguments: Sequence[str]) -> int:
    """Run one subcommand; every outcome becomes an exit code and, on failure, one line on stderr."""
    console.prepare()
    try:
        code = _dispatch(list(arguments))
        console.flush()
    except SkillgitError as error:
        console.error(error.message, error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        console.error("interrupted")
        return 130
    except OSError as error:
        return unwritable(error) if error.errno in (*ENVIRONMENT, errno.EPIPE) else _bug(error)
    except Exception as error:  # noqa: BLE001 - the last place to catch a bug, and to say where its traceback is
        return _bug(error)
    return code


def unwritable(error: OSError) -> int:
    """The end of a command whose output or file is out of reach; quiet when a pipe's reader has had enough."""
    if error.filename is None:
        console.abandon()
    if error.errno == errno.EPIPE:
        return 0
    console.error(f"{error.filename or 'standard output'}: {error.strerror}")
    return 1


def _dispatch(arguments: list[str]) -> int:
    from skillgit.__main__ import COMMANDS, COMPLETION

    if COMPLETION in os.environ or arguments[0] in ("--install-completion", "--show-completion"):
        return _completion(arguments)
    while arguments[0] == "-C":
        if len(arguments) < 3:
            raise UsageError("-C needs a folder and a command", hint="skillgit -C FOLDER status NAME")
        if not Path(arguments[1]).is_dir():
            raise UsageError(f"-C {arguments[1]}: there is no such folder")
        os.chdir(arguments[1])
        arguments = arguments[2:]
    name, *rest = arguments
    if name.startswith("-"):
        raise UsageError(f"'{name}' is no option here; options follow the command", hint="skillgit COMMAND --help")
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        tail = f"did you mean '{near[0]}'?" if near else "skillgit --help lists them"
        raise UsageError(f"there is no command '{name}'; {tail}")
    return _command(name, rest)


def _command(name: str, arguments: list[str]) -> int:
    """One command; not by way of typer's own ``main``, which turns a closed pipe and Ctrl-C into exit codes of its own."""
    import typer

    try:
        with _app([name]).make_context(f"skillgit {name}", arguments) as context:
            result = context.command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except typer.TyperException as error:
        message = error.format_message().replace("Value error, ", "")
        raise UsageError(message, hint=f"skillgit {name} --help") from None
    return result if isinstance(result, int) else 0


def _completion(arguments: list[str]) -> int:
    """The whole program, for the shell's sake only."""
    from skillgit.__main__ import COMMANDS, COMPLETION
    from skillgit.completing import rejoin

    cut = rejoin(os.environ)
    try:
        with redirect_stdout(io.StringIO()) if cut else nullcontext(sys.stdout) as out:
            _app(COMMANDS, completion=True).main(arguments, prog_name="skillgit", complete_var=COMPLETION)
    except SystemExit as done:
        if isinstance(out, io.StringIO):
            console.lines(line.partition("@")[2] for line in out.getvalue().splitlines())
        return done.code if isinstance(done.code, int) else 0
    return 0


def _app(names: Iterable[str], *, completion: bool = False) -> Any:
    import typer

    app = typer.Typer(rich_markup_mode=None, add_completion=completion, pretty_exceptions_enable=False)
    for name in names:
        module = importlib.import_module(f"skillgit.commands.{name}")
        app.command(name, help=module.run.__doc__, context_settings={"help_option_names": ["-h", "--help"]})(module.run)
    return typer.main.get_command(app)


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
