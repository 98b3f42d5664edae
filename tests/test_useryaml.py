from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from skillgit.useryaml import YamlProblem, parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("off", "off"),
        ("no", "no"),
        ("2:1:7", "2:1:7"),
        ("2024-01-01", "2024-01-01"),
        ("007", "007"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        (".inf", ".inf"),
        ("12e5", "12e5"),
        ("1e-3", "1e-3"),
        ("1.0e-3", 0.001),
        ("-2.5E+2", -250.0),
        (".5", 0.5),
        ("+3", 3),
        ("0", 0),
        ("True", True),
        ("~", None),
        ("", None),
        ("'3'", "3"),
        ("{a: [1, {b: null}]}", {"a": [1, {"b": None}]}),
        ("x: &x {a: 1, b: 2}\ny: {<<: *x, a: 3}", {"x": {"a": 1, "b": 2}, "y": {"a": 3, "b": 2}}),
    ],
)
def test_what_looks_like_text_is_text(text: str, value: Any) -> None:
    found = parse(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "the key 'a' stands twice"),
        ("x:\n  - {a: 1, a: 2}\n", 2, "the key 'a' stands twice"),
        ("? [1]\n: 2\n", 1, "a key must be a plain word"),
        ("- 1\n- &a [*a]\n", 2, "an alias stands within what it stands for"),
        ("a: [1\n", 2, "not valid YAML"),
        ("a: 1\n---\nb: 2\n", 2, "another document"),
        ("a: !!python/object/apply:os.getcwd []\n", 1, "the tag !!python/object"),
        ("a: 1\nb: !!binary aGk=\n", 2, "the tag !!binary means nothing here"),
        ("!thing {}\n", 1, "the tag !thing means nothing here"),
        ("a: !!int x\n", 1, "not valid YAML"),
        ("a: \x07\n", 1, "not valid YAML"),
    ],
)
def test_a_mistake_has_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(YamlProblem, match=said) as caught:
        parse(text)
    assert caught.value.line == line
    assert "\n" not in str(caught.value)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text("abe01:-. "),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abcdef", min_size=1), inner),
    max_leaves=8,
)


@given(PLAIN)
def test_what_a_yaml_library_writes_is_read_back(value: Any) -> None:
    assert parse(yaml.safe_dump(value)) == value
