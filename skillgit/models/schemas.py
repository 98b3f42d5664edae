"""Whether a JSON schema can be asked for strictly. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Whether every object in it is closed and requires all of its properties, as strict structured output wants it."""
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties):
            return False
    return all(is_strict(part) for part in _parts(schema))


def _parts(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    named = [part for key in ("properties", "$defs") for part in schema.get(key, {}).values()]
    listed = [part for key in ("anyOf", "oneOf", "allOf", "prefixItems") for part in schema.get(key, ())]
    items = [schema["items"]] if isinstance(schema.get("items"), Mapping) else []
    return [part for part in (*named, *listed, *items) if isinstance(part, Mapping)]
