"""The env.yaml of a new skill: every key with its default and meaning, made from the settings so that it cannot fall behind."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel

from skillgit.config import JudgeSettings, ModelSettings, ModelsSettings, Settings, TaskFiles
from skillgit.env_file import HOOKS
from skillgit.judges import JUDGES

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

COLUMN, WIDTH = 46, 120
HEAD = """\
# How the skill '{name}' is trained. Every key is here; one behind a # has its default value.
# What is in force, and where it comes from: skillgit config {name} --explain
# An env.py beside this file may define {hooks}.
"""
TARGET, OPTIMIZER = "openai:gpt-5.4-mini", "anthropic:claude-opus-4-8"


def env_yaml(name: str) -> str:
    """The text of env.yaml for a skill that is made from scratch."""
    parts = [*_models(), "", *_judge(), "", *_section(Settings, "# ", skip=("models", "judge"))]
    hooks = ", ".join(f"{hook}({', '.join(given)})" for hook, given in HOOKS.items())
    return "\n".join([HEAD.format(name=name, hooks=hooks), *parts]) + "\n"


def _models() -> Iterator[str]:
    yield "models:"
    yield _line("  target:", ModelsSettings.model_fields["target"])
    yield _line(f"    model: {TARGET}", ModelSettings.model_fields["model"])
    yield from _section(ModelSettings, "    # ", skip=("model",))
    yield _line("  optimizer:", ModelsSettings.model_fields["optimizer"])
    yield f"    model: {OPTIMIZER}"
    yield "    # and every other key of target"
    yield _line("  # judge: null", ModelsSettings.model_fields["judge"])


def _judge() -> Iterator[str]:
    yield "judge:"
    yield _line("  kind: exact", JudgeSettings.model_fields["kind"])
    for kind, judge in JUDGES.items():
        for name, field in judge.model_fields.items():
            yield _line(f"  # {name}: {_default(field)}", field, f"{kind}: ")


def _section(model: type[BaseModel], indent: str, *, skip: tuple[str, ...] = ()) -> Iterator[str]:
    for name, field in model.model_fields.items():
        section = field.annotation
        if name in skip:
            continue
        if isinstance(section, type) and issubclass(section, BaseModel) and section is not TaskFiles:
            yield f"{indent}{name}:"
            yield from _section(section, f"{indent}  ")
        else:
            yield _line(f"{indent}{name}: {_default(field)}", field)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "NAME"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, TaskFiles):
        return str(value.all)
    if isinstance(value, tuple) and not value:
        return "[]"
    if isinstance(value, tuple):
        return ":".join(f"{part:g}" for part in value)
    return str(yaml.safe_dump(value, default_flow_style=True, width=1000).splitlines()[0])


def _line(key: str, field: FieldInfo, about: str = "") -> str:
    """A key with its meaning beside it, in as many lines as that takes."""
    meaning = f"{about}{field.description}"
    allowed = [str(value) for value in get_args(field.annotation)] if get_origin(field.annotation) is Literal else []
    if any(value not in meaning for value in allowed):
        meaning += f": {', '.join(allowed)}"
    first, *rest = textwrap.wrap(meaning, WIDTH - COLUMN)
    gutter = ("#" if key.startswith("#") else "").ljust(COLUMN)
    return "\n".join([f"{key.ljust(COLUMN)}# {first}", *(f"{gutter}# {line}" for line in rest)])
