from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.parsing import parse_object

KEYS = ("edits",)


@pytest.mark.parametrize(
    "text",
    [
        '{"edits": ["x"]}',
        ' \n\ufeff{"edits": ["x"]}\n',
        'Sure!\n```json\n{"edits": ["x"]}\n```\nHope it helps {really}.',
        "```plaintext\n{'edits': ['x']}\n```",
        'First {"note": 1}, then {"edits": ["x"]} and {"edits": ["x"]}.',
        'A stray { brace. {"edits": ["x"]}',
        'A stray } brace and a "quote. {"edits": ["x"]}',
        'Use {"x for dicts. {"edits": ["x"]}',
        '{"a": 1, broken} {"edits": ["x"]} {',
        '<think>I could say {"edits": ["y"]}.</think>\n{"edits": ["x"]}',
        '[{"edits": ["x"]}]',
        '{"edits": ["x"]}}',
    ],
)
def test_the_one_object_is_found(text: str) -> None:
    assert parse_object(text, KEYS) == {"edits": ["x"]}


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        ('{"edits": ["x"],}', ["x"]),
        ("{'edits': ['x']} I hope it {really} helps.", ["x"]),
        ('{edits: ["x"] // one\n}', ["x"]),
        ('{"edits": ["say "hi" to {x}"]}', ['say "hi" to {x}']),
        ('{"edits": ["two\nlines"]}', ["two\nlines"]),
        ('{"edits": [True, {"op": null}] "more": 1}', [True, {"op": None}]),
    ],
)
def test_a_damaged_object_that_is_whole_is_repaired(text: str, edits: list[Any]) -> None:
    assert parse_object(text, KEYS)["edits"] == edits


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_a_fenced_example_inside_a_fenced_answer_does_not_end_it(fence: str) -> None:
    content = f"Use:\n{fence}py\nprint({{'a': 1}})\n{fence}\n"
    text = f'{fence}json\n{json.dumps({"edits": [content]}, indent=1)}\n{fence}\nand a brace: }} {{"x": }}'
    assert parse_object(text, KEYS) == {"edits": [content]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no JSON object"),
        ("I have no {edits} to propose.", "holds no JSON object"),
        ("The edits: [{}] are fine", "lacks edits"),
        ("[1, 2]", "holds no JSON object"),
        ('{"edit": []}', "lacks edits"),
        ('{"answer": {"edits": []}}', "lacks edits"),
        ('{"edits": [1]} or {"edits": [2]}', "2 different JSON objects"),
        ("{'edits': [1]} or {'edits': [2]}", "JSON object"),
        ('{"edits": [1], "edits": [2]}', "the same key twice"),
        ('{"edits": ' + "[" * 100_000, "nested too deeply"),
        ('{"edits": ' + "1" * 5000 + "}", "4300"),
    ],
)
def test_what_cannot_be_used_says_why(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_object(text, KEYS)


ANSWER = json.dumps(
    {"edits": [{"op": "append", "content": "- Give {unit} and 'date'."}, {"op": "delete", "target": "x"}]}
)


@pytest.mark.parametrize("quotes", ['"', "'"])
def test_an_answer_that_breaks_off_is_never_completed(quotes: str) -> None:
    """Also where the output limit was not said to be the reason: half an edit is none."""
    for end in range(len(ANSWER)):
        with pytest.raises(ValueError):
            parse_object(ANSWER[:end].replace('"', quotes), KEYS)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 300_000,
        '{"' * 300_000,
        '{"a": 1 ' * 100_000,
        '{\n"a' * 200_000,
        '{"edits": ["say "hi" ok' + ' "hi" ok' * 50_000 + '"]}',
    ],
)
def test_large_nonsense_is_refused_in_linear_time(text: str) -> None:
    """Anything quadratic takes minutes here."""
    with pytest.raises(ValueError):
        parse_object(text, KEYS)


@given(
    st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text())),
    st.sampled_from(["", "Well:\n", "```\n", "{so} ", '{"a" ']),
    st.sampled_from(["", "\nDone.", "\n```\n{or so}"]),
)
def test_any_object_survives_prose_around_it(extra: dict[str, object], before: str, after: str) -> None:
    data = {**extra, "edits": []}
    assert parse_object(f"{before}{json.dumps(data)}{after}", KEYS) == data


@given(st.text() | st.text(alphabet="{}[]\",:'\\edits 1"))
def test_any_text_gives_an_object_or_a_value_error(text: str) -> None:
    try:
        found = parse_object(text, KEYS)
    except ValueError:
        return
    assert "edits" in found
