from __future__ import annotations

import io
import sys

import pytest

from skillgit.progress import Bar, Lines, LiveView, reporter


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


RECORD = {
    "kind": "step", "step": 1, "epoch": 1, "action": "reject", "fallbacks": ["merge: concatenation"], "parse_failures": 2,
    "current": {"hard": 0.5}, "best": {"hard": 0.5}, "edits": {"proposed": 3, "applied": 1, "no_target": 2},
    "verdict": {"after": 0.25, "delta": -0.25, "upper_bound": True},
}  # fmt: skip
SPEND = {
    "spent": [{"calls": 7, "input_tokens": 1200, "output_tokens": 34, "usd": None}],
    "seconds": {"gate": 61.0, "rollout": 2.2},
    "total": [{"calls": 9, "usd": 0.5}, {"calls": 2, "usd": 0.25}],
}
LINE = "- step 1      rejected  ≤0.2500 -0.2500  1/3 edits    7 calls   1.2k tok price unknown 1 min 3 s"


def test_a_terminal_gets_a_live_view_and_the_same_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    watch = reporter()
    assert isinstance(watch, LiveView)
    watch.stage("gate", 4)
    for _ in range(4):
        watch.advance()
    view = watch._view().plain
    watch.entry(RECORD, SPEND)
    assert "current 0.500  best 0.500  11 calls $0.7500" in watch._view().plain
    watch.note("a remark")
    watch.close()
    assert "gate  ━━━━━━━━━━━━━━━━ 4/4" in view
    shown = screen.getvalue()
    assert LINE in shown
    assert "note: a remark" in shown


def test_elsewhere_it_is_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    watch = reporter()
    assert type(watch) is Lines
    watch.stage("gate", 4)
    watch.entry(RECORD, SPEND)
    assert capsys.readouterr().err.splitlines() == [
        LINE,
        "    merge: concatenation",
        "    2 answers of the optimizer could not be used and were asked for again",
    ]
    quiet = reporter(quiet=True)
    quiet.entry(RECORD, SPEND)
    assert capsys.readouterr().err == ""


def test_a_download_says_each_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar("fetching x") as bar:
        for done in range(0, 101, 5):
            bar.update(done, 100)
    assert [line.split()[-2] for line in capsys.readouterr().err.splitlines()] == [str(n) for n in range(0, 101, 10)]
