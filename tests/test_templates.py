from __future__ import annotations

from skillgit.templates import fields, fill


def test_only_named_fields_are_replaced_and_values_are_not_looked_at_again() -> None:
    assert fill('{"a": {input}} {0} {} {a.b} {x}', {"input": "{x}", "x": 1}) == '{"a": {x}} {0} {} {a.b} 1'


def test_double_braces_are_literal() -> None:
    assert fill("{{input}} {input}", {"input": "v"}) == "{input} v"
    assert fields("{{no}} {yes}") == ["yes"]


def test_a_missing_value_is_empty() -> None:
    assert fill("[{gone}]", {}) == "[]"
