"""An environment: tasks, prompt, rollout and judge of one skill, loaded from its folder."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from skillgit import config as configs
from skillgit import judges, tasks, templates
from skillgit.bundles import bundled
from skillgit.config import Config, Settings
from skillgit.env_file import calling, hook, load_module
from skillgit.errors import ConfigError, TaskError
from skillgit.judges import Judgement, rubric
from skillgit.models.base import Message, Model, Reply, Request, SkillFile
from skillgit.splits import Splits, Task, assign
from skillgit.trajectory import Recorded, Trajectory

__all__ = ["Environment", "Trajectory", "bundled", "load"]

SPOKEN = ("model", "base_url", "api", "temperature", "max_tokens", "reasoning_effort", "seed", "extra")
"""Settings of a judging model that may change what it says."""
VERSION = "1"
"""Part of every fingerprint; rises when prompts or judges of ours begin to give other results."""


class Environment:
    """The tasks of a skill and how they are done and scored.

    ``fingerprint`` (16 hex) changes when a rollout of the same task may score otherwise: prompt, extraction, judge, free
    options, and the Python files and ``prompts/*.md`` of the folder. Tasks, models and training settings are no part of it.
    """

    def __init__(self, folder: Path, config: Config) -> None:
        self.folder = folder
        self.name = folder.name
        self.config = config
        self.settings: Settings = config.settings
        module = load_module(folder / "env.py")
        self._own_tasks = hook(module, "tasks")
        self._own_rollout = hook(module, "rollout")
        self._own_score = hook(module, "score")
        self.judge = judges.make(self.settings.judge, module, folder)
        if self.judge.asks and self.settings.models.judge is None:
            raise ConfigError(
                "judge.kind: rubric needs models.judge, the model that judges; it is never chosen silently"
            )
        if module is None:
            _check_prompt_names(folder)
        self.fingerprint = self._fingerprint()

    @cached_property
    def _tasks(self) -> tuple[Task, ...]:
        if self._own_tasks is not None:
            with calling("tasks()"):
                return tasks.make_tasks(self._own_tasks(self), "env.py tasks()")
        return self.file_tasks()

    def file_tasks(self) -> tuple[Task, ...]:
        """The tasks of the task files as they stand there, for a ``tasks()`` of env.py that changes them."""
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
        self.check_prompt()
        self._check_judge()
        return splits

    @property
    def own_tasks(self) -> bool:
        """Whether env.py makes the tasks."""
        return self._own_tasks is not None

    @property
    def judging(self) -> Literal["free", "costly", "rollout"]:
        """How an answer is scored: without cost, by a process or a call, or by the rollout of env.py, unless it leaves it."""
        if self._own_score is not None:
            return "free"
        return "costly" if self.judge.costs else "free" if self._own_rollout is None else "rollout"

    @property
    def needs_answers(self) -> bool:
        """Whether a task without a reference answer can never pass."""
        return self._own_score is None and self._own_rollout is None and self.judge.needs_answer

    def golds(self, task: Task) -> list[str]:
        """Answers to a task that must pass."""
        return judges.references(task) if self._own_score is not None else self.judge.golds(task)

    def check_prompt(self) -> None:
        """Raise ConfigError or TaskError for a prompt that does not fit the tasks; env.py's rollout may have none."""
        if self._own_rollout is not None:
            return
        prompt = self.settings.prompt
        known = {"input", "id", "type", "skill"} | {name for task in self._tasks for name in task.fields}
        used = templates.fields(f"{prompt.system}{prompt.user}")
        if "skill" not in used:
            raise ConfigError("neither prompt.system nor prompt.user uses {skill}; the target would not see the skill")
        if "answer" in used:
            raise ConfigError("the prompt uses {answer}; the target must not see the reference answer")
        if not prompt.user.strip():
            raise ConfigError("prompt.user is empty; a model must be asked something")
        if set(used) == {"skill"}:
            raise ConfigError("the prompt uses no field of a task, such as {input}; every task would ask the same")
        templates.check_template(prompt.system, known, "prompt.system")
        templates.check_template(prompt.user, known, "prompt.user")
        if prompt.images and prompt.images not in known:
            raise ConfigError(f"prompt.images names '{prompt.images}', which no task has")
        for task in self._tasks:
            if not self.render(task, "")[-1].content.strip():
                raise TaskError(f"the prompt of task '{task.id}' is empty", hint="see prompt.user in env.yaml")
            self._check_images(task)

    def _check_images(self, task: Task) -> None:
        for image in self._images(task):
            if not _remote(image) and not Path(image).is_file():
                raise TaskError(f"task '{task.id}': there is no image {image}")

    def _check_judge(self) -> None:
        if self.judge.costs and self._own_score is None:
            return  # see check_costly_judge
        if self._own_score is not None:
            for task in self._tasks:
                judges.check_empty(self.score, task)
        elif self._own_rollout is None:
            judges.check(self.judge, self._tasks)
        else:  # a rollout may score by itself, and then its tasks need no answer
            judges.check(self.judge, [task for task in self._tasks if task.answer is not None])

    async def check_costly_judge(self) -> None:
        """Judge one train task by a judge that costs, before anything else is spent. Raises ConfigError."""
        if self.judge.costs and self._own_score is None:
            await judges.check_one(self.judge, self.splits().train[0])

    def render(self, task: Task, skill: str) -> tuple[Message, ...]:
        """The prompt of a task under a skill; a system prompt that comes out empty is left out."""
        values = {**task.fields, "input": task.input, "id": task.id, "type": task.type, "skill": skill}
        system = templates.fill(self.settings.prompt.system, values)
        user = Message("user", templates.fill(self.settings.prompt.user, values), self._images(task))
        return (Message("system", system), user) if system.strip() else (user,)

    async def rollout(self, task: Task, skill: str, model: Model, *, sample: int = 0) -> Trajectory:
        """Do a task with the skill and score it. Model errors pass through; the caller decides what they mean."""
        if self._own_rollout is not None:
            return await self._by_env_file(task, skill, Recorded(model, sample), sample)
        prompt = self.render(task, "" if model.is_agent else skill)
        request = Request(prompt, sample=sample, skill=SkillFile(self.name, skill) if model.is_agent else None)
        return await self.judged(task, prompt, await model.call(request), sample)

    async def _by_env_file(self, task: Task, skill: str, model: Recorded, sample: int) -> Trajectory:
        assert self._own_rollout
        with calling("rollout()", task.id):
            result = self._own_rollout(task, skill, model, self)
            result = await result if inspect.isawaitable(result) else result
        if isinstance(result, str):
            result = Reply(result, model.usage)
        if isinstance(result, Reply):
            result = await self.judged(task, self.render(task, skill), result)
            result = replace(result, messages=model.messages or result.messages)
        if not isinstance(result, Trajectory):
            raise TaskError(f"rollout() of env.py must return text, a Reply or a Trajectory, not {result!r}")
        judges.demand_scores(result.hard, result.soft, task)
        usage = result.usage if result.usage.calls else model.usage
        return replace(result, task=task, sample=sample, messages=result.messages or model.messages, usage=usage)

    def scored(self, task: Task, prompt: Sequence[Message], reply: Reply, sample: int = 0) -> Trajectory:
        """The trajectory of a finished conversation, by a judge that costs nothing."""
        answer, missing = judges.extract(self.settings.answer, reply.text)
        return self._trajectory(task, prompt, reply, sample, answer, missing, self.score(task, answer))

    async def judged(self, task: Task, prompt: Sequence[Message], reply: Reply, sample: int = 0) -> Trajectory:
        """The trajectory of a finished conversation, by any judge. Raises OutputError when the judge gives no score."""
        answer, missing = judges.extract(self.settings.answer, reply.text)
        own = self._own_score is not None or not self.judge.costs
        judgement = self.score(task, answer) if own else await self.judge.judge(task, answer)
        return self._trajectory(task, prompt, reply, sample, answer, missing, judgement)

    def _trajectory(
        self,
        task: Task,
        prompt: Sequence[Message],
        reply: Reply,
        sample: int,
        answer: str,
        missing: str,
        judgement: Judgement,
    ) -> Trajectory:
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
        if self._own_score is None:
            return self.judge(task, answer)
        with calling("score()", task.id):
            return judges.to_judgement(self._own_score(task, answer), task)

    def prompt(self, stage: str) -> str | None:
        """This environment's own optimizer prompt for a stage, if it has one."""
        path = self.folder / "prompts" / f"{stage}.md"
        try:
            return path.read_text(encoding="utf-8") if path.is_file() else None
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path}: byte {error.start} is not UTF-8", hint="save the file as UTF-8") from None

    def _images(self, task: Task) -> tuple[str, ...]:
        value = task.fields.get(self.settings.prompt.images)
        values = value if isinstance(value, (list, tuple)) else [value] if value else []
        return tuple(str(v) if _remote(str(v)) else str(self.folder / str(v)) for v in values)

    def _fingerprint(self) -> str:
        settings = self.settings
        parts = [settings.prompt, settings.answer, settings.judge]
        state: list[Any] = [VERSION, *(part.model_dump(mode="json") for part in parts), settings.options]
        if self.judge.asks and settings.models.judge:
            state.append([rubric.VERSION, settings.models.judge.model_dump(mode="json", include=set(SPOKEN))])
        files = {*self.folder.glob("*.py"), *self.folder.glob("prompts/*.md"), *self._named()}
        sources = sorted((path.relative_to(self.folder).as_posix(), _digest(path.read_bytes())) for path in files)
        return _digest(json.dumps([state, sources], sort_keys=True).encode())[:16]

    def _named(self) -> Iterator[Path]:
        """The files of the folder that a command of the judge names: a changed one may score otherwise."""
        command = getattr(self.judge, "command", "")
        for path in self.folder.rglob("*") if command else ():
            if path.is_file() and path.relative_to(self.folder).as_posix() in command:
                yield path


def _digest(data: bytes) -> str:
    """A hash that is the same in a checkout with other line endings."""
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()


def _check_prompt_names(folder: Path) -> None:
    """Refuse a prompt that nothing would read; where there is an env.py, it may read it."""
    from skillgit.stages.prompts import STAGES

    for path in folder.glob("prompts/*.md"):
        if path.stem not in STAGES:
            raise ConfigError(f"prompts/{path.name}: there is no such stage; the stages are {', '.join(STAGES)}")


def _remote(image: str) -> bool:
    return image.startswith(("http://", "https://", "data:"))


def load(folder: Path, overrides: Sequence[str] = ()) -> Environment:
    """The environment of a skill's folder. Raises ConfigError or TaskError with one line."""
    return Environment(folder, configs.load(folder / "env.yaml", overrides))
