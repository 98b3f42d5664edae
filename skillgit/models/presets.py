"""Well-known servers that speak Chat Completions, as data: where they are, what opens them, and how they differ."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from skillgit.config import ModelSettings

MAX_COMPLETION = ("max_completion_tokens", "max_tokens")
JSON_OBJECT = ("json_object", "")
JSON_SCHEMA = ("json_schema", "")


@dataclass(frozen=True, slots=True)
class Preset:
    """A row of the table.

    ``variable`` names the key's environment variable, "" for a server on this machine that wants none. ``always`` goes into the
    body of every request; ``thinking`` is added when ``reasoning_effort`` is set and ``plain`` when it is ``none``. ``effort``
    says that the server takes ``reasoning_effort`` itself. ``room`` and ``schema`` are the forms of the output limit and of
    structured output, best first. ``carried`` are fields of an answer that a server wants back with the results of tools.
    ``elsewhere`` are the provider's hosts in other regions, which its key may go to. ``billed`` is where the usage of an answer
    says what it cost, in US dollars.
    """

    provider: str
    base_url: str
    variable: str
    example: str
    always: Mapping[str, Any] = field(default_factory=dict)
    thinking: Mapping[str, Any] = field(default_factory=dict)
    plain: Mapping[str, Any] = field(default_factory=dict)
    effort: bool = True
    room: tuple[str, ...] = MAX_COMPLETION[::-1]
    schema: tuple[str, ...] = ("json_schema", "json_object", "")
    carried: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    billed: str = ""

    @property
    def hosts(self) -> tuple[str, ...]:
        return (urlsplit(self.base_url).hostname or "", *self.elsewhere)

    @property
    def needs(self) -> str:
        return self.variable or f"its server at {urlsplit(self.base_url).netloc}"

    def missing(self) -> str:
        """What is missing here; for a server on this machine, whether anything listens there."""
        if self.variable:
            return "" if os.environ.get(self.variable) else f"set {self.variable}"
        import socket

        address = urlsplit(self.base_url)
        try:
            socket.create_connection((address.hostname or "", address.port or 80), timeout=0.2).close()
        except OSError:
            return f"start its server, nothing listens at {address.netloc}"
        return ""


MINIMAX: dict[str, Any] = {
    "variable": "MINIMAX_API_KEY",
    "always": {"reasoning_split": True},  # else thoughts stand in the answer, in tags
    "effort": False,
    "room": MAX_COMPLETION,
    "carried": ("reasoning_details",),
}

PRESETS = (
    Preset(
        "qwen",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        "qwen:qwen-plus",
        always={"enable_thinking": False},  # open models refuse to think in an answer that is not streamed
        thinking={"enable_thinking": True},
        effort=False,
        elsewhere=("dashscope.aliyuncs.com", "dashscope-us.aliyuncs.com"),
    ),
    Preset("minimax", "https://api.minimax.io/v1", example="minimax:MiniMax-M3", **MINIMAX),
    Preset("minimax-cn", "https://api.minimaxi.com/v1", example="minimax-cn:MiniMax-M3", **MINIMAX),
    Preset(
        "deepseek",
        "https://api.deepseek.com",
        "DEEPSEEK_API_KEY",
        "deepseek:deepseek-v4-flash",
        thinking={"thinking": {"type": "enabled"}},
        plain={"thinking": {"type": "disabled"}},
        schema=JSON_OBJECT,
        carried=("reasoning_content",),
    ),
    Preset(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        "openrouter:openai/gpt-5.5",
        always={"usage": {"include": True}},
        plain={"reasoning": {"enabled": False}},
        carried=("reasoning_details",),
        billed="cost",
    ),
    Preset("ollama", "http://localhost:11434/v1", "", "ollama:qwen3"),
    Preset(
        "vllm",
        "http://localhost:8000/v1",
        "",
        "vllm:Qwen/Qwen3-8B",
        thinking={"chat_template_kwargs": {"enable_thinking": True}},
        plain={"chat_template_kwargs": {"enable_thinking": False}},
    ),
    Preset("lmstudio", "http://localhost:1234/v1", "", "lmstudio:qwen3-8b", schema=JSON_SCHEMA),
)
BY_PROVIDER = {preset.provider: preset for preset in PRESETS}


def applied(preset: Preset, settings: ModelSettings) -> ModelSettings:
    """The settings with what the preset knows; what the user wrote comes first."""
    effort = settings.reasoning_effort
    switch: Mapping[str, Any] = {}
    if effort:
        switch = preset.plain if effort == "none" else preset.thinking
    taken = preset.effort and not (effort == "none" and preset.plain)
    return settings.model_copy(
        update={
            "base_url": settings.base_url or preset.base_url,
            "extra": {**preset.always, **switch, **settings.extra},
            "reasoning_effort": effort if taken else "",
        }
    )
