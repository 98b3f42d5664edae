from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from skillgit.reporting.curve import Point, points, sparkline
from skillgit.reporting.svg import curve, plain


def record(kind: str, action: str, hard: float = 0.0, **verdict: Any) -> dict[str, Any]:
    base = {"kind": kind, "run": 1, "epoch": 1, "step": 0, "action": action, "current": {"hard": hard}}
    return base | ({"verdict": {"upper_bound": False, **verdict}} if verdict else {})


RECORDS = [
    record("baseline", "baseline", 0.25),
    record("step", "accept_new_best", before=0.25, after=0.5),
    record("step", "reject", before=0.5, after=0.4, upper_bound=True),
    record("step", "skip"),
    record("epoch", "accept", before=0.5, after=0.5),
    record("final", "final", 0.5),
]


def test_a_score_stands_until_something_better_is_taken() -> None:
    found = points(RECORDS)
    assert [p.current for p in found] == [0.25, 0.5, 0.5, 0.5, 0.5]
    assert [p.best for p in found] == [0.25, 0.5, 0.5, 0.5, 0.5]
    assert [p.tried for p in found] == [None, 0.5, 0.4, None, 0.5]
    assert [p.at_most for p in found] == [False, False, True, False, False]


def test_the_baseline_is_shown_by_the_metric_that_the_gate_compares() -> None:
    found = points([record("baseline", "baseline", 0.25), record("step", "reject", before=0.4, after=0.3)])
    assert [p.current for p in found] == [0.4, 0.4]


def test_a_new_run_starts_from_its_own_baseline() -> None:
    second = {**record("baseline", "baseline", 0.1), "run": 2}
    found = points([*RECORDS, second])
    assert (found[-1].current, found[-1].best) == (0.1, 0.1)


def test_a_person_who_moves_the_branch_does_not_lower_the_best() -> None:
    found = points([*RECORDS[:2], record("baseline", "baseline", 0.3)])
    assert (found[-1].current, found[-1].best) == (0.3, 0.5)


def test_sparkline() -> None:
    assert sparkline(points(RECORDS)) == ["score ▁████  0.2500 -> 0.5000", "       *-.+"]
    assert sparkline(points(RECORDS), width=2) == ["score ▁▁  0.5000 -> 0.5000", "      .+"]
    assert sparkline([]) == []


def test_places_in_the_picture() -> None:
    """Scores 0.25 to 0.5 give ticks of 0.1 from 0.2 to 0.6; the area is 244 high and 728 wide."""
    svg = curve(points(RECORDS), "score", alone=True)
    root = ET.fromstring(svg)
    name = "{http://www.w3.org/2000/svg}"
    path = next(p for p in root.iter(f"{name}path") if p.get("class") == "current")
    assert path.get("d") == "M56.0 249.5H238.0V97.0H420.0V97.0H602.0V97.0H784.0V97.0"
    cross = next(p for p in root.iter(f"{name}path") if p.get("class") == "bad")
    assert cross.get("d") == "M416.0 154.0l8 8m0 -8l-8 8"
    assert [t.text for t in root.iter(f"{name}title")][2] == "step 0: reject, at most 0.4000"


@pytest.mark.parametrize("count", [1, 2, 500])
def test_any_number_of_points_is_well_formed(count: int) -> None:
    found = [Point(1, 1, n, "step", "reject", 0.5, 0.5, 0.5) for n in range(count)]
    root = ET.fromstring(curve(found, "a <b> & 'c'", alone=True))
    labels = [t for t in root.iter("{http://www.w3.org/2000/svg}text") if t.get("text-anchor") == "middle"]
    assert len(labels) <= 12


def test_plain_colours_for_simple_renderers() -> None:
    svg = plain(curve(points(RECORDS), "score", alone=True))
    assert "var(" not in svg and "@media" not in svg
