"""Prompt templates: ``{field}`` is replaced by text, and nothing else happens. Pure.

Only ``{name}`` with a plain identifier is a field; every other brace (JSON, code) stays as it is, and ``{{name}}`` writes
``{name}`` literally. Values are inserted as they are and never looked at again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from skillgit.errors import ConfigError

FIELD = re.compile(r"\{\{(?P<literal>[A-Za-z_]\w*)\}\}|\{(?P<field>[A-Za-z_]\w*)\}")


def fields(template: str) -> list[str]:
    """The fields a template uses, in order."""
    return [match["field"] for match in FIELD.finditer(template) if match["field"]]


def check_template(template: str, known: Iterable[str], where: str) -> None:
    """Raise ConfigError for a field that no task has."""
    names = sorted(name for name in known if name.isidentifier())
    for name in fields(template):
        if name not in names:
            raise ConfigError(
                f"{where} uses {{{name}}}; known fields: {', '.join(names)}",
                hint=f"write {{{{{name}}}}} for literal braces",
            )


def fill(template: str, values: Mapping[str, Any]) -> str:
    """The template with its fields replaced; a field that this task lacks becomes empty.

    Text is inserted as it is, any other value as JSON.
    """

    def value(match: re.Match[str]) -> str:
        if match["literal"]:
            return f"{{{match['literal']}}}"
        found = values.get(match["field"])
        if found is None or isinstance(found, str):
            return found or ""
        return json.dumps(found, ensure_ascii=False, default=str)

    return FIELD.sub(value, template)
