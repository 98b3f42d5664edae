"""What GitHub tells a step: the event, the repository, and the files that the step answers in."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillgit.errors import UsageError

TRUSTED = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""Author associations whose comments may start a training, as the API names them."""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """The pull request of an event. ``fork``: its head is in another repository, so the step was given no secrets."""

    number: int
    base: str
    head: str
    fork: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """How a step ended: the exit code, and its outputs by name."""

    code: int
    outputs: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Context:
    """One run of a step. ``event`` is the payload of the event, ``outputs`` and ``summary`` the files to append to, if any."""

    name: str
    event: Mapping[str, Any]
    repository: str
    api: str
    token: str
    actor: str
    outputs: Path | None
    summary: Path | None

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Context:
        """The context in the variables that GitHub sets. Raises UsageError outside of a workflow."""
        missing = [
            key for key in ("GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_REPOSITORY") if not environ.get(key)
        ]
        if missing:
            raise UsageError(
                f"{missing[0]} is not set: this command runs in a GitHub workflow",
                hint="use .github/actions/gate or .github/actions/train; at a terminal: skillgit gate, skillgit train",
            )
        path = Path(environ["GITHUB_EVENT_PATH"])
        try:
            event = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"GITHUB_EVENT_PATH: {path} is not an event: {error}") from None
        if not isinstance(event, dict):
            raise UsageError(f"GITHUB_EVENT_PATH: {path} is not an event: it holds no JSON object")
        files = {
            key: Path(environ[key]) if environ.get(key) else None for key in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
        }
        return cls(
            environ["GITHUB_EVENT_NAME"],
            event,
            environ["GITHUB_REPOSITORY"],
            environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/"),
            environ.get("GITHUB_TOKEN", ""),
            environ.get("GITHUB_ACTOR", ""),
            files["GITHUB_OUTPUT"],
            files["GITHUB_STEP_SUMMARY"],
        )

    @property
    def pull_request(self) -> PullRequest | None:
        """The pull request that the event is about, with the commits of its two ends; None for a push, a schedule, ..."""
        pull = self.event.get("pull_request")
        if not isinstance(pull, dict):
            return None
        base, head = pull["base"], pull["head"]
        there = (head.get("repo") or {}).get("full_name")  # None: the fork was deleted
        return PullRequest(int(pull["number"]), base["sha"], head["sha"], there != self.repository)

    @property
    def default_branch(self) -> str:
        """The branch that pull requests go to."""
        return str((self.event.get("repository") or {}).get("default_branch") or "main")

    def say(self, markdown: str) -> None:
        """Append to the summary of the step."""
        if self.summary:
            with self.summary.open("a", encoding="utf-8") as file:
                file.write(markdown.rstrip("\n") + "\n\n")

    def put(self, outputs: Mapping[str, object]) -> None:
        """Set outputs of the step. Values may hold any text: each is fenced by a word that nobody can guess."""
        if self.outputs:
            with self.outputs.open("a", encoding="utf-8") as file:
                for key, value in outputs.items():
                    fence = f"end-{secrets.token_hex(16)}"
                    file.write(f"{key}<<{fence}\n{value}\n{fence}\n")
