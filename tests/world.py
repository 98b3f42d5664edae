"""A small world with hidden rules, and models that live in it: what the loop is tested on.

A task ``rule K: ...`` is done right by the target when the skill says ``RULE K``, and always wrong when it says ``POISON K``. The
optimizer proposes the rules that the failures call for, and now and then a poison.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from skillgit.config import ModelSettings
from skillgit.models import registry
from skillgit.models.base import Model, Reply, Request, Usage

RULES = 6
ENV: dict[str, Any] = {
    "models": {"target": "openai:world", "optimizer": "openai:world-optimizer"},
    "train": {"epochs": 2, "batch_size": 6},
    "reflect": {"minibatch_size": 3},
    "edits": {"budget": 2, "min_budget": 1},
    "slow_update": {"samples": 6},
}
SKILL = "---\nname: demo\ndescription: Follow the rules. Use for tasks with rules.\n---\n\n# Rules\n\n- RULE 0 holds.\n"


def tasks(train: int = 12, selection: int = 12, test: int = 12) -> list[dict[str, Any]]:
    """Tasks in named splits; the rule of task n is n modulo RULES."""
    sizes = {"train": train, "selection": selection, "test": test}
    return [
        {
            "id": f"{split}-{n:03}",
            "split": split,
            "input": f"rule {n % RULES}: {split} {n}",
            "answer": f"done {split} {n}",
        }
        for split, size in sizes.items()
        for n in range(size)
    ]


Answer = Callable[[Request], "str | Reply | Exception"]


@dataclass
class Scripted:
    """A model that answers by a function; counts what it was asked."""

    name: str
    answer: Answer
    fingerprint: str = "f"
    is_agent: bool = False
    asked: list[Request] = field(default_factory=list)
    closed: int = 0

    async def call(self, request: Request) -> Reply:
        self.asked.append(request)
        answer = self.answer(request)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Reply) else Reply(answer, Usage(10, 5))

    async def close(self) -> None:
        self.closed += 1


def target(request: Request) -> str:
    """Do a task by the skill in the system prompt."""
    skill, asked = request.messages[0].content, request.messages[-1].content
    found = re.match(r"rule (\d+): (.*)", asked)
    if not found:
        return "ready"
    rule, what = found.groups()
    good = f"RULE {rule} " in skill and f"POISON {rule} " not in skill
    return f"done {what}" if good else "no idea"


def optimizer(request: Request) -> str:
    """Propose what the failures call for."""
    context = request.context
    stage = context.get("stage")
    if stage == "reflect":
        return json.dumps({"patterns": _patterns(context), "reasoning": "rules are missing", "edits": _edits(context)})
    if stage == "merge":
        return json.dumps({"reasoning": "one list", "edits": _merged(context)})
    if stage == "select":
        return json.dumps({"reasoning": "as they come", "ranking": list(range(len(context["edits"])))})
    if stage == "slow":
        return json.dumps({"reflection": "", "guidance": f"Heed every rule. RULE {RULES - 1} holds."})
    if stage == "meta":
        return json.dumps({"meta_skill": "- Rules help."})
    return "ready"


def _wanted(context: Any) -> dict[int, list[str]]:
    rules: dict[int, list[str]] = {}
    for row in context["trajectories"]:
        rules.setdefault(int(row["input"].split(":")[0].split()[1]), []).append(row["id"])
    return rules


def _patterns(context: Any) -> list[dict[str, Any]]:
    return [
        {"pattern": f"rule {r} unknown", "count": len(i), "task_ids": i} for r, i in sorted(_wanted(context).items())
    ]


def _edits(context: Any) -> list[dict[str, Any]]:
    if context["kind"] == "success":
        return []
    rejected = json.dumps(context["rejected"])
    edits = []
    for rule, ids in sorted(_wanted(context).items()):
        if rule % 2 and f"POISON {rule - 1} " not in rejected:
            edits.append(_append(f"- POISON {rule - 1} holds.", ids))
        edits.append(_append(f"- RULE {rule} holds.", ids))
    return edits


def _append(content: str, ids: list[str]) -> dict[str, Any]:
    what = content.removeprefix("- ").removesuffix(" holds.")
    return {
        "op": "append",
        "target": None,
        "content": content,
        "title": f"say {what}",
        "reasoning": "seen",
        "task_ids": ids,
    }


def _merged(context: Any) -> list[dict[str, Any]]:
    edits = [edit for patch in context["patches"] for edit in patch]
    first: dict[str, dict[str, Any]] = {}
    for index, edit in enumerate(edits):
        row = first.setdefault(edit["content"], {**_append(edit["content"], []), "sources": []})
        row["sources"].append(index)
    return list(first.values())


@dataclass
class World:
    """The two models of a test, put in the place of real ones."""

    target: Scripted = field(default_factory=lambda: Scripted("openai:world", target))
    optimizer: Scripted = field(default_factory=lambda: Scripted("openai:world-optimizer", optimizer))

    def create(self, settings: ModelSettings, role: str) -> Model:
        return self.target if role == "target" else self.optimizer

    def install(self, monkeypatch: pytest.MonkeyPatch) -> World:
        monkeypatch.setattr(registry, "create", self.create)
        return self

    @property
    def calls(self) -> int:
        return len(self.target.asked) + len(self.optimizer.asked)
