from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillgit.templates import fields, fill


def test_only_named_fields_are_replaced_and_values_are_not_looked_at_again() -> None:
    assert fill('{"a": {input}} {0} {} {a.b} {x}', {"input": "{x}", "x": 1}) == '{"a": {x}} {0} {} {a.b} 1'


def test_double_braces_are_literal() -> None:
    assert fill("{{input}} {input}", {"input": "v"}) == "{input} v"
    assert fields("{{no}} {yes}") == ["yes"]


def test_what_is_no_text_is_written_as_json() -> None:
    assert fill("{a} {b} {c}", {"a": ["é", 1], "b": {"x": True}, "c": 2.5}) == '["é", 1] {"x": true} 2.5'


@given(st.text(), st.text())
def test_a_value_is_inserted_byte_for_byte(skill: str, text: str) -> None:
    assert fill("a{skill}b{input}", {"skill": skill, "input": text}) == f"a{skill}b{text}"


@given(st.text())
def test_a_template_never_breaks_and_without_a_field_stays_as_it_is(template: str) -> None:
    assert fields(template) or "{{" in template or fill(template, {}) == template


def test_a_missing_value_is_empty() -> None:
    assert fill("[{gone}]", {}) == "[]"
