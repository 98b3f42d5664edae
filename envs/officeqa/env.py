"""OfficeQA: a loop of turns with tools over the documents, and two scorers for ``judge.function``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillgit.env import Environment, Trajectory
from skillgit.errors import ConfigError
from skillgit.judges.base import PASSED, Judgement, failed, references
from skillgit.models.base import Message, Reply, Request, SkillFile
from skillgit.splits import Task
from skillgit.trajectory import Recorded

from .documents import TOOLS, Documents, names
from .pages import oracle_pages
from .scoring import f1, matched, near_miss, normalized

ANSWER = re.compile(r"<answer>(.*?)</answer>", re.IGNORECASE | re.DOTALL)
MOST_CANDIDATES = 20


def tasks(env: Environment) -> list[Task]:
    """The tasks, each with the tolerance that it is judged by. Raises ConfigError for a setting out of range."""
    options = env.settings.options
    tolerance, turns = options.get("tolerance", 0.0), options.get("max_turns", 24)
    if not isinstance(tolerance, (int, float)) or not 0 <= tolerance < 1:
        raise ConfigError(f"options.tolerance must be a number from 0 and below 1, not {tolerance!r}")
    if type(turns) is not int or turns < 1:
        raise ConfigError(f"options.max_turns must be a whole number from 1, not {turns!r}")
    return [replace(task, fields={**task.fields, "tolerance": tolerance}) for task in env.file_tasks()]


async def rollout(task: Task, skill: str, model: Recorded, env: Environment) -> Trajectory:
    """Turns until an answer is given, tools are no longer called, or the turns are used up."""
    options = env.settings.options
    documents = _documents(task, env)
    messages = _prompt(task, "" if model.is_agent else skill, env, documents)
    if model.is_agent:
        files = {name.replace("/", "_"): str(path) for name, path in documents.files.items()}
        request = Request(messages, skill=SkillFile(env.name, skill), files=files)
        return _ended(task, env, messages, await model.call(request), 0)
    tools = TOOLS if options.get("tools", True) else ()
    turns = options.get("max_turns", 24) if tools else 1
    for _ in range(turns):
        reply = await model.call(Request(messages, tools=tools))
        if ANSWER.search(reply.text) or not reply.tool_calls:
            break
        results = (Message("tool", documents.call(c.name, c.arguments), tool_call_id=c.id) for c in reply.tool_calls)
        messages = (*messages, reply.turn(), *results)
    return _ended(task, env, messages, reply, turns)


def _documents(task: Task, env: Environment) -> Documents:
    options = env.settings.options
    hinted = names(task.fields.get("source_files")) if options.get("hinted_files", True) else ()
    return Documents(_root(env), hinted)


def _root(env: Environment) -> Path:
    return env.folder / Path(str(env.settings.options.get("documents", "docs"))).expanduser()


def _prompt(task: Task, skill: str, env: Environment, documents: Documents) -> tuple[Message, ...]:
    *system, user = env.render(task, skill)
    options, fields = env.settings.options, task.fields
    files, urls = names(fields.get("source_files")), names(fields.get("source_docs"))
    parts = [user.content]
    pages = oracle_pages(_root(env), files, urls) if options.get("oracle_pages", True) else ""
    if pages:
        parts.append(f"## Pages of the sources\n\n{pages}")
    if options.get("hinted_files", True) and files:
        candidates = "\n".join(f"- {name}" for name in list(documents.files)[:MOST_CANDIDATES])
        parts.append(f"## Files\n\n{candidates}")
    return (*system, replace(user, content="\n\n".join(parts)))


def _ended(task: Task, env: Environment, messages: tuple[Message, ...], reply: Reply, turns: int) -> Trajectory:
    found = ANSWER.search(reply.text)
    answer = found[1].strip() if found else ""
    judgement = env.score(task, answer)
    pending = reply.tool_calls and not found
    missing = (
        "" if found else f"the {turns} turns were used up by tool calls" if pending else "no answer and no tool call"
    )
    cut = "the reply was cut off by the output limit" if reply.stop == "length" else ""
    reason = "; ".join(part for part in (cut, missing, judgement.reason) if part) if judgement.hard < 1 else ""
    said = messages if pending else (*messages, *reply.steps, reply.turn())
    return Trajectory(task, 0, said, reply.text, answer, judgement.hard, judgement.soft, reason)


def reference(task: Task, answer: str) -> Judgement:
    """The paper's: equal as texts after normalising; soft is token F1."""
    golds = references(task)
    right = any(normalized(answer) == normalized(gold) for gold in golds)
    return _judged(task, answer, right, max((f1(answer, gold) for gold in golds), default=0.0))


def tolerant(task: Task, answer: str) -> Judgement:
    """Equal as numbers, in order, within ``options.tolerance``; soft is the share of them that are."""
    fields: Mapping[str, Any] = task.fields
    share = max((matched(answer, gold, fields.get("tolerance", 0.0)) for gold in references(task)), default=0.0)
    return _judged(task, answer, share == 1, share)


def _judged(task: Task, answer: str, right: bool, soft: float) -> Judgement:
    if not answer.strip():
        return failed(task, answer)
    notes = (near_miss(answer, gold) for gold in references(task))
    return PASSED if right else failed(task, answer, soft, note=next((note for note in notes if note), ""))
