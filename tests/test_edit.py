"""Edits as models answer them, and as the journal keeps them."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from skillgit.skill import Edit, parse_edit

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
some = st.builds(
    Edit,
    op=st.sampled_from(["append", "insert_after", "replace", "delete"]),
    content=words,
    target=words,
    title=words,
    reasoning=words,
    source=st.sampled_from(["failure", "patch", "slow"]),
    support=st.integers(1, 9),
    evidence=st.lists(words, max_size=3).map(tuple),
)


@given(some)
def test_an_edit_comes_back_from_json_and_yaml(edit: Edit) -> None:
    data = edit.as_dict()
    assert Edit.from_dict(json.loads(json.dumps(data))) == edit
    assert Edit.from_dict({**yaml.safe_load(yaml.safe_dump(data)), "status": "applied", "commit": "abc"}) == edit


def test_digest_is_of_what_it_does() -> None:
    edit = Edit("replace", "a", "b")
    assert edit.digest() == Edit("replace", "a", "b", title="x", support=3, source="success").digest()
    others = [
        Edit("delete", "a", "b"),
        Edit("replace", "b", "a"),
        Edit("replace", "ab", ""),
        Edit("replace", "a", "b "),
    ]
    assert len({edit.digest(), *(other.digest() for other in others)}) == 5
    assert len(edit.digest()) == 12 and int(edit.digest(), 16) >= 0


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"op": "Append", "content": "x", "target": None}, Edit("append", "x")),
        ({"op": "append", "content": "x", "target": "t"}, Edit("append", "x")),
        ({"op": " ADD ", "content": "x"}, Edit("append", "x")),
        ({"op": "add", "content": "x", "target": "t"}, Edit("insert_after", "x", "t")),
        ({"op": "insert", "content": "x", "target": "t"}, Edit("insert_after", "x", "t")),
        ({"op": "insert", "content": "x", "target": None}, Edit("append", "x")),
        ({"op": "Insert After", "content": "x\n", "target": " t\n"}, Edit("insert_after", "x\n", " t\n")),
        ({"op": "insert-after", "content": "x", "target": "t"}, Edit("insert_after", "x", "t")),
        ({"op": "remove", "content": None, "target": "t"}, Edit("delete", "", "t")),
        ({"op": "delete", "content": "t", "target": "t"}, Edit("delete", "", "t")),
        (
            {"op": "append", "content": "x", "title": " a\n b", "reasoning": "r\ud800", "task_ids": ["1", 2, "1"]},
            Edit("append", "x", title="a b", reasoning="r?", evidence=("1", "2")),
        ),
        ({"op": "append", "content": " \n"}, Edit("append", " \n")),  # applying it finds the no-op
        ({"op": "append", "content": "x", "title": 3, "task_ids": "t", "more": 1}, Edit("append", "x")),
    ],
)
def test_a_models_edit_is_read_leniently(raw: dict[str, Any], expected: Edit) -> None:
    assert parse_edit(raw) == expected


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ({"op": "move", "content": "x"}, "op 'move' is unknown; it is one of append, insert_after, replace, delete"),
        ({"content": "x"}, "op None is unknown"),
        ({"op": ["append"], "content": "x"}, "op ['append'] is unknown"),
        ({"op": "append", "content": None}, "append needs content"),
        ({"op": "append", "content": ""}, "append needs content"),
        ({"op": "replace", "content": "", "target": "t"}, "replace needs content"),
        ({"op": "delete", "target": None}, "delete needs a target"),
        ({"op": "insert_after", "content": "x", "target": "  "}, "insert_after needs a target"),
        ({"op": "append", "content": ["x"]}, "content is list, not text"),
        ({"op": "delete", "target": 3}, "target is int, not text"),
        ({"op": "append", "content": "a\0"}, "content holds characters that are not text"),
        ({"op": "append", "content": "a\ud83d"}, "content holds characters that are not text"),
        ("append", "an edit is an object, not str"),
    ],
)
def test_what_is_no_edit_says_why(raw: Any, why: str) -> None:
    answer = parse_edit(raw)
    assert isinstance(answer, str) and answer.startswith(why)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(["op", "content", "target", "title", "task_ids"]), anything))
def test_nothing_a_model_says_raises(raw: dict[str, Any]) -> None:
    assert isinstance(parse_edit(raw), Edit | str)
