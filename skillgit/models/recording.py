"""``record: FILE`` keeps every call of a model and its answer; ``replay:FILE`` answers from such a file, without the model."""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillgit.config import ModelSettings
from skillgit.errors import ConfigError, FatalModelError
from skillgit.models.base import Model, Reply, Request, Usage
from skillgit.models.refusals import one_line
from skillgit.models.transcript import digest, reply_data, reply_from, request_data

log = logging.getLogger("skillgit")

SHOWN = 60
"""Characters of a question that an error quotes."""


class Recording:
    """A model whose answers are appended to a file, one JSON object a line: the call's key, the request and the reply.

    Failed attempts are not recorded. Raises FatalModelError, before anything is paid, when the file cannot be written.
    """

    def __init__(self, model: Model, file: str) -> None:
        self._model = model
        self._path = Path(file).expanduser()
        self._begun = False
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.is_agent = model.is_agent

    async def call(self, request: Request) -> Reply:
        """Ask the model, and keep what it says."""
        if not self._begun:
            self._begin()
        reply = await self._model.call(request)
        row = {"key": digest(request), "agent": self.is_agent, "request": request_data(request)}
        line = json.dumps({**row, "reply": reply_data(reply)}, ensure_ascii=False) + "\n"
        with self._path.open("ab", buffering=0) as file:
            file.write(line.encode("utf-8", "surrogatepass"))  # in one piece: two processes may record
        return reply

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()

    def _begin(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a+b") as file:
                file.seek(0)
                whole = file.read()
                kept = whole.rfind(b"\n") + 1
                if kept < len(whole):  # a process was killed while it wrote
                    log.warning("%s: its last line breaks off and is dropped", self._path)
                    file.truncate(kept)
        except OSError as error:
            raise FatalModelError(f"record: {self._path} cannot be written: {error.strerror}") from None
        self._begun = True


class Replay:
    """Answers from a recording: the same question gets the answer that it got last. Costs nothing."""

    def __init__(self, settings: ModelSettings, name: str) -> None:
        if not name:
            raise ConfigError("replay: needs a file, e.g. replay:calls.jsonl")
        self._path = Path(name).expanduser()
        try:
            content = self._path.read_bytes()
        except OSError as error:
            hint = "make a recording with the real model: -o models.target.record=FILE, or models.optimizer.record"
            raise ConfigError(f"{settings.model}: cannot read {self._path}: {error.strerror}", hint=hint) from None
        rows = [self._row(number, line) for number, line in enumerate(content.splitlines(keepends=True), 1)]
        self._replies = {row["key"]: row["reply"] for row in rows if row}
        self.name = settings.model
        self.fingerprint = hashlib.sha256(content).hexdigest()[:12]
        self.is_agent = any(row.get("agent", False) for row in rows)

    def _row(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            row = json.loads(line)
            return {**row, "key": str(row["key"]), "reply": reply_from(row["reply"])}
        except (ValueError, LookupError, TypeError) as error:
            if not line.endswith(b"\n"):  # the process that recorded was killed
                return {}
            raise ConfigError(f"{self._path}:{number} is no recorded call: {one_line(error)}") from None

    async def call(self, request: Request) -> Reply:
        """The recorded answer. Raises FatalModelError, quoting the question, when it was never asked."""
        if request.context.get("stage") == "ping":
            return Reply("ready", Usage(usd=0.0))
        reply: Reply | None = self._replies.get(digest(request))
        if reply is None:
            asked = one_line(request.messages[-1].content)
            raise FatalModelError(
                f"{self.name}: no answer to this question is recorded: {asked[:SHOWN]!r} (key {digest(request)})",
                hint="record it with the real model; prompts that changed in any way are other questions",
            )
        return replace(reply, usage=replace(reply.usage, usd=0.0))

    async def close(self) -> None:
        """Nothing to release."""
