from __future__ import annotations

from typing import Any

import pytest

from skillgit.views.entries import bucket_text, dollars, entry_line, heading, log_line, spent_text

RECORD: dict[str, Any] = {
    "kind": "step", "run": 12, "epoch": 3, "step": 118, "action": "undecided", "current": {"hard": 0.5},
    "verdict": {"after": 0.98765, "delta": -0.12345, "upper_bound": True},
    "edits": {"proposed": 24, "applied": 3, "applied_fuzzy": 1, "appended_no_anchor": 1, "no_target": 19},
    "fallbacks": ["merge: concatenation"], "parse_failures": 2,
}  # fmt: skip
SPEND = {
    "spent": [
        {"calls": 12_000, "input_tokens": 99_000_000, "output_tokens": 400_000, "usd": 123.456},
        {"calls": 345, "input_tokens": 1, "output_tokens": 1, "usd": 0.0},
    ],
    "seconds": {"gate": 7000.0, "rollout": 265.0},
}


def test_a_wide_entry_fits_a_terminal_of_80() -> None:
    first, *remarks = entry_line(RECORD, SPEND, 240).splitlines()
    assert heading() == "  entry        gate        score   delta edits  calls tokens     cost   time"
    assert first == "? step 118/240 undecided ≤0.9877 -0.1235  5/24  12345  99.4M  $123.46  2h01m"
    assert len(first) <= 80
    assert remarks == [
        "    merge: concatenation",
        "    2 answers of the optimizer could not be used and were asked for again",
    ]


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (
            {"kind": "baseline", "run": 2, "action": "baseline", "current": {"hard": 0.25}},
            ["run", "2", "baseline", "0.2500"],
        ),
        ({"kind": "final", "run": 2, "action": "final", "current": {"hard": 0.5}}, ["run", "2", "complete", "0.5000"]),
        ({"kind": "epoch", "run": 2, "epoch": 3, "action": "skip"}, [".", "epoch", "3", "skipped"]),
        ({"kind": "patch", "run": 2, "step": 3, "action": "skip"}, [".", "patch", "skipped"]),
    ],
)
def test_each_kind_of_entry_has_its_name(record: dict[str, Any], words: list[str]) -> None:
    assert entry_line(record, {}).split()[: len(words)] == words


def test_a_persons_commit_is_under_the_same_headings() -> None:
    line = log_line({"kind": "person", "commit": "0123456789abcdef", "subject": "mend a rule"})
    assert line == "~ 0123456789   by hand   mend a rule"
    assert line.index("by hand") == heading().index("gate")


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    rows = [{"calls": 3, "usd": 0.5}, {"calls": 1, "usd": None}]
    assert dollars(rows) is None
    assert dollars(rows[:1]) == 0.5
    assert spent_text(rows) == "4 calls unpriced"
    assert spent_text([]) == "0 calls $0"


def test_every_bucket_is_named() -> None:
    assert bucket_text({"proposed": 3, "applied": 1, "over_budget": 2}) == "3 proposed: 1 applied, 2 over budget"
    assert bucket_text({"proposed": 0}) == "0 proposed"
