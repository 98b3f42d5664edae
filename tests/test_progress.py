from __future__ import annotations

import io
import sys

import pytest

from skillgit.progress import Bar, Lines, LiveView, reporter


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


RECORD = {
    "kind": "step", "run": 1, "step": 1, "epoch": 1, "action": "reject",
    "fallbacks": ["merge: concatenation"], "parse_failures": 2,
    "current": {"hard": 0.5, "commit": "a"}, "best": {"hard": 0.5, "commit": "a"},
    "edits": {"proposed": 3, "applied": 1, "no_target": 2},
    "verdict": {"after": 0.25, "delta": -0.25, "upper_bound": True},
}  # fmt: skip
SPEND = {
    "spent": [{"calls": 7, "input_tokens": 1200, "output_tokens": 34, "usd": None}],
    "seconds": {"gate": 61.0, "rollout": 2.2},
    "total": [{"calls": 9, "usd": 0.5}, {"calls": 2, "usd": 0.25}],
}
HEAD = "  entry        gate        score   delta edits  calls tokens     cost   time"
LINE = "- step 1       rejected  ≤0.2500 -0.2500   1/3      7   1.2k unpriced  1m03s"


def test_a_terminal_gets_a_live_view_and_the_same_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    watch = reporter()
    assert isinstance(watch, LiveView)
    watch.entry(RECORD, SPEND)
    watch.note("a remark")
    watch.close()
    assert LINE in screen.getvalue()
    assert "note: a remark" in screen.getvalue()


def test_the_live_view_says_where_the_run_is_and_how_long_it_will_take(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("skillgit.progress.time.monotonic", lambda: now[0])
    monkeypatch.setattr("rich.live.Live.start", lambda self: None)
    watch = LiveView()

    def view(after: float) -> str:
        now[0] = 100.0 + after
        return str(watch._view().plain)

    watch.steps = 4
    watch.stage("baseline", 4)
    watch.advance()
    assert view(2) == "baseline  ━━╌╌╌╌╌╌╌╌ 1/4  2s"
    watch.entry({**RECORD, "kind": "baseline", "step": 0}, SPEND)
    watch.stage("rollout", 0)
    assert view(3) == "step 1/4  rollout  3s  score 0.500  11 calls $0.7500"
    view(12)
    watch.entry({**RECORD, "best": {"hard": 0.75, "commit": "b"}}, SPEND)
    watch.stage("rollout", 40)
    for _ in range(40):
        watch.advance()
    # a step took ten seconds, three are left, and one second of them has gone by
    line = view(13)
    assert line == "step 2/4  rollout  ━━━━━━━━━━ 40/40  13s  29s left  score 0.500 (best 0.750)  11 calls $0.7500"
    watch.stage("test", 10)
    assert view(14).startswith("test  ╌╌╌╌╌╌╌╌╌╌ 0/10  14s")


def test_elsewhere_it_is_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    watch = reporter()
    assert type(watch) is Lines
    watch.stage("gate", 4)
    watch.entry(RECORD, SPEND)
    watch.entry({**RECORD, "fallbacks": [], "parse_failures": 0}, SPEND)
    assert capsys.readouterr().err.splitlines() == [
        HEAD,
        LINE,
        "    merge: concatenation",
        "    2 answers of the optimizer could not be used and were asked for again",
        LINE,
    ]
    quiet = reporter(quiet=True)
    quiet.entry(RECORD, SPEND)
    assert capsys.readouterr().err == ""


def test_a_download_says_each_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar("fetching x") as bar:
        for done in range(0, 101, 5):
            bar.update(done, 100)
    assert [line.split()[-2] for line in capsys.readouterr().err.splitlines()] == [str(n) for n in range(0, 101, 10)]
