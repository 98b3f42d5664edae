"""Backends by provider name: one row each, whether built in or a plugin's (entry points ``skillgit.models``)."""

from __future__ import annotations

import difflib
import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from skillgit.config import ModelSettings
from skillgit.errors import ConfigError
from skillgit.models.base import Model

Role = Literal["target", "optimizer"]
BOTH: tuple[Role, ...] = ("target", "optimizer")


@dataclass(frozen=True, slots=True)
class Backend:
    """A row of the table. ``factory`` is ``module:class``, called with (settings, name)."""

    provider: str
    factory: str
    roles: tuple[Role, ...]
    needs: str
    example: str
    missing: Callable[[], str] = lambda: ""
    """What is missing here and how to mend it; "" when the backend is ready."""


def _key(variable: str) -> Callable[[], str]:
    return lambda: "" if os.environ.get(variable) else f"set {variable}"


def _local_model() -> str:
    from importlib.util import find_spec

    return "" if find_spec("xllamacpp") else "pip install 'skillgit[local]'"


BACKENDS = (
    Backend(
        "local",
        "skillgit.models.local:LocalModel",
        BOTH,
        "the extra skillgit[local] and a model file",
        "local:qwen2.5-coder-0.5b",
        _local_model,
    ),
    Backend("builtin", "skillgit.models.induce:Induce", ("optimizer",), "nothing", "builtin:induce"),
    Backend(
        "openai",
        "skillgit.models.openai:OpenAIModel",
        BOTH,
        "OPENAI_API_KEY",
        "openai:gpt-5.5",
        _key("OPENAI_API_KEY"),
    ),
    Backend(
        "openai-compatible",
        "skillgit.models.openai:CompatibleModel",
        BOTH,
        "base_url, and a key where the server wants one",
        "openai-compatible:NAME",
    ),
    Backend(
        "anthropic",
        "skillgit.models.anthropic:AnthropicModel",
        BOTH,
        "ANTHROPIC_API_KEY",
        "anthropic:claude-opus-4-8",
        _key("ANTHROPIC_API_KEY"),
    ),
)


def backends() -> dict[str, Backend]:
    """Every backend by provider name, plugins included; a plugin's entry point loads a Backend."""
    from importlib.metadata import entry_points

    plugins = {entry.name: entry.load() for entry in entry_points(group="skillgit.models")}
    return {**plugins, **{backend.provider: backend for backend in BACKENDS}}


def create(settings: ModelSettings, role: Role) -> Model:
    """The model of a ``provider:model`` spec; costs no network and no heavy import yet.

    Raises ConfigError for an unknown provider or a role the backend cannot play.
    """
    provider, _, name = settings.model.partition(":")
    known = backends()
    backend = known.get(provider)
    if backend is None:
        near = difflib.get_close_matches(provider, known, n=1)
        tail = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(known)}"
        raise ConfigError(f"models.{role}: there is no provider '{provider}'; {tail}", hint="skillgit models")
    if role not in backend.roles:
        raise ConfigError(f"models.{role}: {settings.model} can only be the {' or '.join(backend.roles)}")
    module, _, attribute = backend.factory.partition(":")
    model: Model = getattr(importlib.import_module(module), attribute)(settings, name)
    return model
