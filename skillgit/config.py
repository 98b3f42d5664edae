"""Every setting of a skill's ``env.yaml``, validated once at the edge.

The models below are the documentation of the keys: each field has a description, a default and a range, and
``skillgit config NAME --explain`` prints them. Unknown keys are refused with the nearest known one.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from skillgit.errors import ConfigError

NAME_PATTERN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


def _ratio(value: object) -> object:
    if isinstance(value, str):
        parts = value.split(":")
        try:
            return tuple(float(p) for p in parts)
        except ValueError:
            return value
    return value


Ratio = Annotated[tuple[float, float, float], BeforeValidator(_ratio)]


class SplitSettings(Section):
    ratio: Ratio = Field((2, 1, 7), description="train : selection : test, used for tasks that name no split")
    seed: int = Field(42, description="changes which task falls into which split")

    @model_validator(mode="after")
    def _positive(self) -> SplitSettings:
        if min(self.ratio) <= 0:
            raise ValueError("every part of the ratio must be above 0")
        return self


class PromptSettings(Section):
    system: str = Field(
        "{skill}", description="system prompt; {skill} is the document, {input} and every task field work too"
    )
    user: str = Field("{input}", description="user prompt; {input} and every further field of the task can be used")
    images: str = Field("", description="name of the task field that holds image paths or URLs")


class AnswerSettings(Section):
    extract: Literal["whole", "answer_tag", "last_line", "regex"] = Field(
        "whole", description="how the answer is taken out of the reply"
    )
    pattern: str = Field("", description="for extract: regex; group 1 (or the match) of the last match")


class JudgeSettings(BaseModel):
    """``kind`` picks the judge; the other keys belong to it and are checked by it."""

    model_config = ConfigDict(extra="allow", frozen=True)
    kind: str = Field("exact", description="exact, normalized, contains, regex, choice, number, date, json, python")

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class ModelSettings(Section):
    model: str = Field(
        description="provider:model, e.g. openai:gpt-5.5, anthropic:claude-opus-4-8, local:qwen2.5-coder-0.5b"
    )
    base_url: str = Field("", description="API address, for openai-compatible servers or a proxy")
    api_key_env: str = Field("", description="name of the environment variable that holds the key")
    temperature: float | None = Field(
        None, ge=0, le=2, description="sampling temperature; unset leaves the provider's default"
    )
    max_tokens: int = Field(4096, ge=1, description="output limit of one reply, in tokens")
    reasoning_effort: str = Field("", description="for reasoning models: low, medium, high, ...")
    timeout: float = Field(120, gt=0, description="seconds one call may take")
    retries: int = Field(5, ge=0, description="further attempts after 429, 5xx or a lost connection")
    concurrency: int = Field(8, ge=1, description="calls in flight at once; falls by itself on 429")
    seed: int | None = Field(None, description="sampling seed, for models that take one")
    extra: dict[str, Any] = Field(
        default_factory=dict, description="further request parameters, passed through as they are"
    )
    usd_per_million: tuple[float, float] | None = Field(
        None, description="[input, output] price, for models the price list does not know"
    )

    @model_validator(mode="after")
    def _spec(self) -> ModelSettings:
        provider, colon, _ = self.model.partition(":")
        if not colon or not provider:
            raise ValueError(f"'{self.model}' is not provider:model, e.g. openai:gpt-5.5")
        return self


def _model(value: object) -> object:
    return {"model": value} if isinstance(value, str) else value


AnyModel = Annotated[ModelSettings, BeforeValidator(_model)]


class ModelsSettings(Section):
    target: AnyModel = Field(description="the frozen model that does the tasks")
    optimizer: AnyModel = Field(description="the model that proposes edits")


class TrainSettings(Section):
    epochs: int = Field(4, ge=1, description="passes over the train split")
    batch_size: int = Field(40, ge=1, description="train tasks rolled out before one update")
    accumulation: int = Field(1, ge=1, description="batches that are reflected on before one update")
    seed: int = Field(42, description="shuffles tasks, minibatches and samples")
    update_mode: Literal["patch"] = Field("patch", description="how a proposal changes the document")
    max_steps: int | None = Field(None, ge=1, description="stop after this many steps in all")


class ReflectSettings(Section):
    minibatch_size: int = Field(8, ge=1, description="trajectories shown to the optimizer in one call")
    failure_only: bool = Field(False, description="learn from failures only, save the calls for successes")
    show_answers: bool = Field(True, description="show the optimizer the reference answers of train tasks")
    concurrency: int = Field(16, ge=1, description="optimizer calls at once")
    merge_batch_size: int = Field(8, ge=2, description="patches merged in one optimizer call")


class EditSettings(Section):
    budget: int = Field(4, ge=1, description="most edits a step may apply: the textual learning rate")
    min_budget: int = Field(2, ge=1, description="where a falling schedule ends")
    schedule: Literal["constant", "linear", "cosine", "autonomous", "none"] = Field(
        "cosine",
        description="how the budget falls over the steps; autonomous lets the optimizer choose, none lifts it",
    )
    missing_anchor: Literal["append", "skip"] = Field(
        "skip",
        description="insert_after whose anchor is not in the skill: append at the end (counted apart) or skip",
    )

    @model_validator(mode="after")
    def _order(self) -> EditSettings:
        if self.min_budget > self.budget:
            raise ValueError(f"min_budget {self.min_budget} is above budget {self.budget}")
        return self


class GateSettings(Section):
    policy: Literal["strict", "no_regression", "paired", "off"] = Field(
        "strict",
        description="strict: the candidate must score higher than the current skill; no_regression: and no task may score lower; paired: the gain must be significant over the whole run; off: accept always",
    )
    metric: Literal["hard", "soft", "mixed"] = Field("hard", description="which score decides")
    mixed_weight: float = Field(0.5, ge=0, le=1, description="w of mixed = (1-w)·hard + w·soft")
    alpha: float = Field(
        0.05, gt=0, lt=0.5, description="paired: the chance of accepting any useless edit in a whole run"
    )
    repeats: int = Field(
        1, ge=1, description="rollouts of each selection task in an evaluation; its score is their mean"
    )
    min_items: int = Field(5, ge=1, description="fewest selection tasks a gate may judge by")
    min_coverage: float = Field(
        0.9, gt=0, le=1, description="share of items that must be measured, else the verdict is undecided"
    )
    early_stop: bool = Field(
        True, description="stop an evaluation once the rest cannot change the decision, which is lossless"
    )
    salvage: int = Field(
        0, ge=0, description="most parts of a rejected candidate that are tried on their own (0: none)"
    )


class SlowUpdateSettings(Section):
    enabled: bool = Field(True, description="write epoch guidance into the protected slow-update region")
    acceptance: Literal["gated", "forced"] = Field(
        "gated", description="gated: the same gate as a step; forced: always taken"
    )
    first_epoch: bool = Field(True, description="also after epoch 1, compared with the initial skill")
    samples: int = Field(20, ge=1, description="train tasks in the longitudinal comparison")


class MetaSkillSettings(Section):
    enabled: bool = Field(True, description="keep optimizer-side advice from epoch to epoch")


class LimitSettings(Section):
    usd: float | None = Field(None, gt=0, description="most money, both roles together")
    tokens: int | None = Field(None, gt=0, description="most tokens, in and out")
    calls: int | None = Field(None, gt=0, description="most model calls")
    minutes: float | None = Field(None, gt=0, description="most wall time of one process")


class GitSettings(Section):
    start: str = Field("HEAD", description="the revision a new skill branch starts at")
    sign: Literal["inherit", "never"] = Field(
        "inherit", description="sign training commits as commit.gpgsign says, or never"
    )


class EvalSettings(Section):
    test: bool = Field(True, description="evaluate the test split once at the end of a run")


def _tasks(value: object) -> object:
    return {"all": value} if isinstance(value, str) else value


class TaskFiles(Section):
    all: str | None = Field(None, description="one file for every split")
    train: str | None = Field(None, description="train split")
    selection: str | None = Field(None, description="selection split")
    test: str | None = Field(None, description="test split")

    @model_validator(mode="after")
    def _one_way(self) -> TaskFiles:
        three = (self.train, self.selection, self.test)
        if (self.all is None) == (three == (None, None, None)) or (self.all is None and None in three):
            raise ValueError("give one file, or all three of train, selection and test")
        return self


class Settings(Section):
    """Everything ``env.yaml`` can say."""

    skill: str = Field("SKILL.md", description="the document that is trained, in this folder")
    tasks: Annotated[TaskFiles, BeforeValidator(_tasks)] = Field(
        default_factory=lambda: TaskFiles(all="tasks.jsonl"),
        description="task file (.jsonl, .json, .csv, .yaml), or {train, selection, test}; ignored when env.py has tasks()",
    )
    split: SplitSettings = SplitSettings()
    prompt: PromptSettings = PromptSettings()
    answer: AnswerSettings = AnswerSettings()
    judge: JudgeSettings = JudgeSettings()
    models: ModelsSettings
    train: TrainSettings = TrainSettings()
    reflect: ReflectSettings = ReflectSettings()
    edits: EditSettings = EditSettings()
    gate: GateSettings = GateSettings()
    slow_update: SlowUpdateSettings = SlowUpdateSettings()
    meta_skill: MetaSkillSettings = MetaSkillSettings()
    eval: EvalSettings = EvalSettings()
    limits: LimitSettings = LimitSettings()
    git: GitSettings = GitSettings()
    options: dict[str, Any] = Field(default_factory=dict, description="free settings for env.py")


Origin = Literal["default", "env.yaml", "command line"]


@dataclass(frozen=True)
class Config:
    """Settings with the origin of each leaf."""

    settings: Settings
    origins: Mapping[str, Origin]

    def rows(self) -> Iterator[tuple[str, Any, Origin]]:
        """(dotted key, value, origin) for every leaf, in the order of the models."""
        for key, value in _leaves(self.settings.model_dump(mode="json")):
            yield key, value, self.origins.get(key, "default")


def load(path: Path, overrides: Sequence[str] = ()) -> Config:
    """Read ``env.yaml`` and lay ``key.path=value`` overrides over it.

    Raises ConfigError with file, key and the allowed values.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}", hint="skillgit init NAME") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
    return parse({} if data is None else data, overrides, where=str(path))


def parse(data: object, overrides: Sequence[str] = (), *, where: str = "env.yaml") -> Config:
    """Validate settings that are already loaded; ``where`` names them in errors."""
    if not isinstance(data, dict):
        raise ConfigError(f"{where} must be a mapping of settings, not {type(data).__name__}")
    merged = data
    for text in overrides:
        merged = _override(merged, text)
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        raise ConfigError(_explain(error, where)) from None
    origins: dict[str, Origin] = dict.fromkeys(_dotted(data), "env.yaml")
    origins |= {_canonical(text.partition("=")[0].strip()): "command line" for text in overrides}
    return Config(settings, {_canonical(key): origin for key, origin in origins.items()})


def _canonical(key: str) -> str:
    shorthand = {
        "models.target": "models.target.model",
        "models.optimizer": "models.optimizer.model",
        "tasks": "tasks.all",
    }
    return shorthand.get(key, key)


def _override(data: Mapping[str, Any], text: str) -> dict[str, Any]:
    key, equals, raw = text.partition("=")
    path = key.strip().split(".")
    if not equals or not all(path):
        raise ConfigError(f"-o {text}: expected key.path=value", hint="skillgit config NAME shows the keys")
    try:
        value = yaml.safe_load(raw)
    except yaml.YAMLError:
        value = raw
    return _placed(data, path, value)


def _placed(data: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    head, *rest = path
    if not rest:
        return {**data, head: value}
    inner = data.get(head)
    if isinstance(inner, str):  # the shorthand of a model or of a task file
        inner = {"all" if head == "tasks" else "model": inner}
    return {**data, head: _placed(inner if isinstance(inner, dict) else {}, rest, value)}


def _leaves(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        if isinstance(value, dict) and value and key not in ("options", "extra"):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _dotted(data: Mapping[str, Any]) -> Iterator[str]:
    return (key for key, _ in _leaves({str(k): v for k, v in data.items()}))


def _explain(error: ValidationError, where: str) -> str:
    first = error.errors()[0]
    location = [str(part) for part in first["loc"] if not str(part).startswith(("function-", "lax-"))]
    key = ".".join(location)
    if first["type"] == "extra_forbidden":
        known = _known_keys(location[:-1])
        near = difflib.get_close_matches(location[-1], known, n=1)
        tail = f"did you mean '{near[0]}'?" if near else f"known here: {', '.join(known)}"
        return f"{where}: unknown setting '{key}'; {tail}"
    if first["type"] == "missing":
        return f"{where}: '{key}' is not set"
    message = first["msg"].removeprefix("Value error, ")
    given = first.get("input")
    shown = f" (got {given!r})" if isinstance(given, (str, int, float, bool)) else ""
    return f"{where}: {key or 'settings'}: {message}{shown}"


def _known_keys(path: Sequence[str]) -> list[str]:
    model: type[BaseModel] = Settings
    for part in path:
        field = model.model_fields.get(part)
        if field is None or not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)):
            return []
        model = field.annotation
    return list(model.model_fields)


def check_name(name: str) -> str:
    """The name if it is a valid skill name (1-64 of a-z, 0-9, single inner hyphens), else ConfigError."""
    if len(name) > 64 or not NAME_PATTERN.fullmatch(name):
        raise ConfigError(
            f"'{name}' is not a skill name: 1 to 64 of a-z, 0-9 and single hyphens inside, e.g. 'commit-type'"
        )
    return name


def descriptions() -> dict[str, str]:
    """What each dotted key means."""
    return dict(_described(Settings))


def _described(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            yield from _described(section, f"{prefix}{name}.")
        yield f"{prefix}{name}", field.description or ""
