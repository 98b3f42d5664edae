from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from skillgit.config import ModelSettings
from skillgit.errors import ConfigError
from skillgit.models import registry
from skillgit.models.base import Model

PLUGIN = """
from skillgit.models.base import Reply
from skillgit.models.registry import Backend

class Echo:
    is_agent = False
    fingerprint = "echo"
    def __init__(self, settings, name):
        self.name = settings.model
    async def call(self, request):
        return Reply(request.messages[-1].content)
    async def close(self):
        pass

ECHO = Backend("echo", "echo_plugin:Echo", ("target",), "nothing", "echo:any")
"""


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed: echo, which works, and three that do not."""
    (tmp_path / "echo_plugin.py").write_text(PLUGIN, encoding="utf-8")
    info = tmp_path / "echo_plugin-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: echo-plugin\nVersion: 1\n", encoding="utf-8")
    rows = "echo = echo_plugin:ECHO\nodd = echo_plugin:Echo\ngone = echo_plugin:GONE\nopenai = echo_plugin:ECHO\n"
    (info / "entry_points.txt").write_text(f"[skillgit.models]\n{rows}", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize("backend", registry.BACKENDS, ids=lambda backend: backend.provider)
def test_every_row_names_a_class_that_is_there_and_an_example_it_takes(backend: registry.Backend) -> None:
    module, _, name = backend.factory.partition(":")
    assert isinstance(getattr(importlib.import_module(module), name), type)
    assert backend.example.startswith(f"{backend.provider}:")
    assert ModelSettings(model=backend.example).model == backend.example
    assert set(backend.roles) <= set(registry.BOTH)


@pytest.mark.parametrize(("provider", "variable"), [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")])
def test_a_missing_key_is_named_with_how_to_mend_it(
    provider: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = registry.backends()[provider]
    assert backend.missing() == f"set {variable}"
    monkeypatch.setenv(variable, "x")
    assert backend.missing() == ""


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("opanai:x", "models.target: there is no provider 'opanai'; did you mean 'openai'?"),
        (
            "zzz:x",
            "models.target: there is no provider 'zzz'; known: local, builtin, openai, openai-compatible, anthropic, ",
        ),
        ("builtin:induce", "models.target: builtin:induce can only be the optimizer"),
    ],
)
def test_a_spec_that_cannot_be_is_refused_in_one_line(spec: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        registry.create(ModelSettings(model=spec), "target")
    assert caught.value.message.startswith(said)


def test_a_plugin_is_a_backend_like_any_other(plugins: None) -> None:
    model = registry.create(ModelSettings(model="echo:any"), "target")
    assert isinstance(model, Model)
    assert model.name == "echo:any"
    assert registry.backends()["echo"].needs == "nothing"
    with pytest.raises(ConfigError, match="did you mean 'echo'"):
        registry.create(ModelSettings(model="ecko:any"), "target")
    with pytest.raises(ConfigError, match="can only be the target"):
        registry.create(ModelSettings(model="echo:any"), "optimizer")


def test_a_plugin_cannot_take_the_place_of_what_is_built_in(plugins: None) -> None:
    assert registry.backends()["openai"].factory == "skillgit.models.openai:OpenAIModel"


@pytest.mark.parametrize(
    ("provider", "said"),
    [("gone", "cannot be loaded: AttributeError"), ("odd", r"is no skillgit\.models\.registry\.Backend")],
)
def test_a_broken_plugin_says_so_and_breaks_nothing_else(plugins: None, provider: str, said: str) -> None:
    rows = registry.backends()
    assert "echo" in rows
    with pytest.raises(ConfigError, match=f"echo_plugin.*{said}") as caught:
        registry.create(ModelSettings(model=f"{provider}:x"), "target")
    assert rows[provider].missing() == caught.value.message
