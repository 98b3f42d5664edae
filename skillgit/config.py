"""Every setting of a skill's ``env.yaml``, validated once at the edge.

The models below are the documentation of the keys: each field has a description, a default and a range, and
``skillgit config NAME --explain`` prints them. Unknown keys are refused with the nearest known one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from skillgit import overrides as overriding
from skillgit import setting_errors, useryaml
from skillgit.errors import ConfigError

NAME_PATTERN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class Section(BaseModel):
    """Settings that belong together. Types are strict: ``"4"`` and ``true`` are no whole numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, protected_namespaces=())


def _list(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _ratio(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"\d+(\.\d+)?(:\d+(\.\d+)?){2}", value):
        return tuple(float(part) for part in value.split(":"))
    if not isinstance(value, (list, tuple)) or len(value) != 3:
        raise ValueError("must be three numbers such as 2:1:7")
    return tuple(value)


Ratio = Annotated[tuple[float, float, float], BeforeValidator(_ratio)]
Pair = Annotated[tuple[float, float], BeforeValidator(_list)]


def _variable(value: str) -> str:
    if value and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        raise ValueError("must be the name of an environment variable; the key itself is never written to a file")
    return value


def _url(value: str) -> str:
    if value and (not re.match(r"https?://", value) or "@" in value.split("/")[2]):
        raise ValueError("must be an http(s) address without a user name or password in it")
    return value


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
    extract: Literal["whole", "answer_tag", "answer_tag_or_line", "last_line", "regex"] = Field(
        "whole", description="how the answer is taken out of the reply"
    )
    pattern: str = Field("", description="for extract: regex; group 1 (or the match) of the last match")

    @model_validator(mode="after")
    def _pattern(self) -> AnswerSettings:
        if (self.extract == "regex") != bool(self.pattern):
            raise ValueError("extract: regex and a pattern go together")
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise ValueError(f"the pattern {self.pattern!r} does not compile: {error}") from None
        return self


class JudgeSettings(BaseModel):
    """``kind`` picks the judge; the other keys belong to it and are checked by it."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)
    kind: str = Field(
        "exact", description="exact, normalized, contains, regex, choice, number, date, json, python, command, rubric"
    )

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class ModelSettings(Section):
    model: str = Field(
        description="provider:model, e.g. openai:gpt-5.5, anthropic:claude-opus-4-8, local:qwen2.5-coder-0.5b"
    )
    base_url: Annotated[str, AfterValidator(_url)] = Field(
        "", description="API address, for openai-compatible and azure, another region or a proxy"
    )
    api_key_env: Annotated[str, AfterValidator(_variable)] = Field(
        "", description="name of the environment variable that holds the key"
    )
    api: Literal["auto", "responses", "chat"] = Field(
        "auto",
        description="for openai and openai-compatible: Responses or Chat Completions; auto takes Responses for openai and Chat Completions for openai-compatible",
    )
    temperature: float | None = Field(
        None, ge=0, le=2, description="sampling temperature; unset leaves the provider's default"
    )
    max_tokens: int = Field(4096, ge=1, description="output limit of one reply, in tokens")
    reasoning_effort: str = Field(
        "", description="for reasoning models: low, medium, high, ...; none turns thinking off"
    )
    timeout: float = Field(120, gt=0, description="seconds one call may take")
    retries: int = Field(5, ge=0, description="further attempts after 429, 5xx or a lost connection")
    concurrency: int = Field(8, ge=1, description="calls in flight at once; falls by itself on 429")
    seed: int | None = Field(None, description="sampling seed, for models that take one")
    extra: dict[str, Any] = Field(
        default_factory=dict, description="further request parameters, passed through as they are"
    )
    usd_per_million: Pair | None = Field(
        None, description="[input, output] price, for models the price list does not know"
    )
    record: str = Field(
        "", description="file that every call and its answer are appended to; replay:FILE answers from it"
    )

    @model_validator(mode="after")
    def _spec(self) -> ModelSettings:
        provider, colon, _ = self.model.partition(":")
        if not colon or not provider:
            raise ValueError(f"'{self.model}' is not provider:model, e.g. openai:gpt-5.5")
        return self


AnyModel = Annotated[ModelSettings, BeforeValidator(partial(overriding.spelled_out, "models.target"))]


class ModelsSettings(Section):
    target: AnyModel = Field(description="the frozen model that does the tasks")
    optimizer: AnyModel = Field(description="the model that proposes edits")
    judge: AnyModel | None = Field(None, description="the model that judges, for judge.kind: rubric")


class TrainSettings(Section):
    epochs: int = Field(4, ge=1, description="passes over the train split")
    batch_size: int = Field(40, ge=1, description="train tasks rolled out before one update")
    accumulation: int = Field(1, ge=1, description="batches that are reflected on before one update")
    seed: int = Field(42, description="shuffles tasks, minibatches and samples")
    max_steps: int | None = Field(None, ge=1, description="stop after this many steps in all")


class ReflectSettings(Section):
    minibatch_size: int = Field(8, ge=1, description="trajectories shown to the optimizer in one call")
    failure_only: bool = Field(False, description="learn from failures only, save the calls for successes")
    show_answers: bool = Field(True, description="show the optimizer the reference answers of train tasks")
    concurrency: int = Field(16, ge=1, description="optimizer calls at once")
    merge_batch_size: int = Field(8, ge=2, description="patches merged in one optimizer call")
    skill_aware: bool = Field(
        False,
        description="tell skill defects (edits) from lapses, where a good rule was not followed (reminders in the appendix)",
    )


class AppendixSettings(Section):
    source: Literal["failure_only", "both"] = Field(
        "failure_only", description="reflect.skill_aware: reminders from failures only, or from successes too"
    )
    consolidate_above: int = Field(
        20, ge=1, description="at an epoch's end, more reminders than this are compacted by one optimizer call"
    )
    gate: Literal["gated", "forced"] = Field(
        "gated",
        description="gated: reminders pass the gate with the step's edits; forced: written at the epoch's end, past the gate",
    )


class EditSettings(Section):
    mode: Literal["patch", "rewrite_from_suggestions", "full_rewrite_minibatch"] = Field(
        "patch",
        description="patch: anchored edits; rewrite_from_suggestions: one call writes the skill anew from the selected suggestions; full_rewrite_minibatch: every minibatch proposes a whole skill, and they are merged",
    )
    max_tokens: int | None = Field(
        None,
        ge=50,
        description="most tokens of the document (3 bytes a token): edits that take it above are refused, and a tie goes to the shorter text",
    )
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
        1,
        ge=1,
        description="rollouts of each selection task in an evaluation; its score is their mean, and paired finds smaller gains",
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
    contamination: Literal["off", "warn", "reject"] = Field(
        "warn",
        description="text copied from train tasks or their answers: off, warn (told in the record) or reject (the edit is refused)",
    )
    contamination_words: int = Field(8, ge=3, description="a copied span has at least this many words")


class SlowUpdateSettings(Section):
    enabled: bool = Field(True, description="write epoch guidance into the protected slow-update region")
    acceptance: Literal["gated", "forced"] = Field(
        "gated", description="gated: the same gate as a step; forced: always taken"
    )
    first_epoch: bool = Field(True, description="also after epoch 1, compared with the initial skill")
    samples: int = Field(20, ge=1, description="train tasks in the longitudinal comparison")
    pairs: Literal["mixed", "changed", "unchanged"] = Field(
        "mixed",
        description="which compared tasks are shown: all, those whose score changed (topped up from further train tasks), or the others",
    )


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
    tasks: Annotated[TaskFiles, BeforeValidator(partial(overriding.spelled_out, "tasks"))] = Field(
        default_factory=lambda: TaskFiles(all="tasks.jsonl"),
        description="task file (.jsonl, .json, .csv, .yaml), or {train, selection, test}; ignored when env.py has tasks()",
    )
    split: SplitSettings = SplitSettings()
    prompt: PromptSettings = PromptSettings()
    answer: AnswerSettings = AnswerSettings()
    judge: Annotated[JudgeSettings, BeforeValidator(partial(overriding.spelled_out, "judge"))] = JudgeSettings()
    models: ModelsSettings
    train: TrainSettings = TrainSettings()
    reflect: ReflectSettings = ReflectSettings()
    edits: EditSettings = EditSettings()
    appendix: AppendixSettings = AppendixSettings()
    gate: GateSettings = GateSettings()
    slow_update: SlowUpdateSettings = SlowUpdateSettings()
    meta_skill: MetaSkillSettings = MetaSkillSettings()
    eval: EvalSettings = EvalSettings()
    limits: LimitSettings = LimitSettings()
    git: GitSettings = GitSettings()
    options: dict[str, Any] = Field(default_factory=dict, description="free settings for env.py")

    @model_validator(mode="after")
    def _together(self) -> Settings:
        aware, rewrites = self.reflect.skill_aware, self.edits.mode != "patch"
        builtin = self.models.optimizer.model.startswith("builtin:")
        if aware and rewrites:
            raise ValueError(
                f"reflect.skill_aware and edits.mode: {self.edits.mode} do not go together; use mode: patch"
            )
        if builtin and (aware or rewrites):
            what = "reflect.skill_aware" if aware else f"edits.mode: {self.edits.mode}"
            raise ValueError(f"{what} needs a language model as the optimizer, not {self.models.optimizer.model}")
        if aware and self.appendix.gate == "forced" and self.slow_update.acceptance != "forced":
            raise ValueError(
                "appendix.gate: forced needs slow_update.acceptance: forced; one epoch's end is one decision"
            )
        return self


Origin = Literal["default", "env.yaml", "command line"]


@dataclass(frozen=True)
class Config:
    """Settings with the origin of each leaf."""

    settings: Settings
    origins: Mapping[str, Origin]

    def rows(self) -> Iterator[tuple[str, Any, Origin]]:
        """(dotted key, value, origin) for every leaf, in the order of the models."""
        for key, value in overriding.leaves(self.settings.model_dump(mode="json")):
            yield key, value, self.origins.get(key, "default")


def load(path: Path, overrides: Sequence[str] = ()) -> Config:
    """Read ``env.yaml`` and lay ``key.path=value`` overrides over it.

    Raises ConfigError with file, key and the allowed values.
    """
    try:
        data = useryaml.parse(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}", hint="skillgit init NAME") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start} is not UTF-8", hint="save the file as UTF-8") from None
    except useryaml.YamlProblem as problem:
        raise ConfigError(f"{path}:{problem.line}: {problem}") from None
    return parse({} if data is None else data, overrides, where=str(path))


def parse(data: object, overrides: Sequence[str] = (), *, where: str = "env.yaml") -> Config:
    """Validate settings that are already loaded; ``where`` names them in errors."""
    if not isinstance(data, dict):
        raise ConfigError(f"{where} must be a mapping of settings, not {type(data).__name__}")
    laid = [overriding.read(text, _is_text) for text in overrides]
    merged: dict[str, Any] = data
    for override in laid:
        merged = overriding.lay(merged, override)
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        blamed = [o for o in laid if o.touches(setting_errors.place(error))]
        place = f"-o {blamed[-1].key}" if blamed else where
        raise ConfigError(setting_errors.describe(error, Settings, place)) from None
    given = {key for override in laid for key, _ in overriding.leaves(overriding.lay({}, override))}
    keys = (str(key) for key, _ in overriding.leaves(merged))
    return Config(settings, {key: "command line" if key in given else "env.yaml" for key in keys})


def _is_text(path: Sequence[str]) -> bool:
    """Whether a setting is a text: its value on the command line is taken as it stands."""
    section = setting_errors.section_at(Settings, path[:-1])
    sections = [section] if section else []
    if section is JudgeSettings:
        from skillgit.judges import JUDGES

        sections += JUDGES.values()
    found = [section.model_fields[path[-1]] for section in sections if path[-1] in section.model_fields]
    return bool(found) and found[0].annotation is str


def check_name(name: str) -> str:
    """The name if it is a valid skill name (1-64 of a-z, 0-9, single inner hyphens), else ConfigError."""
    if len(name) > 64 or not NAME_PATTERN.fullmatch(name):
        raise ConfigError(
            f"'{name}' is not a skill name: 1 to 64 of a-z, 0-9 and single hyphens inside, e.g. 'commit-type'"
        )
    return name


def descriptions() -> dict[str, str]:
    """What each dotted key means, the options of every judge among them."""
    from skillgit.judges import JUDGES

    options = [row for judge in JUDGES.values() for row in _described(judge, "judge.")]
    return dict([*options, *_described(Settings)])


def _described(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            yield from _described(section, f"{prefix}{name}.")
        yield f"{prefix}{name}", field.description or ""
