from __future__ import annotations

from pathlib import Path

from tests.commands.running import Captured, run, run_json


def test_eval_scores_a_revision_once(trained: Path, capsys: Captured) -> None:
    known = run_json(capsys, "eval", "demo@best", "--split", "test")
    assert known["spend"]["calls"] == 0
    fresh = run_json(capsys, "eval", "demo@best", "--split", "train")
    assert fresh["scores"]["n"] == 12
    again = run_json(capsys, "eval", "demo@best", "--split", "train")
    assert again["spend"]["calls"] == 0
    assert again["scores"] == fresh["scores"]
    low, high = fresh["scores"]["interval"]
    assert low < fresh["scores"]["hard"] < high
    assert "n=12" in run(capsys, "eval", "demo@base")
