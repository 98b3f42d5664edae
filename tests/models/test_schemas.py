from __future__ import annotations

from typing import Any

import pytest

from skillgit.models.schemas import is_strict

CLOSED: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]} | {
    "additionalProperties": False
}
OPEN = CLOSED | {"additionalProperties": True}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        ({"type": "string"}, True),
        (CLOSED, True),
        (OPEN, False),
        (CLOSED | {"required": []}, False),
        ({"type": "array", "items": CLOSED}, True),
        ({"type": "array", "items": OPEN}, False),
        ({"anyOf": [CLOSED, {"type": "null"}]}, True),
        ({"anyOf": [{"type": "null"}, OPEN]}, False),
        ({"$ref": "#/$defs/a", "$defs": {"a": OPEN}}, False),
        (CLOSED | {"properties": {"a": OPEN}}, False),
        ({"type": "object", "properties": {}, "additionalProperties": False}, True),
    ],
)
def test_a_schema_is_strict_when_every_object_in_it_is_closed_and_whole(schema: dict[str, Any], strict: bool) -> None:
    assert is_strict(schema) is strict
