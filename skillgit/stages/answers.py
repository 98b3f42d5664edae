"""The shapes of the optimizer's answers, as JSON schemas that strict structured output takes, and how values are read. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgit.document import clean

Schema = Mapping[str, Any]


def _object(**properties: Schema) -> Schema:
    """An object with these properties: strict output wants all of them required, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
EDIT: Mapping[str, Schema] = {
    "op": {"type": "string", "enum": ["append", "insert_after", "replace", "delete"]},
    "target": {"anyOf": [TEXT, {"type": "null"}]},  # a list of types is not taken everywhere
    "content": TEXT,
    "title": TEXT,
    "reasoning": TEXT,
}

PATTERNS = _list(_object(pattern=TEXT, count=WHOLE, task_ids=_list(TEXT)))
REFLECT = _object(
    patterns=PATTERNS,
    reasoning=TEXT,
    edits=_list(_object(**EDIT, task_ids=_list(TEXT))),
)
REMINDERS = _list(_object(text=TEXT, task_ids=_list(TEXT)))
KIND: Schema = {"type": "string", "enum": ["defect", "lapse"]}
AWARE = _object(
    patterns=_list(_object(pattern=TEXT, count=WHOLE, task_ids=_list(TEXT), kind=KIND)),
    reasoning=TEXT,
    edits=_list(_object(**EDIT, task_ids=_list(TEXT))),
    reminders=REMINDERS,
)
SUGGESTION: Mapping[str, Schema] = {"type": TEXT, "title": TEXT, "instruction": TEXT, "reasoning": TEXT}
SUGGEST = _object(patterns=PATTERNS, reasoning=TEXT, suggestions=_list(_object(**SUGGESTION, task_ids=_list(TEXT))))
REWRITE = _object(patterns=PATTERNS, reasoning=TEXT, title=TEXT, skill=TEXT)
MERGE_SUGGESTIONS = _object(reasoning=TEXT, suggestions=_list(_object(**SUGGESTION, sources=_list(WHOLE))))
MERGE_REWRITES = _object(reasoning=TEXT, title=TEXT, skill=TEXT)
REWRITTEN = _object(reasoning=TEXT, title=TEXT, skill=TEXT)
CONSOLIDATE = _object(notes=_list(TEXT))
MERGE = _object(reasoning=TEXT, edits=_list(_object(**EDIT, sources=_list(WHOLE))))
SELECT = _object(reasoning=TEXT, ranking=_list(WHOLE))
BUDGET = _object(reasoning=TEXT, budget=WHOLE)
SLOW = _object(reflection=TEXT, guidance=TEXT)
META = _object(meta_skill=TEXT)


def text(value: Any, name: str) -> str:
    """A text that can be committed: without markers, white space around it, or what is no text. Null is empty.

    Raises ValueError for anything else.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"'{name}' must be text, not {type(value).__name__}")
    return clean(value).strip()


def rows(value: Any, name: str) -> list[Any]:
    """A list; null is empty. Raises ValueError for anything else."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"'{name}' must be a list, not {type(value).__name__}")
    return value


def indices(value: Any, count: int) -> list[int]:
    """The indices from 0 to ``count`` - 1 in a list, each once; whatever else is in it is passed over."""
    found = value if isinstance(value, list) else []
    return list(dict.fromkeys(i for i in found if isinstance(i, int) and not isinstance(i, bool) and 0 <= i < count))
