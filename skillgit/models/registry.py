"""Backends by provider name: one row each, built in or from a plugin.

A plugin names a :class:`Backend` of its own under the entry points ``skillgit.models``, with the provider as the entry's name.
"""

from __future__ import annotations

import difflib
import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from skillgit.config import ModelSettings
from skillgit.errors import ConfigError
from skillgit.models.base import Model
from skillgit.models.presets import PRESETS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Role = Literal["target", "optimizer", "judge"]
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


def _azure() -> str:
    from skillgit.models.azure import missing

    return missing()


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
    Backend(
        "azure",
        "skillgit.models.azure:AzureModel",
        BOTH,
        "AZURE_OPENAI_ENDPOINT or base_url; AZURE_OPENAI_API_KEY, or the extra skillgit[azure] for Entra ID",
        "azure:DEPLOYMENT",
        _azure,
    ),
    Backend("handoff", "skillgit.models.handoff:Handoff", BOTH, "somebody who answers files", "handoff:FOLDER"),
    Backend("replay", "skillgit.models.recording:Replay", BOTH, "a file that record: FILE made", "replay:FILE"),
    *(Backend(p.provider, "skillgit.models.openai:PresetModel", BOTH, p.needs, p.example, p.missing) for p in PRESETS),
)


def backends() -> dict[str, Backend]:
    """Every backend by provider name, plugins included; one that cannot be loaded says so in ``missing``."""
    found = {}
    for entry in _plugins():
        try:
            found[entry.name] = _loaded(entry)
        except ConfigError as error:
            found[entry.name] = Backend(
                entry.name, "", BOTH, entry.value, f"{entry.name}:NAME", partial(str, error.message)
            )
    return found | {backend.provider: backend for backend in BACKENDS}


def create(settings: ModelSettings, role: Role) -> Model:
    """The model of a ``provider:model`` spec; costs no network and no heavy import yet.

    Raises ConfigError for an unknown provider or a role the backend cannot play.
    """
    provider, _, name = settings.model.partition(":")
    backend = _find(provider, role)
    if (role if role != "judge" else "target") not in backend.roles:
        raise ConfigError(f"models.{role}: {settings.model} can only be the {' or '.join(backend.roles)}")
    module, _, attribute = backend.factory.partition(":")
    model: Model = getattr(importlib.import_module(module), attribute)(settings, name)
    return recorded(model, settings.record) if settings.record else model


def recorded(model: Model, file: str) -> Model:
    """The model with its calls kept in a file."""
    from skillgit.models.recording import Recording

    return Recording(model, file)


def _find(provider: str, role: Role) -> Backend:
    for backend in BACKENDS:
        if backend.provider == provider:
            return backend
    plugins = _plugins()
    for entry in plugins:
        if entry.name == provider:
            return _loaded(entry)
    known = [backend.provider for backend in BACKENDS] + [entry.name for entry in plugins]
    near = difflib.get_close_matches(provider, known, n=1)
    tail = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(known)}"
    raise ConfigError(f"models.{role}: there is no provider '{provider}'; {tail}", hint="skillgit models")


def _plugins() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return list(entry_points(group="skillgit.models"))


def _loaded(entry: EntryPoint) -> Backend:
    try:
        backend = entry.load()
    except Exception as error:  # noqa: BLE001 - somebody else's code, which may fail in any way
        raise ConfigError(
            f"the plugin {entry.value} for '{entry.name}' cannot be loaded: {type(error).__name__}: {error}"
        ) from None
    if not isinstance(backend, Backend):
        raise ConfigError(f"the plugin {entry.value} for '{entry.name}' is no skillgit.models.registry.Backend")
    return backend
