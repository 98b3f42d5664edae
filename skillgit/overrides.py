"""``-o key.path=value`` on the command line, laid over the settings of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillgit.errors import ConfigError
from skillgit.useryaml import YamlProblem, parse

SHORTHANDS = {
    **dict.fromkeys(("models.target", "models.optimizer", "models.judge"), "model"),
    "tasks": "all",
    "judge": "kind",
}
"""Where a single text stands for a mapping with this one key."""


@dataclass(frozen=True, slots=True)
class Override:
    """One ``-o``: where the value goes, and the value."""

    path: tuple[str, ...]
    value: Any

    @property
    def key(self) -> str:
        return ".".join(self.path)

    def touches(self, key: str) -> bool:
        """Whether the value stands at, in or around a dotted key."""
        return f"{key}.".startswith(f"{self.key}.") or f"{self.key}.".startswith(f"{key}.")


def read(text: str, is_text: Callable[[Sequence[str]], bool]) -> Override:
    """An override from ``key.path=value``.

    A setting that ``is_text`` gets the value as it stands. Any other value is read as YAML, where a mapping or list needs its
    brackets, and is text when it is no YAML. Raises ConfigError.
    """
    key, equals, raw = text.partition("=")
    path = tuple(key.strip().split("."))
    if not equals or not all(path):
        raise ConfigError(f"-o {text}: expected key.path=value", hint="skillgit config NAME shows the keys")
    return Override(path, raw if is_text(path) else _value(raw))


def _value(raw: str) -> Any:
    try:
        value = parse(raw)
    except YamlProblem:
        return raw
    bracketed = raw.lstrip().startswith(("[", "{"))
    return value if bracketed or not isinstance(value, (dict, list)) else raw


def lay(data: Mapping[str, Any], override: Override) -> dict[str, Any]:
    """The settings with the value in its place; what stands beside it stays."""
    return _placed(data, override.path, override.value, "")


def _placed(data: Mapping[str, Any], path: Sequence[str], value: Any, where: str) -> dict[str, Any]:
    head, *rest = path
    if not rest:
        return {**data, head: value}
    here = f"{where}.{head}" if where else head
    inner = spelled_out(here, data.get(head))
    return {**data, head: _placed(inner if isinstance(inner, dict) else {}, rest, value, here)}


def spelled_out(key: str, value: Any) -> Any:
    """The mapping that a shorthand stands for; any other value as it is."""
    return {SHORTHANDS[key]: value} if key in SHORTHANDS and isinstance(value, str) else value


def leaves(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """(dotted key, value) of every setting; the free mappings ``options`` and ``extra`` are one value each."""
    for name, value in data.items():
        key = f"{prefix}{name}"
        inner = spelled_out(key, value)
        if isinstance(inner, dict) and inner and name not in ("options", "extra"):
            yield from leaves(inner, f"{key}.")
        else:
            yield key, value
