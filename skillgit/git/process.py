"""Run git the way a program must: no prompt, no hook, no pager, English messages and a time limit."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from skillgit.errors import RepositoryError

TIMEOUT = 60.0
OPTIONS = ("--no-pager", "-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false", "-c", "gc.auto=0")
# Set by git for its hooks and aliases: they would redirect plumbing to another repository, index or object store.
FOREIGN = frozenset(
    {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_COMMON_DIR",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_QUARANTINE_PATH",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
        "GIT_SHALLOW_FILE",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_CONFIG",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_REFLOG_ACTION",
        "GIT_DEFAULT_HASH",
        "GIT_REPLACE_REF_BASE",
        "LANGUAGE",
        "GPG_TTY",
    }
)
FIXED = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_EDITOR": "true",
    "GIT_OPTIONAL_LOCKS": "0",  # `git status` must not rewrite the user's index
    "GIT_NO_REPLACE_OBJECTS": "1",  # an id must mean the bytes it is the hash of
    "GIT_LITERAL_PATHSPECS": "1",
}


@dataclass(frozen=True, slots=True)
class Result:
    """What git answered."""

    returncode: int
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        """Standard output as text, without the last line break."""
        return os.fsdecode(self.stdout).removesuffix("\n")


def environment(keep: Sequence[str] = (), **more: str) -> dict[str, str]:
    """The process environment without what git sets for its hooks (but for ``keep``), made non-interactive."""
    base = {name: value for name, value in os.environ.items() if name not in FOREIGN or name in keep}
    return {**base, **FIXED, **more}


def run(
    args: Sequence[str],
    *,
    cwd: Path | str,
    env: Mapping[str, str],
    input: bytes | None = None,
    check: bool = True,
    timeout: float = TIMEOUT,
) -> Result:
    """Run ``git ARGS`` to its end. With ``check`` a failure is a RepositoryError of one line; a timeout always is."""
    process = start(args, cwd=cwd, env=env, stdin=subprocess.PIPE)
    try:
        out, err = process.communicate(input, timeout=timeout)
    except subprocess.TimeoutExpired:
        kill(process)
        raise RepositoryError(f"git {verb(args)} did not end within {timeout:g} s") from None
    except BaseException:
        # Ctrl-C: git is in a session of its own and about to finish; a ref transaction must not be cut in two.
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
        kill(process)
        raise
    result = Result(process.returncode, out, err)
    if check and result.returncode:
        raise failure(args, result)
    return result


def start(
    args: Sequence[str],
    *,
    cwd: Path | str,
    env: Mapping[str, str],
    stdin: int = subprocess.DEVNULL,
    quiet: bool = False,
) -> subprocess.Popen[bytes]:
    """Start ``git ARGS`` in a session of its own: no terminal to prompt on, no share in Ctrl-C."""
    try:
        return subprocess.Popen(
            ["git", *OPTIONS, *args],
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError:
        if not Path(cwd).is_dir():
            raise RepositoryError(f"the folder {cwd} does not exist") from None
        raise RepositoryError("git is not installed, or not on PATH") from None
    except OSError as error:
        raise RepositoryError(f"cannot run git in {cwd}: {error.strerror}") from None


def records(process: subprocess.Popen[bytes], separator: bytes = b"\0") -> Iterator[bytes]:
    """The output of a started git, cut at separator."""
    assert process.stdout is not None
    rest = b""
    while chunk := os.read(process.stdout.fileno(), 1 << 16):
        *whole, rest = (rest + chunk).split(separator)
        yield from whole
    if rest:
        yield rest


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a git and what it started (a signer, a pager), and close its pipes."""
    if process.poll() is None:
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()
    pipes: list[IO[bytes] | None] = [process.stdin, process.stdout, process.stderr]
    for pipe in pipes:
        with suppress(OSError):
            if pipe is not None:
                pipe.close()


def verb(args: Sequence[str]) -> str:
    """The subcommand in ARGS, past ``-c key=value`` and ``-C folder``."""
    rest = list(args)
    while rest and rest[0] in ("-c", "-C"):
        rest = rest[2:]
    return rest[0] if rest else "git"


def complaint(err: bytes) -> str:
    """What git said, on one line: its fatal line and what follows, without the prefixes."""
    lines = [line.strip() for line in err.decode("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line and not line.startswith("hint:")]
    fatal = next((n for n, line in enumerate(lines) if line.startswith("fatal:")), 0)
    if fatal and lines[0].startswith("error:"):  # the cause stands before the fatal line
        fatal = 0
    return "; ".join(line.removeprefix("fatal: ").removeprefix("error: ") for line in lines[fatal : fatal + 3])


def failure(args: Sequence[str], result: Result) -> RepositoryError:
    """The error for a git that failed."""
    said = complaint(result.stderr) or f"exit code {result.returncode}"
    return RepositoryError(f"git {verb(args)}: {said}")
