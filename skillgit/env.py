"""An environment: tasks, prompt, rollout and judge of one skill, loaded from its folder."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from skillgit import config as configs
from skillgit import judges, tasks, templates
from skillgit.config import Config, Settings
from skillgit.env_file import calling, load_module
from skillgit.errors import ConfigError, TaskError
from skillgit.judges import Judgement
from skillgit.models.base import NO_USAGE, Message, Model, Reply, Request, SkillFile, Usage
from skillgit.replies import message_from
from skillgit.splits import Splits, Task, assign

VERSION = "1"
"""Part of every fingerprint; rises when prompts or judges of ours begin to give other results."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The record of a rollout. ``error`` says why it was not measured; its scores mean nothing then.

    ``messages`` are the prompts and all that followed, ``output`` the last reply, ``answer`` what was judged.
    """

    task: Task
    sample: int
    messages: tuple[Message, ...]
    output: str = ""
    answer: str = ""
    hard: float = 0.0
    soft: float = 0.0
    reason: str = ""
    error: str = ""
    usage: Usage = NO_USAGE

    @classmethod
    def failed(cls, task: Task, sample: int, error: str) -> Trajectory:
        """A rollout that could not be measured."""
        return cls(task, sample, (), error=error)

    def to_json(self) -> str:
        """Everything but the task, which the reader has."""
        data = {key: getattr(self, key) for key in ("sample", "output", "answer", "hard", "soft", "reason")}
        data |= {"messages": [asdict(message) for message in self.messages], "usage": asdict(self.usage)}
        return json.dumps(data, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str, task: Task) -> Trajectory:
        """What ``to_json`` wrote, for its task."""
        data = json.loads(text)
        messages = tuple(message_from(row) for row in data.pop("messages"))
        return cls(task, messages=messages, usage=Usage(**data.pop("usage")), **data)


class Environment:
    """The tasks of a skill and how they are done and scored.

    ``fingerprint`` (16 hex) changes when a rollout of the same task may score otherwise: prompt, extraction, judge, env.py
    and the files beside it. Tasks, models and training settings are no part of it.
    """

    def __init__(self, folder: Path, config: Config) -> None:
        self.folder = folder
        self.name = folder.name
        self.config = config
        self.settings: Settings = config.settings
        self.module = load_module(folder / "env.py")
        self.judge = judges.make(self.settings.judge, self.module)
        if self.settings.answer.extract == "regex":
            judges.compiled(self.settings.answer.pattern)
        self.fingerprint = self._fingerprint()

    @cached_property
    def _tasks(self) -> tuple[Task, ...]:
        own = getattr(self.module, "tasks", None)
        if own is not None:
            with calling("tasks()"):
                return tasks.make_tasks(own(self), "env.py tasks()")
        files = self.settings.tasks
        if files.all:
            return tasks.read_tasks(self.folder / files.all)
        named = {"train": files.train, "selection": files.selection, "test": files.test}
        return tuple(
            task for split, file in named.items() if file for task in tasks.read_tasks(self.folder / file, split)
        )

    def tasks(self) -> tuple[Task, ...]:
        """Every task, in the order of the task file. Raises TaskError."""
        return self._tasks

    def splits(self) -> Splits:
        """The three splits, with prompt and judge checked against the tasks. Raises TaskError or ConfigError."""
        settings = self.settings
        splits = assign(self._tasks, settings.split.ratio, settings.split.seed, min_selection=settings.gate.min_items)
        known = {"input", "answer", "id", "type"} | {name for task in self._tasks for name in task.fields}
        if not hasattr(self.module, "rollout"):
            templates.check_template(settings.prompt.user, known | {"skill"}, "prompt.user")
            if "skill" not in templates.fields(settings.prompt.system + settings.prompt.user):
                raise ConfigError(
                    "neither prompt.system nor prompt.user uses {skill}; the target would not see the skill"
                )
            templates.check_template(settings.prompt.system, known | {"skill"}, "prompt.system")
        if not hasattr(self.module, "score"):
            judges.check(self.judge, self._tasks)
        return splits

    def render(self, task: Task, skill: str) -> tuple[Message, ...]:
        """The prompt of a task under a skill."""
        values = {**task.fields, "input": task.input, "id": task.id, "type": task.type, "skill": skill}
        system = templates.fill(self.settings.prompt.system, values)
        user = Message("user", templates.fill(self.settings.prompt.user, values), self._images(task))
        return (Message("system", system), user) if system.strip() else (user,)

    async def rollout(self, task: Task, skill: str, model: Model, *, sample: int = 0) -> Trajectory:
        """Do a task with the skill and score it. Model errors pass through; the caller decides what they mean."""
        own = getattr(self.module, "rollout", None)
        if own is not None:
            with calling("rollout()", task.id):
                result = own(task, skill, model, self)
                result = await result if inspect.isawaitable(result) else result
            if isinstance(result, Trajectory):
                return result
            if not isinstance(result, str):
                raise TaskError(f"rollout() of env.py must return text or a Trajectory, not {type(result).__name__}")
            return self.scored(task, self.render(task, skill), Reply(result, NO_USAGE), sample)
        prompt = self.render(task, "" if model.is_agent else skill)
        request = Request(prompt, sample=sample, skill=SkillFile(self.name, skill) if model.is_agent else None)
        return self.scored(task, prompt, await model.call(request), sample)

    def scored(self, task: Task, prompt: Sequence[Message], reply: Reply, sample: int = 0) -> Trajectory:
        """The trajectory of a finished conversation."""
        answer, missing = judges.extract(self.settings.answer, reply.text)
        judgement = self.score(task, answer)
        reason = judgement.reason
        if judgement.hard < 1:
            cut = "the reply was cut off by the output limit" if reply.stop == "length" else ""
            reason = "; ".join(part for part in (cut, missing, reason) if part)
        messages = (*prompt, *reply.steps, Message("assistant", reply.text))
        return Trajectory(
            task, sample, messages, reply.text, answer, judgement.hard, judgement.soft, reason, usage=reply.usage
        )

    def score(self, task: Task, answer: str) -> Judgement:
        """Judge an answer, by env.py's ``score(task, answer)`` or the configured judge."""
        own = getattr(self.module, "score", None)
        if own is None:
            return self.judge(task, answer)
        with calling("score()", task.id):
            return judges.to_judgement(own(task, answer), task)

    def prompt(self, stage: str) -> str | None:
        """This environment's own optimizer prompt for a stage, if it has one."""
        path = self.folder / "prompts" / f"{stage}.md"
        return path.read_text(encoding="utf-8") if path.is_file() else None

    def _images(self, task: Task) -> tuple[str, ...]:
        field = self.settings.prompt.images
        value = task.fields.get(field) if field else None
        values = value if isinstance(value, (list, tuple)) else [value] if value else []
        return tuple(
            str(v) if "://" in str(v) or str(v).startswith("data:") else str(self.folder / str(v)) for v in values
        )

    def _fingerprint(self) -> str:
        settings = self.settings
        parts = [settings.prompt, settings.answer, settings.judge]
        state = [VERSION, *(part.model_dump(mode="json") for part in parts), settings.options]
        sources = [(path.name, path.read_text(encoding="utf-8")) for path in sorted(self.folder.glob("*.py"))]
        text = json.dumps([state, sources], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def load(folder: Path, overrides: Sequence[str] = ()) -> Environment:
    """The environment of a skill's folder. Raises ConfigError or TaskError with one line."""
    return Environment(folder, configs.load(folder / "env.yaml", overrides))


def bundled() -> dict[str, Path]:
    """Environments that travel with skillgit or with a plugin (entry points ``skillgit.envs``), by name."""
    from importlib.metadata import entry_points

    here = Path(__file__).parent
    roots = [here / "_bundled" / "envs", here.parent / "envs"]
    found = {entry.name: Path(str(entry.load())) for entry in entry_points(group="skillgit.envs")}
    for root in roots:
        found |= {path.parent.name: path.parent for path in sorted(root.glob("*/env.yaml"))}
    return dict(sorted(found.items()))
