"""The JSON object in a model's answer. Pure.

A whole answer that is JSON is taken as it is. Else the text is scanned once for balanced objects, outside of strings; the one
that has the wanted keys is taken, and several such are refused, for nothing is guessed. Only when there is none is a
damaged object repaired, and it must still have the keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def parse_object(text: str, required: tuple[str, ...]) -> dict[str, Any]:
    """The object with the required keys. Raises ValueError that tells the model what was wrong."""
    whole = _loads(text.strip())
    if whole is not None:
        return _checked(whole, required)
    found: list[dict[str, Any]] = [data for data in (_loads(part) for part in _balanced(text)) if _has(data, required)]
    if len(found) > 1 and any(other != found[0] for other in found[1:]):
        raise ValueError(f"the answer holds {len(found)} different JSON objects; give exactly one")
    if found:
        return found[0]
    return _checked(_repaired(text), required)


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _has(data: Any, required: tuple[str, ...]) -> bool:
    return isinstance(data, dict) and all(key in data for key in required)


def _checked(data: Any, required: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise ValueError("the answer holds no JSON object")
    missing = [key for key in required if key not in data]
    if missing:
        raise ValueError(f"the JSON object lacks {', '.join(missing)}")
    return dict(data)


def _balanced(text: str) -> Iterator[str]:
    """Outermost ``{...}`` parts, braces in strings not counted; one pass."""
    depth, start, quoted, escaped = 0, 0, False, False
    for at, char in enumerate(text):
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"' and depth:
            quoted = True
        elif char == "{":
            start = at if depth == 0 else start
            depth += 1
        elif char == "}" and depth:
            depth -= 1
            if depth == 0:
                yield text[start : at + 1]


def _repaired(text: str) -> Any:
    start = text.find("{")
    if start < 0:
        return None
    import json_repair

    return json_repair.loads(text[start:])
