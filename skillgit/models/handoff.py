"""``handoff:FOLDER``, no model at all: calls become files, and whoever likes answers them, a person or a coding agent.

A call is named by the hash of its request. ``HASH.prompt.md`` is to be read, ``HASH.request.json`` is the same for programs.
The answer is put beside them, as ``HASH.answer.md`` (its text) or ``HASH.answer.json`` (a reply with tool calls).
"""

from __future__ import annotations

import json
from pathlib import Path

from skillgit.config import ModelSettings
from skillgit.errors import ConfigError, FatalModelError, HandedOff, UsageError
from skillgit.models import tokens
from skillgit.models.base import Reply, Request, Usage
from skillgit.models.refusals import one_line
from skillgit.models.transcript import digest, reply_from, request_data

FREE = Usage(usd=0.0)


class Handoff:
    """Answers what has been answered in its folder; anything else raises HandedOff after it was written there."""

    is_agent = False
    fingerprint = "handoff 1"

    def __init__(self, settings: ModelSettings, name: str) -> None:
        if not name:
            raise ConfigError("handoff: needs a folder, e.g. handoff:calls")
        self._folder = Path(name).expanduser()
        self._waiting: set[str] = set()
        self.name = settings.model

    async def call(self, request: Request) -> Reply:
        """The answer, once there is one. Raises HandedOff until then, and UsageError for one that cannot be read."""
        if request.context.get("stage") == "ping":
            return Reply("ready", FREE)
        key = digest(request)
        reply = self._answer(key, request)
        if reply is None:
            self._write(key, request)
            self._waiting.add(key)
            raise HandedOff(
                f"{_counted(len(self._waiting))} for an answer in {self._folder.absolute()}",
                hint="put the answer to each HASH.prompt.md into HASH.answer.md, then run the same command again",
            )
        return reply

    async def close(self) -> None:
        """Nothing to release."""

    def _answer(self, key: str, request: Request) -> Reply | None:
        for path in (self._folder / f"{key}.answer.json", self._folder / f"{key}.answer.md"):
            try:
                text = path.read_text(encoding="utf-8-sig").rstrip("\n")
                if text.strip() and path.suffix == ".json":
                    return reply_from({"usage": {"usd": 0.0}, **json.loads(text)})
            except (FileNotFoundError, NotADirectoryError):
                continue
            except (OSError, ValueError, TypeError) as error:
                raise UsageError(f"{path} cannot be read as an answer: {one_line(error)}") from None
            if text.strip():  # an empty file is one that somebody has only begun
                return Reply(text, Usage(tokens.of_request(request), tokens.of_text(text), usd=0.0))
        return None

    def _write(self, key: str, request: Request) -> None:
        data = json.dumps(request_data(request), indent=1, ensure_ascii=False)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for name, text in (("request.json", f"{data}\n"), ("prompt.md", prompt(key, request))):
                path = self._folder / f"{key}.{name}"
                path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        except OSError as error:
            raise FatalModelError(f"handoff: {self._folder} cannot be written: {error.strerror}") from None


def _counted(calls: int) -> str:
    return "1 call waits" if calls == 1 else f"{calls} calls wait"


def prompt(key: str, request: Request) -> str:
    """A request as a person or an agent reads it. Pure."""
    asked = [f"# Call {key}", f"Write the answer, and nothing else, into `{key}.answer.md`."]
    if request.schema is not None:
        asked.append(f"It must be one JSON object that fits the `schema` in `{key}.request.json`.")
    if request.tools:
        names = ", ".join(f"`{tool.name}`" for tool in request.tools)
        asked.append(
            f"It may call {names} instead: then write "
            f'`{{"text": "", "tool_calls": [{{"id": "1", "name": "...", "arguments": "{{}}"}}]}}` '
            f"into `{key}.answer.json`."
        )
    for message in request.messages:
        asked.append(f"## {message.role}")
        asked += [message.content] if message.content else []
        asked += [f"Image: {image}" for image in message.images]
        asked += [f"Calls `{call.name}` (id {call.id}) with {call.arguments}" for call in message.tool_calls]
    return "\n\n".join(asked) + "\n"
