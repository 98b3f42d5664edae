"""A judge that is a command: it gets the answer as a file, and says by its exit code or a printed number what it is worth."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, PrivateAttr, field_validator

from skillgit.errors import OutputError
from skillgit.judges.base import Judge, Judgement, clipped
from skillgit.splits import Task

KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT")
"""Variables of this process that the command sees, besides those it is given."""
LONGEST_PAUSE = 0.05
"""Seconds between two looks at whether the command has ended."""
MOST_OUTPUT = 64 * 1024
"""Bytes kept of each stream, from its end; the rest is read and dropped."""


class Command(Judge):
    """A shell command, run in an empty folder of its own with ``answer.txt`` and ``task.json``.

    It also gets ``$FOLDER``, the folder of env.yaml. ``score: exit``: code 0 passes, 1 fails. ``score: printed``: the last
    line printed is a number from 0 to 1. Anything else, and a command that takes too long, is an error: the answer is not
    measured. It runs as you, with an empty home and few variables; that is no sandbox.
    """

    needs_answer: ClassVar[bool] = False
    costs: ClassVar[bool] = True
    command: str = Field(description="the shell command, e.g. python $FOLDER/check.py answer.txt")
    score: Literal["exit", "printed"] = Field("exit", description="exit: code 0 or 1; printed: the last line, 0 to 1")
    pass_at: float = Field(1.0, gt=0, le=1, description="score: printed passes from this number on")
    timeout: float = Field(60, gt=0, description="seconds; then it and all it started are killed")
    variables: tuple[str, ...] = Field((), description="further environment variables that it may see")
    _folder: Path = PrivateAttr(Path())

    @field_validator("variables", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    def place(self, folder: Path) -> None:
        """Say where env.yaml is."""
        self._folder = folder.resolve()

    async def judge(self, task: Task, answer: str) -> Judgement:
        """Run the command on an answer. Raises OutputError when it gives no score."""
        scratch = Path(tempfile.mkdtemp(prefix="skillgit-judge-"))
        try:
            (scratch / "answer.txt").write_text(answer, encoding="utf-8")
            facts = {"id": task.id, "type": task.type, "input": task.input, "answer": task.answer, **task.fields}
            (scratch / "task.json").write_text(json.dumps(facts, ensure_ascii=False, default=str), encoding="utf-8")
            code, out, err = await self._run(scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        return self._judgement(code, out, err)

    async def _run(self, scratch: Path) -> tuple[int, str, str]:
        shell = ["/bin/sh", "-c", self.command] if os.name != "nt" else ["cmd", "/c", self.command]
        process = await asyncio.create_subprocess_exec(
            *shell,
            cwd=scratch,
            env=self._environment(scratch),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdout and process.stderr
        readers = [asyncio.ensure_future(_tail(stream)) for stream in (process.stdout, process.stderr)]
        try:
            await asyncio.wait_for(_exited(process), self.timeout)
        except asyncio.TimeoutError:
            raise OutputError(
                f"the judge's command took longer than {self.timeout:g} s", hint="raise judge.timeout"
            ) from None
        finally:
            _kill_group(process.pid)  # also what it left running, which would hold the pipes open
            await asyncio.shield(asyncio.gather(process.wait(), *readers))
        out, err = (reader.result().decode("utf-8", "replace") for reader in readers)
        return process.returncode or 0, out, err

    def _environment(self, scratch: Path) -> dict[str, str]:
        kept = {name: os.environ[name] for name in (*KEPT, *self.variables) if name in os.environ}
        return {**kept, "HOME": str(scratch), "TMPDIR": str(scratch), "FOLDER": str(self._folder)}

    def _judgement(self, code: int, out: str, err: str) -> Judgement:
        last = next((line.strip() for line in reversed(out.splitlines()) if line.strip()), "")
        if self.score == "exit" and code in (0, 1):
            passed = 1.0 - code
            return Judgement(passed, passed, "" if passed else clipped(last) or "the command says no")
        if self.score == "exit" or code:
            raise OutputError(f"the judge's command ended with code {code}: {clipped(_last(err) or last)}")
        try:
            soft = float(last)
        except ValueError:
            soft = -1.0
        if not 0 <= soft <= 1:
            raise OutputError(f"the judge's command must print a number from 0 to 1 last, not {clipped(last)!r}")
        reason = "" if soft >= self.pass_at else f"scored {soft:g}, {self.pass_at:g} needed"
        return Judgement(float(soft >= self.pass_at), soft, reason)


async def _exited(process: asyncio.subprocess.Process) -> None:
    """Wait for the process alone: its own ``wait`` waits for the pipes too, and another process may hold them open."""
    pause = 0.001
    while process.returncode is None:
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


async def _tail(stream: asyncio.StreamReader) -> bytes:
    """The end of a stream, all of which is read."""
    kept = b""
    while chunk := await stream.read(65536):
        kept = (kept + chunk)[-MOST_OUTPUT:]
    return kept


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGTERM)


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
