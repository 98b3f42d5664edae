from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from skillgit import config
from skillgit.errors import ConfigError

BASE: dict[str, Any] = {"models": {"target": "openai:a", "optimizer": "openai:b"}}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"trian": {}}, "unknown setting 'trian'; did you mean 'train'?"),
        ({"gate": {"polcy": "strict"}}, "unknown setting 'gate.polcy'; did you mean 'policy'?"),
        ({"train": {"epochs": 0}}, "train.epochs: must be at least 1 (got 0)"),
        ({"train": {"epochs": "4"}}, "train.epochs: must be a whole number (got '4')"),
        ({"train": {"epochs": True}}, "train.epochs: must be a whole number (got True)"),
        ({"train": {"epochs": 4.0}}, "train.epochs: must be a whole number (got 4.0)"),
        ({"train": None}, "train: must be a mapping of settings (got None)"),
        ({"gate": {"early_stop": "yes"}}, "gate.early_stop: must be true or false (got 'yes')"),
        ({"gate": {"policy": "of"}}, "'paired' or 'off' (got 'of')"),
        ({"gate": {"min_coverage": True}}, "gate.min_coverage: must be a number (got True)"),
        ({"gate": {"alpha": 0.5}}, "gate.alpha: must be below 0.5 (got 0.5)"),
        ({"prompt": {"user": 3}}, "prompt.user: must be text (got 3)"),
        ({"models": {"target": "openai:a"}}, "'models.optimizer' is not set"),
        ({"answer": {"extract": "regex"}}, "answer: extract: regex and a pattern go together"),
        ({"answer": {"pattern": "x"}}, "answer: extract: regex and a pattern go together"),
        ({"answer": {"extract": "regex", "pattern": "a(b"}}, "does not compile"),
        ({"edits": {"budget": 1, "min_budget": 3}}, "min_budget 3 is above budget 1"),
        ({"split": {"ratio": "2:1"}}, "split.ratio"),
        ({"split": {"ratio": "2:0:7"}}, "every part of the ratio must be above 0"),
        ({"tasks": {"train": "a.jsonl"}}, "give one file, or all three"),
        ({"reflect": {"merge_batch_size": 1}}, "reflect.merge_batch_size"),
        ({"models": {"target": "gpt"}}, "'gpt' is not provider:model"),
    ],
)
def test_a_mistake_is_one_line_with_the_key_and_what_is_allowed(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config.parse({**BASE, **more})
    assert said in caught.value.message
    assert "\n" not in caught.value.message


def test_origins_tell_default_file_and_command_line() -> None:
    loaded = config.parse({**BASE, "train": {"epochs": 2}}, ["train.seed=7", "models.target.temperature=0"])
    rows = {key: (value, origin) for key, value, origin in loaded.rows()}
    assert rows["train.epochs"] == (2, "env.yaml")
    assert rows["train.seed"] == (7, "command line")
    assert rows["train.batch_size"] == (40, "default")
    assert rows["models.target.model"] == ("openai:a", "env.yaml")
    assert rows["models.target.temperature"] == (0.0, "command line")


def both(more: dict[str, Any]) -> dict[str, Any]:
    return {"models": {"target": {"model": "openai:a", **more}, "optimizer": "openai:b"}}


@pytest.mark.parametrize(
    "more", [{"api_key_env": "sk-secret-1"}, {"base_url": "https://me:sk-secret-1@example.org/v1"}]
)
def test_a_key_in_the_wrong_place_is_refused_and_never_shown(more: dict[str, Any]) -> None:
    ways: list[tuple[dict[str, Any], list[str]]] = [(both(more), [])]
    ways += [(BASE, [f"models.target.{key}={value}"]) for key, value in more.items()]
    for data, overrides in ways:
        with pytest.raises(ConfigError) as caught:
            config.parse(data, overrides)
        assert "models.target." in caught.value.message
        assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("split.ratio=2:1:7", "split.ratio", [2.0, 1.0, 7.0]),
        ("split.ratio=[4, 3, 3]", "split.ratio", [4.0, 3.0, 3.0]),
        ("gate.policy=off", "gate.policy", "off"),
        ("gate.early_stop=false", "gate.early_stop", False),
        ("gate.alpha=1.0e-3", "gate.alpha", 0.001),
        ("prompt.user={input}", "prompt.user", "{input}"),
        ("prompt.user=Say: {input} # now", "prompt.user", "Say: {input} # now"),
        ("prompt.user=3", "prompt.user", "3"),
        ("prompt.images=", "prompt.images", ""),
        ("limits.usd=", "limits.usd", None),
        ("limits.usd=2", "limits.usd", 2.0),
        ("models.target=local:x", "models.target.model", "local:x"),
        ("models.target={model: local:x, seed: 1}", "models.target.seed", 1),
        ("models.target.usd_per_million=[1, 2.5]", "models.target.usd_per_million", [1.0, 2.5]),
        ("models.target.extra.top_p=0.5", "models.target.extra", {"top_p": 0.5}),
        ("options.level=[3", "options", {"level": "[3"}),
        ("options.rule=no: never", "options", {"rule": "no: never"}),
        ("judge=number", "judge.kind", "number"),
        ("judge.pattern=[0-9]", "judge.pattern", "[0-9]"),
        ("judge.pattern=a{2}: b", "judge.pattern", "a{2}: b"),
        ("judge.choices=[a, b]", "judge.choices", ["a", "b"]),
        ("judge.tolerance=0.5", "judge.tolerance", 0.5),
        ("tasks=other.csv", "tasks.all", "other.csv"),
    ],
)
def test_an_override_means_what_it_looks_like(text: str, key: str, value: Any) -> None:
    rows = {row: (found, origin) for row, found, origin in config.parse(BASE, [text]).rows()}
    assert rows[key] == (value, "command line")


def test_an_override_keeps_what_stands_beside_it_and_the_last_one_wins() -> None:
    loaded = config.parse(both({"seed": 3}), ["models.target.model=x:y", "train.epochs=2", "train.epochs=5"])
    rows = {key: (value, origin) for key, value, origin in loaded.rows()}
    assert rows["models.target.model"] == ("x:y", "command line")
    assert rows["models.target.seed"] == (3, "env.yaml")
    assert rows["train.epochs"] == (5, "command line")
    replaced = config.parse(both({"seed": 3}), ["models.target=x:y"])
    assert {key: row for key, *row in replaced.rows()}["models.target.seed"] == [None, "default"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("train.epochs=many", "-o train.epochs: train.epochs: must be a whole number (got 'many')"),
        ("edits.budget=1", "-o edits.budget: edits: min_budget 2 is above budget 1"),
        ("trian.epochs=1", "-o trian.epochs: unknown setting 'trian'; did you mean 'train'?"),
    ],
)
def test_a_mistake_on_the_command_line_is_not_blamed_on_the_file(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config.parse(BASE, [text], where="skills/x/env.yaml")
    assert caught.value.message == said


@pytest.mark.parametrize("text", ["epochs", "=3", "a..b=1"])
def test_an_override_must_be_key_and_value(text: str) -> None:
    with pytest.raises(ConfigError, match=r"expected key\.path=value"):
        config.parse(BASE, [text])


def test_files_that_are_no_settings(tmp_path: Path) -> None:
    path = tmp_path / "env.yaml"
    for text, said in (
        ("- a\n", "must be a mapping"),
        ("a: [1\n", "env.yaml:2: not valid YAML"),
        ("train: {}\n\ntrain: {}\n", "env.yaml:3: the key 'train' stands twice"),
        ("models: {target: a:b, optimizer: a:c}\n1: 2\n", "1: is no name of a setting"),
        ("", "'models' is not set"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match=said):
            config.load(path)
    path.write_bytes(b"a: caf\xe9\n")
    with pytest.raises(ConfigError, match="byte 6 is not UTF-8"):
        config.load(path)
    with pytest.raises(ConfigError, match="No such file"):
        config.load(tmp_path / "none.yaml")


def test_every_key_has_a_description() -> None:
    texts = config.descriptions()
    leaves = [key for key, _, _ in config.parse(BASE).rows()]
    assert [key for key in [*leaves, "judge.tolerance", "judge.choices"] if not texts.get(key)] == []


def test_every_key_is_read_somewhere() -> None:
    package = Path(config.__file__).parent
    code = "\n".join(p.read_text(encoding="utf-8") for p in package.rglob("*.py") if p.name != "config.py")
    leaves = {key.rpartition(".")[2] for key, _, _ in config.parse(BASE).rows()} - {"all", "train", "selection"}
    assert [name for name in sorted(leaves) if not re.search(rf"\.{name}\b", code)] == []


@pytest.mark.parametrize("name", ["Demo", "a--b", "-a", "a_b", "", "x" * 65])
def test_names_that_no_skill_can_have(name: str) -> None:
    with pytest.raises(ConfigError, match="is not a skill name"):
        config.check_name(name)
