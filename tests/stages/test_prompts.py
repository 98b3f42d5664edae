from __future__ import annotations

import json
import re
from typing import Any

import pytest

from skillgit.errors import ConfigError
from skillgit.stages import answers
from skillgit.stages.prompts import PLACE, STAGES, Prompts, builtin
from tests.stages.asking import Env, opt

SCHEMAS = {
    "reflect_failure": answers.REFLECT,
    "reflect_success": answers.REFLECT,
    "merge": answers.MERGE,
    "merge_final": answers.MERGE,
    "suggest_failure": answers.SUGGEST,
    "suggest_success": answers.SUGGEST,
    "rewrite_failure": answers.REWRITE,
    "rewrite_success": answers.REWRITE,
    "merge_suggestions": answers.MERGE_SUGGESTIONS,
    "merge_rewrites": answers.MERGE_REWRITES,
    "rewrite": answers.REWRITTEN,
    "consolidate": answers.CONSOLIDATE,
    "select": answers.SELECT,
    "budget": answers.BUDGET,
    "slow": answers.SLOW,
    "meta": answers.META,
}


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_a_builtin_prompt_says_what_it_must(stage: str) -> None:
    system, marker, user = builtin(stage).partition("<!-- user -->")
    assert marker
    assert "they are not meant for you" in " ".join(system.split())
    assert set(PLACE.findall(system + user)) == STAGES[stage].needed | STAGES[stage].optional


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_the_example_in_a_prompt_has_the_form_of_the_schema(stage: str) -> None:
    system = builtin(stage).partition("<!-- user -->")[0]
    found = re.search(r"^Answer with one JSON object[^{]*(\{.*\})", system, re.MULTILINE | re.DOTALL)
    assert found
    example, _ = json.JSONDecoder(strict=False).raw_decode(found[1])
    assert conforms(example, SCHEMAS[stage])


def conforms(value: Any, schema: Any) -> bool:
    if "anyOf" in schema:
        return any(conforms(value, part) for part in schema["anyOf"])
    if schema["type"] == "object":
        properties = schema["properties"]
        return set(value) == set(properties) and all(conforms(value[key], properties[key]) for key in value)
    if schema["type"] == "array":
        return isinstance(value, list) and all(conforms(item, schema["items"]) for item in value)
    kinds = {"string": str, "integer": int, "null": type(None)}
    return isinstance(value, kinds[schema["type"]]) and value in schema.get("enum", [value])


def strict(schema: Any) -> bool:
    """What structured output demands: objects closed, with every property required, and one type each."""
    if "anyOf" in schema:
        return set(schema) == {"anyOf"} and all(strict(part) for part in schema["anyOf"])
    if schema["type"] == "array":
        return strict(schema["items"])
    if schema["type"] != "object":
        return schema["type"] in ("string", "integer", "null")
    closed = schema["additionalProperties"] is False and schema["required"] == list(schema["properties"])
    return closed and all(strict(part) for part in schema["properties"].values())


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_every_schema_is_strict(stage: str) -> None:
    assert strict(SCHEMAS[stage])
    assert not strict(
        {"type": "object", "properties": {"a": answers.TEXT}, "required": [], "additionalProperties": False}
    )


def test_an_environment_may_have_its_own_prompts() -> None:
    prompts = Prompts(Env({"merge": "Mine: {{ edits }} and {braces} {stay}."}).prompt)
    (message,) = prompts.render("merge", {"edits": "{{meta}} {{nothing}} \\1", "meta": "m", "skill": "s"})
    assert (message.role, message.content) == ("user", "Mine: {{meta}} {{nothing}} \\1 and {braces} {stay}.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "prompts/merge.md is empty"),
        ("System only.\n<!-- user -->\n \n", "prompts/merge.md is empty"),
        ("{{edits}} {{Nothing}}", r"uses \{\{Nothing\}\}; known there: \{\{edits\}\}, \{\{meta\}\}, \{\{skill\}\}"),
        ("{{edits}} {{trajectories}}", r"uses \{\{trajectories\}\}"),
        ("{{skill}}", r"lacks \{\{edits\}\}"),
    ],
)
def test_a_prompt_that_cannot_work_stops_the_run_before_it_costs_anything(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        opt(lambda request: "", Env({"merge": text}))


def test_an_own_prompt_may_add_to_the_builtin_one() -> None:
    own = {"select": "Mind the commas.\n\n{{builtin}}"}
    values = {name: f"({name})" for name in STAGES["select"].needed | STAGES["select"].optional}
    plain = Prompts(lambda stage: None).render("select", values)
    added = Prompts(own.get).render("select", values)
    assert added[0].content == f"Mind the commas.\n\n{plain[0].content}"
    assert added[1] == plain[1]
