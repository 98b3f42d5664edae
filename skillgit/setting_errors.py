"""What is wrong with a setting, in one line of our own words."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

PLAIN = {
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping of settings",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "finite_number": "must be a finite number",
    "invalid_key": "is no name of a setting",
}
WITH_LIMIT = {
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be above {gt:g}",
    "less_than_equal": "must be at most {le:g}",
    "less_than": "must be below {lt:g}",
    "too_short": "must have at least {min_length} values",
    "too_long": "must have at most {max_length} values",
}

SECRET = ("api_key_env", "base_url")
"""Settings that are never shown when they are wrong: somebody may have put a key there."""


def place(error: ValidationError) -> str:
    """The dotted key of the first mistake, "" when it concerns the whole."""
    return ".".join(_location(error.errors()[0]))


def describe(error: ValidationError, model: type[BaseModel], where: str, *, prefix: str = "") -> str:
    """One line: where, the key, what is allowed, what was given."""
    first = error.errors(include_url=False)[0]
    location = _location(first)
    key = prefix + ".".join(location)
    if first["type"] == "extra_forbidden":
        return f"{where}: unknown setting '{key}'; {nearest(location[-1], _known(model, location[:-1]))}"
    if first["type"] == "missing":
        return f"{where}: '{key}' is not set"
    return f"{where}: {key or 'settings'}: {_words(first)}{_given(key, first.get('input'))}"


def nearest(name: str, known: Iterable[str]) -> str:
    """``did you mean 'x'?``, or the list of what is known."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean '{near[0]}'?" if near else f"known here: {', '.join(names)}"


def _given(key: str, value: Any) -> str:
    if key.endswith(SECRET) or not isinstance(value, (str, int, float, list, type(None))):
        return ""
    shown = repr(value)
    return f" (got {shown if len(shown) <= 80 else shown[:80] + '…'})"


def _words(first: Mapping[str, Any]) -> str:
    kind, limits = first["type"], first.get("ctx", {})
    if kind in PLAIN:
        return PLAIN[kind]
    if kind in WITH_LIMIT:
        return WITH_LIMIT[kind].format(**limits)
    return str(first["msg"]).removeprefix("Value error, ")


def _location(first: Mapping[str, Any]) -> list[str]:
    return [str(part) for part in first["loc"] if not str(part).startswith(("function-", "lax-"))]


def _known(model: type[BaseModel], path: Iterable[str]) -> list[str]:
    section = section_at(model, path)
    return list(section.model_fields) if section else []


def section_at(model: type[BaseModel], path: Iterable[str]) -> type[BaseModel] | None:
    """The settings model at a path, None where there is none."""
    from pydantic import BaseModel as Base

    for part in path:
        field = model.model_fields.get(part)
        if field is None or not (isinstance(field.annotation, type) and issubclass(field.annotation, Base)):
            return None
        model = field.annotation
    return model
