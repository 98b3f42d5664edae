from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.parsing import parse_object

KEYS = ("edits",)


@pytest.mark.parametrize(
    "text",
    [
        '{"edits": ["x"]}',
        ' \n{"edits": ["x"]}\n',
        'Sure!\n```json\n{"edits": ["x"]}\n```\nHope it helps {really}.',
        'First {"note": 1}, then {"edits": ["x"]} and {"edits": ["x"]}.',
        'A stray { brace. {"edits": ["x"]}'.replace("A stray { brace. ", "A stray } brace. "),
        '{"edits": ["x"],}',
        "{'edits': ['x']}",
    ],
)
def test_the_one_object_is_found(text: str) -> None:
    assert parse_object(text, KEYS)["edits"] == ["x"]


def test_a_fenced_example_inside_a_fenced_answer_does_not_end_it() -> None:
    content = "Use:\n```py\nprint({'a': 1})\n```\n"
    text = f"```json\n{json.dumps({'edits': [content]}, indent=1)}\n```\nand a brace: }}"
    assert parse_object(text, KEYS) == {"edits": [content]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no JSON object"),
        ("I have no edits to propose.", "holds no JSON object"),
        ("[1, 2]", "holds no JSON object"),
        ('{"edit": []}', "lacks edits"),
        ('{"edits": [1]} or {"edits": [2]}', "2 different JSON objects"),
    ],
)
def test_what_cannot_be_used_says_why(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_object(text, KEYS)


@given(
    st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text())),
    st.sampled_from(["", "Well:\n", "```\n"]),
)
def test_any_object_survives_prose_around_it(extra: dict[str, object], before: str) -> None:
    data = {**extra, "edits": []}
    assert parse_object(f"{before}{json.dumps(data)}\nDone.", KEYS) == data


@given(st.text())
def test_any_text_gives_an_object_or_a_value_error(text: str) -> None:
    try:
        found = parse_object(text, KEYS)
    except ValueError:
        return
    assert "edits" in found
