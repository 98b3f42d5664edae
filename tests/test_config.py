from __future__ import annotations

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
        ({"train": {"epochs": 0}}, "train.epochs: Input should be greater than or equal to 1 (got 0)"),
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


@pytest.mark.parametrize("text", ["epochs", "=3", "a..b=1"])
def test_an_override_must_be_key_and_value(text: str) -> None:
    with pytest.raises(ConfigError, match=r"expected key\.path=value"):
        config.parse(BASE, [text])


def test_files_that_are_no_settings(tmp_path: Path) -> None:
    path = tmp_path / "env.yaml"
    for text, said in (("- a\n", "must be a mapping"), ("a: [1\n", "not valid YAML"), ("", "'models' is not set")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match=said):
            config.load(path)
    with pytest.raises(ConfigError, match="No such file"):
        config.load(tmp_path / "none.yaml")


def test_every_key_has_a_description() -> None:
    texts = config.descriptions()
    leaves = [key for key, _, _ in config.parse(BASE).rows()]
    assert [key for key in leaves if not texts.get(key)] == []


@pytest.mark.parametrize("name", ["Demo", "a--b", "-a", "a_b", "", "x" * 65])
def test_names_that_no_skill_can_have(name: str) -> None:
    with pytest.raises(ConfigError, match="is not a skill name"):
        config.check_name(name)
