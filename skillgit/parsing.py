"""The JSON object in a model's answer. Pure.

The text is read once: from a ``{`` on, what is a JSON object is taken, and what is none is passed over up to where it went
wrong. Strings are read as JSON reads them, so fences, braces and examples inside one end nothing. Objects that have the
wanted keys count; several different ones are refused, for nothing is guessed. Only when there is none, a damaged object
is repaired, if it is whole and has the keys.
"""

from __future__ import annotations

import json
import re
from typing import Any

THINKING = re.compile(r"\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
"""What some open models say before they answer; drafts in it are no answer."""

START = re.compile(r'\{\s*["}]')
"""How an object begins; other braces are prose."""

MOST_STARTS = 1000
"""More broken objects than this are no answer; it keeps the time linear, as each error counts the lines before it."""

MOST_REPAIRED = 20_000
"""Characters: the repair of a text takes up to quadratic time."""

END = "END"


def parse_object(text: str, required: tuple[str, ...]) -> dict[str, Any]:
    """The object with the required keys. Raises ValueError, which says to the model what was wrong."""
    text = THINKING.sub("", text, count=1) if THINKING.match(text) else text
    objects, problem = _objects(text)
    found = _having(objects, required)
    if not found and (problem or not objects):
        found = _having(_repaired(text, required), required)
    if any(other != found[0] for other in found):
        raise ValueError(f"the answer holds {len(found)} different JSON objects; give exactly one")
    if found:
        return found[0]
    if problem:
        raise ValueError(f"the JSON is broken: {problem}")
    if objects:
        missing = [key for key in required if key not in objects[0]]
        raise ValueError(f"the JSON object lacks {', '.join(missing)}")
    raise ValueError("the answer holds no JSON object")


def _objects(text: str) -> tuple[list[dict[str, Any]], str]:
    """The outermost JSON objects, and what broke the first that is none ("" when nothing did)."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_without_repeats)
    found: list[dict[str, Any]] = []
    broken: list[str] = []
    start = START.search(text)
    while start:
        at = start.start()
        try:
            data, end = decoder.raw_decode(text, at)
            found.append(data)
        except json.JSONDecodeError as error:
            end = max(at + 1, error.pos)
            broken.append(f"{error.msg} after {text[max(at, end - 30) : end]!r}")
            if len(broken) > MOST_STARTS:
                raise ValueError("the answer is full of broken JSON objects; give exactly one") from None
        except RecursionError:
            raise ValueError("the JSON is nested too deeply") from None
        start = START.search(text, end)
    return found, broken[0] if broken else ""


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("a JSON object has the same key twice")
    return data


def _having(objects: list[dict[str, Any]], required: tuple[str, ...]) -> list[dict[str, Any]]:
    return [data for data in objects if all(key in data for key in required)]


def _repaired(text: str, required: tuple[str, ...]) -> list[dict[str, Any]]:
    """What a damaged object must have meant, if it is there to its end.

    A text that breaks off can be repaired too, into edits nobody wrote. So the object is put in a list with something
    after it: if that is not found there, the object did not end.
    """
    keys = "|".join(re.escape(key) for key in required)
    start = re.search(rf"\{{\s*[\"'“]?(?:{keys})\b", text)
    candidate = text[start.start() : text.rfind("}") + 1] if start else ""
    if not candidate or len(candidate) > MOST_REPAIRED:
        return []
    import json_repair

    try:
        whole = json_repair.loads(f'[{candidate}, "{END}"]')
    except (ValueError, RecursionError):
        return []
    if not isinstance(whole, list) or whole[-1:] != [END]:
        return []
    return [part for part in whole if isinstance(part, dict)]
