"""The optimizer's prompts: Markdown templates, one a stage, in skillgit/prompts/ or in the prompts/ folder of a skill.

``{{name}}`` stands for text that the stage fills in; nothing else is special, and what is filled in is not looked at again.
A line ``<!-- user -->`` parts the system message (what the optimizer is) from the user message (the data). ``{{builtin}}`` in a
skill's own prompt stands for the one that comes with skillgit, which it adds to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from importlib import resources

from skillgit.errors import ConfigError
from skillgit.models.base import Message

PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
SPLIT = "<!-- user -->"
BUILTIN = "{{builtin}}"


@dataclass(frozen=True, slots=True)
class Places:
    """What a stage fills in: a prompt must use all of ``needed``, and may use ``optional``."""

    needed: frozenset[str]
    optional: frozenset[str]


def _places(needed: str, optional: str) -> Places:
    return Places(frozenset(needed.split()), frozenset(optional.split()))


STAGES: Mapping[str, Places] = {
    "reflect_failure": _places("skill trajectories", "budget buffer meta lapses"),
    "reflect_success": _places("skill trajectories", "budget buffer meta lapses"),
    "suggest_failure": _places("skill trajectories", "budget buffer meta"),
    "suggest_success": _places("skill trajectories", "budget buffer meta"),
    "rewrite_failure": _places("skill trajectories", "buffer meta room"),
    "rewrite_success": _places("skill trajectories", "buffer meta room"),
    "merge": _places("edits", "skill meta"),
    "merge_final": _places("edits", "skill meta"),
    "merge_suggestions": _places("edits", "skill meta"),
    "merge_rewrites": _places("edits", "skill meta"),
    "rewrite": _places("skill edits", "meta room"),
    "consolidate": _places("notes", "skill"),
    "budget": _places("edits maximum", "skill meta buffer score"),
    "select": _places("edits", "skill meta buffer budget"),
    "slow": _places("after pairs", "before guidance meta room"),
    "meta": _places("after pairs", "before meta"),
}


class Prompts:
    """The prompt of every stage, read and checked at once, so that a wrong one stops a run before it costs anything.

    ``own(stage)`` is the environment's prompt, or None; ``needed`` names places that a run cannot do without. Raises
    ConfigError for a prompt that is empty, uses unknown names, or lacks a needed one.
    """

    def __init__(self, own: Callable[[str], str | None], needed: Collection[str] = ()) -> None:
        self._templates = {stage: _checked(stage, own(stage), frozenset(needed)) for stage in STAGES}

    def render(self, stage: str, values: Mapping[str, str]) -> tuple[Message, ...]:
        """The messages of a stage; one without a system part is the user's alone."""
        system, user = (_fill(part, values) for part in self._templates[stage])
        return (Message("system", system), Message("user", user)) if system else (Message("user", user),)


def builtin(stage: str) -> str:
    """The prompt that comes with skillgit."""
    return resources.files("skillgit").joinpath("prompts", f"{stage}.md").read_text(encoding="utf-8")


def _checked(stage: str, own: str | None, needed: frozenset[str]) -> tuple[str, str]:
    own = BUILTIN if own is None else own
    system, marker, user = own.replace(BUILTIN, builtin(stage)).partition(SPLIT)
    if not marker:
        system, user = "", system
    where = f"prompts/{stage}.md"
    if not user.strip():
        raise ConfigError(
            f"{where} is empty; the optimizer must be asked something", hint=f"write it, or delete {where}"
        )
    places, used = STAGES[stage], set(PLACE.findall(system + user))
    known = ", ".join(f"{{{{{name}}}}}" for name in sorted(places.needed | places.optional))
    for name in sorted(used - places.needed - places.optional):
        raise ConfigError(f"{where} uses {{{{{name}}}}}; known there: {known}")
    for name in sorted((places.needed | (needed & places.optional)) - used):
        raise ConfigError(f"{where} lacks {{{{{name}}}}}; the optimizer would not see it")
    return system, user


def _fill(template: str, values: Mapping[str, str]) -> str:
    return PLACE.sub(lambda match: values[match[1]], template).strip()
