from __future__ import annotations

import types
from typing import Any

import pytest

from skillgit import judges
from skillgit.config import AnswerSettings, JudgeSettings
from skillgit.errors import ConfigError, TaskError
from skillgit.judges import Judgement
from skillgit.splits import Task


def judge(answer: Any, given: str, kind: str, **options: Any) -> Judgement:
    made = judges.make(JudgeSettings(kind=kind, **options))
    return made(Task("t", "q", answer), given)


@pytest.mark.parametrize(
    ("kind", "options", "gold", "given", "hard", "soft"),
    [
        ("exact", {}, "abc", " abc\n", 1, 1),
        ("exact", {}, "abc", "Abc", 0, 0),
        ("exact", {"ignore_case": True}, "abc", "ABC", 1, 1),
        ("exact", {}, ["a", "b"], "b", 1, 1),
        ("exact", {}, 5, "5", 1, 1),
        ("normalized", {}, "The East River!", "east river", 1, 1),
        # one of two predicted tokens and one of two gold tokens agree: F1 = 2*1/(2+2)
        ("normalized", {}, "east river", "west river", 0, 0.5),
        ("normalized", {}, ["x y z", "river"], "east river", 0, 2 / 3),
        ("contains", {}, "Paris", "It is paris, I think", 1, 1),
        ("contains", {"all": True}, ["a1", "b2"], "only a1", 0, 0.5),
        ("regex", {"pattern": r"\d{4}-\d{2}"}, None, "on 2024-05", 1, 1),
        ("regex", {"pattern": r"\d{4}", "full": True}, None, "in 2024", 0, 0),
        ("choice", {"choices": ["feat", "fix"]}, "fix", "(Fix).", 1, 1),
        ("choice", {"choices": ["feat", "fix"]}, "fix", "feat", 0, 0),
        ("number", {}, 1234.5, "1,234.50", 1, 1),
        ("number", {"tolerance": 0.01}, 3.14159, "3.14", 1, 1),
        ("number", {}, "-12", "(12)", 1, 1),
        ("number", {}, "-12", "\u221212", 1, 1),
        ("number", {}, "20", "20%", 1, 1),
        ("number", {}, 100, "50", 0, 0.4995),
        ("number", {}, 100, "a lot", 0, 0),
        ("date", {}, "1998-03-03", "3 March 1998", 1, 1),
        ("date", {"day_first": True}, "2024-04-03", "3/4/2024", 1, 1),
        ("date", {}, "2024-04-03", "3/4/2024", 0, 0),
        ("date", {}, "2024-04-03", "April 2024", 0, 0),
        ("json", {}, {"a": 1, "b": 2}, '```json\n{"a": 1, "b": 3}\n```', 0, 0.5),
        ("json", {}, {"a": 1}, '{"a": 1}', 1, 1),
        ("json", {}, {"a": 1}, '{"a": 1, "c": 2}', 0, 0.5),
        ("json", {"fields": ["a"]}, {"a": 1}, '{"a": 1, "c": 2}', 1, 1),
        ("json", {}, {"a": 1}, "no json", 0, 0),
    ],
)
def test_a_score(kind: str, options: dict[str, Any], gold: Any, given: str, hard: float, soft: float) -> None:
    found = judge(gold, given, kind, **options)
    assert (found.hard, found.soft) == (hard, pytest.approx(soft))
    assert bool(found.reason) == (hard == 0)


def test_a_reason_shows_expected_and_given_but_never_a_pattern() -> None:
    assert judge("abc", "xyz", "exact").reason == "expected 'abc', got 'xyz'"
    assert "secret" not in judge(None, "xyz", "regex", pattern="secret+").reason


def test_a_python_judge_is_a_function_of_env_py() -> None:
    env = types.SimpleNamespace(grade=lambda task, answer: (1, 0.5, "half"), text=lambda task, answer: "good")
    task = Task("t", "q", "a")
    assert judges.make(JudgeSettings(kind="python", function="grade"), env)(task, "x") == Judgement(1.0, 0.5, "half")
    with pytest.raises(TaskError, match="must be a number"):
        judges.make(JudgeSettings(kind="python", function="text"), env)(task, "x")
    with pytest.raises(ConfigError, match="no function 'missing'"):
        judges.make(JudgeSettings(kind="python", function="missing"), env)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"kind": "exat"}, "did you mean 'exact'"),
        ({"kind": "exact", "ignorecase": True}, "no such option; known: ignore_case"),
        ({"kind": "regex", "pattern": "(?i)a(?i)b("}, "does not compile"),
        ({"kind": "regex"}, "needs either 'pattern' or 'field'"),
        ({"kind": "number", "tolerance": -1}, "must not be negative"),
    ],
)
def test_a_broken_judge_is_refused_when_it_is_made(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        judges.make(JudgeSettings(**settings))


def test_the_check_names_a_reference_that_fails_and_an_empty_answer_that_passes() -> None:
    with pytest.raises(ConfigError, match="fails the reference answer of task 'bad'"):
        judges.check(judges.make(JudgeSettings(kind="number")), [Task("ok", "q", "5"), Task("bad", "q", "five")])
    with pytest.raises(ConfigError, match="passes an empty answer to task 't'"):
        judges.check(judges.make(JudgeSettings(kind="regex", pattern="a*")), [Task("t", "q")])


@pytest.mark.parametrize(
    ("settings", "output", "answer", "missing"),
    [
        ({}, " all of it ", "all of it", ""),
        ({"extract": "answer_tag"}, "<answer>1</answer> no: <ANSWER>\n2 </ANSWER>.", "2", ""),
        ({"extract": "answer_tag"}, "42", "", "the reply has no <answer> tag"),
        ({"extract": "last_line"}, "so\n\nthe end\n \n", "the end", ""),
        ({"extract": "regex", "pattern": r"= (\d+)"}, "1 = 1, 2 = 2", "2", ""),
        (
            {"extract": "regex", "pattern": r"\d+"},
            "none",
            "",
            "the reply does not have the form the answer is taken from",
        ),
    ],
)
def test_extraction(settings: dict[str, Any], output: str, answer: str, missing: str) -> None:
    assert judges.extract(AnswerSettings(**settings), output) == (answer, missing)
