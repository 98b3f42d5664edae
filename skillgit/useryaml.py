"""YAML as people write it in env.yaml, task files and ``-o``: a duplicate key is an error, and what looks like text is text.

The library reads YAML 1.1, in which ``off`` is a boolean, ``2:1:7`` a number in base 60 and ``2024-01-01`` a date. Here only
``true``, ``false``, ``null``, ``~`` and what every version of YAML takes for a decimal number are not text. So a commit id such
as 12e5 and an id such as 007 stay as they are.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - the library's own way to part a loader from its base


_SCALARS = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    "float": (r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)\.[0-9]*)(?:[eE][-+][0-9]+)?", list("-+.0123456789")),
    "merge": (r"<<", ["<"]),
}
for _kind, (_pattern, _first) in _SCALARS.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(rf"(?:{_pattern})\Z"), _first)


TAGS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("map", "seq", "str", *_SCALARS))


class YamlProblem(ValueError):
    """What is wrong with a YAML text, in ``line`` (from 1)."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


def parse(text: str) -> Any:
    """The data of a YAML text. Raises YamlProblem."""
    try:
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return None
            _check(root, set(), set())
            return loader.construct_document(root)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
        raise YamlProblem(mark.line + 1 if mark else 1, f"not valid YAML: {problem}") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, YamlProblem):
            raise
        raise YamlProblem(1, f"not valid YAML: {' '.join(str(error).split())}") from None


def _check(node: yaml.Node, above: set[int], done: set[int]) -> None:
    """Refuse what would otherwise get lost or never end: keys that stand twice, and aliases to what they stand in."""
    line = node.start_mark.line + 1
    if id(node) in above:
        raise YamlProblem(line, "an alias stands within what it stands for")
    if node.tag not in TAGS:
        raise YamlProblem(line, f"the tag {node.tag.replace('tag:yaml.org,2002:', '!!')} means nothing here")
    if id(node) in done or not isinstance(node, yaml.CollectionNode):
        return
    done.add(id(node))
    children = list(node.value)
    if isinstance(node, yaml.MappingNode):
        children = [value for _, value in node.value]
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise YamlProblem(key.start_mark.line + 1, "a key must be a plain word")
            if key.value in seen:
                raise YamlProblem(key.start_mark.line + 1, f"the key '{key.value}' stands twice")
            seen.add(key.value)
    for child in children:
        _check(child, above | {id(node)}, done)
