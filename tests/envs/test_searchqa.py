from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgit import env, judges
from skillgit.errors import TaskError
from skillgit.models.base import Request
from skillgit.sources import Source
from skillgit.splits import Task
from tests.envs.bench import BENCHDATA, LESSON, cases, module, needs_benchdata, train

searchqa: Any = module("searchqa")


def judged(function: str, answer: str, *golds: str) -> tuple[float, float, str]:
    judgement = getattr(searchqa, function)(Task("t", "?", list(golds)), answer)
    return judgement.hard, round(judgement.soft, 3), judgement.reason.partition(", got ")[2]


@needs_benchdata
def test_the_papers_scores_are_met() -> None:
    settings = env.load(env.bundled()["searchqa"]).settings.answer
    for case in cases("searchqa"):
        answer, _ = judges.extract(settings, case["response"])
        assert answer == case["predicted"]
        assert searchqa.exact(answer, case["gold"]) == case["em"]
        assert searchqa.f1(answer, case["gold"]) == pytest.approx(case["f1"], abs=1e-6)


@pytest.mark.parametrize(
    ("answer", "gold", "reference", "unicode"),
    [
        ("Grauman’s Chinese", "Grauman\\'s Chinese", (0, 0.5), (1, 1)),
        ("be, bee", "be/bee", (0, 0), (1, 1)),
        ("bebee", "be/bee", (1, 1), (1, 1)),
        ("Beyonce", "Beyoncé", (0, 0), (1, 1)),
        ("U.S.", "US", (1, 1), (1, 1)),
        ("the moon", "sun", (0, 0), (0, 0)),
    ],
)
def test_two_scorers(answer: str, gold: str, reference: tuple[float, float], unicode: tuple[float, float]) -> None:
    assert judged("reference", answer, gold)[:2] == reference
    assert judged("unicode", answer, gold)[:2] == unicode


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        ("Clancy", "'Clancy', which is only a part of the expected answer"),
        ("the novelist Tom Clancy", "'the novelist Tom Clancy', which holds the expected answer and more words"),
        ("Clancy, Tom", "'Clancy, Tom', the same words in another order"),
        ("Ada Quell", "'Ada Quell'"),
    ],
)
def test_a_near_miss_says_what_is_near(answer: str, note: str) -> None:
    assert judged("reference", answer, "Tom Clancy")[2] == note


@pytest.mark.parametrize("lacking", [{"answers": [" "]}, {"question": ""}, {"key": None}])
def test_a_row_that_lacks_something_is_named(tmp_path: Path, lacking: dict[str, Any]) -> None:
    row = {"key": "k1", "question": "?", "answers": ["a"], **lacking}
    (tmp_path / "rows.json").write_text(json.dumps([row]), encoding="utf-8")
    with pytest.raises(TaskError, match=r"row (k1|\?) of SearchQA lacks one of key, question and answers"):
        list(module("searchqa", "prepare.py").prepare(Source(tmp_path / "rows.json", tmp_path)))


def test_an_empty_answer_never_passes() -> None:
    assert judged("reference", " ", "the")[0] == judged("unicode", "", "a")[0] == 0


def test_a_context_is_cut_between_passages() -> None:
    text = "[DOC] one two [DOC] three [DOC] four"  # marks at 0, 14 and 26
    assert searchqa.shortened(text, 30) == "[DOC] one two [DOC] three"
    assert searchqa.shortened(text, 26) == "[DOC] one two [DOC] three"
    assert searchqa.shortened(text, 20) == "[DOC] one two"
    assert searchqa.shortened(text, 10) == "[DOC] one  [cut]"
    assert searchqa.shortened(text, None) == text
    assert searchqa.shortened(None, 10) == ""


def test_the_sample_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = env.load(env.bundled()["searchqa"])
    golds = {task.input: task.answer[0] for task in loaded.tasks()}

    def target(request: Request) -> str:
        asked = request.messages[-1].content.partition("## Question")[2].strip()
        return f"I think.\n<answer>{golds[asked]}</answer>" if LESSON in request.messages[0].content else "no idea"

    trained = train("searchqa", tmp_path, monkeypatch, target)
    [step] = trained.training.records("step")
    assert step["action"] == "accept_new_best"
    assert (
        "the reply has no <answer> tag; its last line was taken; expected 'Lake Orvane' or 'Orvane', got"
        in trained.shown
    )
    assert "This environment asks trivia clues" in trained.shown
    assert "You improve a skill" in trained.shown


@needs_benchdata
def test_a_training_on_real_clues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the lesson the target is nearly right, so that reasons for near misses reach the optimizer."""
    rows = {row["question"]: row["answers"][0] for row in Source(BENCHDATA / "searchqa", tmp_path).rows()}

    def target(request: Request) -> str:
        asked = request.messages[-1].content.rpartition("## Question\n\n")[2]
        more = "" if LESSON in request.messages[0].content else " of old"
        return f"<answer>{rows[asked]}{more}</answer>"

    trained = train("searchqa", tmp_path, monkeypatch, target, BENCHDATA / "searchqa")
    [step] = trained.training.records("step")
    assert step["action"] == "accept_new_best"
    assert (
        "expected 'Tom Clancy', got 'Tom Clancy of old', which holds the expected answer and more words"
        in trained.shown
    )
    assert 'reference answers, any of: ["Tom Clancy"]' in trained.shown
    assert "KING OF THE 'TECHNO-THRILLER'" in trained.shown
