"""YAML as skillgit writes it: block style, keys in the given order, Unicode as it is, libyaml where it is there."""

from __future__ import annotations

import json
from typing import Any

import yaml

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def dump(value: object) -> str:
    """The text of plain data; tuples become lists, and equal parts are written out instead of as aliases."""
    plain = json.loads(json.dumps(value))
    return str(yaml.dump(plain, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100))


def load(text: str) -> Any:
    """The data of a YAML text. Raises yaml.YAMLError."""
    return yaml.load(text, Loader=Loader)
