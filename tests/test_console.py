from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest

from skillgit import console


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "env", "coloured"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": ""}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
        (None, {}, False),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO | None, env: dict[str, str], coloured: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", stream)
    assert console.paint("word", "red") == ("\033[31mword\033[0m" if coloured else "word")


def test_output_is_utf8_whatever_the_code_page() -> None:
    code = "from skillgit import console; console.prepare(); console.say('≤ é'); console.emit({'a': 'é'})"
    env = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True).stdout.decode("utf-8")
    first, *rest = out.splitlines()
    assert first == "≤ é"
    assert json.loads("".join(rest)) == {"a": "é"}


def test_work_goes_on_when_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Gone())
    console.note("step 1")


def test_columns_are_aligned_and_lines_have_no_trailing_blanks() -> None:
    rows = [["a", 1, ""], ["long", 20, "x"], ["z"]]
    assert console.align(rows, right=(1,)) == ["a      1", "long  20  x", "z"]
    assert console.align([]) == []


@pytest.mark.parametrize(("usd", "text"), [(None, "price unknown"), (0, "$0"), (0.00123, "$0.0012"), (12.5, "$12.50")])
def test_an_unknown_price_is_not_nothing(usd: float | None, text: str) -> None:
    assert console.money(usd) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (61, "1 min 1 s"), (3600, "1 h 0 min"), (7325, "2 h 2 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert console.duration(seconds) == text


@pytest.mark.parametrize(("value", "text"), [(999, "999"), (1200, "1.2k"), (3_400_000, "3.4M")])
def test_counts(value: int, text: str) -> None:
    assert console.count(value) == text
