from __future__ import annotations

import json
import math
import re
import types
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit import judges
from skillgit.config import AnswerSettings, JudgeSettings
from skillgit.errors import ConfigError, TaskError
from skillgit.judges import Judgement, dates, number
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
        ("number", {}, 100, "50", 0, 0.5),
        ("number", {}, 100, "250", 0, 0),
        ("number", {"relative": 0.01}, 200, "198", 1, 1),
        ("number", {}, 0.2, "20 %", 1, 1),
        ("number", {}, "50%", "0.5%", 0, 0.01),
        ("number", {}, "50%", "0.5", 1, 1),
        ("number", {}, -1234567, "-$1,234,567", 1, 1),
        ("number", {}, -5, "($5.00)", 1, 1),
        ("number", {}, 12345, "12\u202f345", 1, 1),
        ("number", {}, 1e-5, "1e-5", 1, 1),
        ("number", {}, [1, 2], "2", 1, 1),
        ("number", {}, 100, "a lot", 0, 0),
        ("date", {}, "1998-03-03", "3 March 1998", 1, 1),
        ("date", {"day_first": True}, "2024-04-03", "3/4/2024", 1, 1),
        ("date", {}, "2024-04-03", "3/4/2024", 0, 0),
        ("date", {}, "2024-04-03", "April 2024", 0, 0),
        ("date", {"day_first": True}, "2024-04-03", "2024-04-03", 1, 1),
        ("date", {}, "2024-04-03", "2024-04-03 17:30 XYZ", 1, 1),
        ("date", {}, "1975-04-03", "3 April 75", 1, 1),
        ("date", {}, "2024-04-03", "Wednesday", 0, 0),
        ("json", {}, {"a": 1, "b": 2}, '```json\n{"a": 1, "b": 3}\n```', 0, 0.5),
        ("json", {}, {"a": 1}, '{"a": 1}', 1, 1),
        ("json", {}, {"a": 1}, '{"a": 1, "c": 2}', 0, 0.5),
        ("json", {"fields": ["a"]}, {"a": 1}, '{"a": 1, "c": 2}', 1, 1),
        ("json", {}, {"a": 1}, "no json", 0, 0),
        ("json", {}, {"a": 1}, "[1]", 0, 0),
        ("json", {}, {"a": 1, "b": [True]}, '{"b": [true], "a": 1.0}', 1, 1),
        ("json", {}, {"a": 1, "b": [True]}, '{"a": true, "b": [1]}', 0, 0),
        ("json", {}, {"a": None}, "{}", 0, 0),
        ("json", {}, '{"a": {"b": 1}}', '{"a": {"b": 1}}', 1, 1),
        ("json", {}, [{"a": 1}, {"a": 2, "b": 3}], '{"a": 2, "b": 4}', 0, 0.5),
        ("contains", {}, ["x", "y"], "only Y", 1, 1),
        ("contains", {"ignore_case": False}, "x", "X", 0, 0),
        ("contains", {"all": True}, ["a1", "b2"], "b2 a1", 1, 1),
        ("choice", {}, ["a", "b"], "'B'", 1, 1),
        ("exact", {}, True, "true", 1, 1),
    ],
)
def test_a_score(kind: str, options: dict[str, Any], gold: Any, given: str, hard: float, soft: float) -> None:
    found = judge(gold, given, kind, **options)
    assert (found.hard, found.soft) == (hard, pytest.approx(soft))
    assert bool(found.reason) == (hard == 0)


@pytest.mark.parametrize(
    ("kind", "options", "gold", "given", "reason"),
    [
        ("exact", {}, "abc", "xyz", "expected 'abc', got 'xyz'"),
        ("exact", {}, ["a", 2], "xyz", "expected 'a' or '2', got 'xyz'"),
        ("exact", {}, "a", "x" * 400, f"expected 'a', got '{'x' * 300}…'"),
        ("regex", {"pattern": "secret+"}, None, "xyz", "expected an answer of another form, got 'xyz'"),
        ("regex", {"pattern": "secret+"}, "secrett", "xyz", "expected 'secrett', got 'xyz'"),
        ("choice", {"choices": ["a", "B"]}, "a", "c", "expected 'a', got 'c', which is none of: a, B"),
        ("choice", {"choices": ["a", "B"]}, "a", "b", "expected 'a', got 'b'"),
        ("contains", {"all": True}, ["a", "b"], "b", "expected all of 2 parts, got 'b', which lacks 'a'"),
        ("number", {}, 5, "five", "expected '5', got 'five', which is no number"),
        ("date", {}, "2024-04-03", "May", "expected '2024-04-03', got 'May', which is no full date"),
        ("json", {}, {"a": 1}, "x", """expected the JSON object {"a": 1}, got 'x', which is none"""),
        ("json", {}, {"a": 1, "b": 2}, '{"a": "1", "c": 3}',
         """a: expected 1, got "1"; b: expected 2, got nothing; c: not asked for"""),
    ],
)  # fmt: skip
def test_a_reason_shows_expected_and_given_but_never_a_pattern(
    kind: str, options: dict[str, Any], gold: Any, given: str, reason: str
) -> None:
    assert judge(gold, given, kind, **options).reason == reason


@pytest.mark.parametrize(
    "text", ["", "12 km", "1,23", "1,2345", "1.234,56", "0,123", "(-5)", "--5", "nan", "1e999", "1_0"]
)
def test_what_is_no_number(text: str) -> None:
    assert number.read(text) is None


@given(st.text())
def test_no_answer_breaks_a_judge(answer: str) -> None:
    made = [
        judges.make(JudgeSettings(kind=kind, **options))(Task("t", "q", gold), answer)
        for kind, options, gold in (
            ("exact", {}, "a"), ("normalized", {}, "a b"), ("contains", {"all": True}, ["a", "b"]),
            ("regex", {"pattern": "a+"}, None), ("choice", {"choices": ["a", "b"]}, "a"), ("number", {}, 3),
            ("date", {}, "2024-04-03"), ("date", {"day_first": True}, "2024-04-03"), ("json", {}, {"a": 1}),
        )
    ]  # fmt: skip
    assert all((m.hard, m.soft) == (1, 1) if m.hard else 0 <= m.soft <= 1 and m.reason for m in made)


@given(st.integers(-(10**9), 10**9), st.sampled_from([",", "\u202f", "'"]))
def test_a_number_with_separators_is_that_number(value: int, mark: str) -> None:
    assert number.read(f"{value:,}".replace(",", mark)) == number.Quantity(float(value))


@given(st.dates(date(1970, 1, 1)), st.booleans())
def test_a_date_is_read_back_in_any_form(day: date, day_first: bool) -> None:
    figures = day.strftime("%d/%m/%Y" if day_first else "%m/%d/%Y")
    long = f"{day:%A}, {day.day} {day:%B} {day.year:04}"
    assert [dates.read(text, day_first) for text in (day.isoformat(), figures, long)] == [day] * 3


SHARED = Path(__file__).parents[2] / "shared" / "benchdata" / "searchqa" / "scoring_cases.json"


@pytest.mark.skipif(not SHARED.is_file(), reason="the shared sample data is not here")
def test_the_normalized_judge_scores_as_the_reference_does() -> None:
    for case in json.loads(SHARED.read_text(encoding="utf-8")):
        found = judge(case["gold"], case["predicted"], "normalized")
        assert (found.hard, found.soft) == (case["em"], pytest.approx(case["f1"], abs=1e-6)), case


def test_a_python_judge_is_a_function_of_env_py() -> None:
    async def later(task: Task, answer: str) -> bool:
        return True

    env = types.SimpleNamespace(grade=lambda task, answer: (1, 0.5, "half"), later=later)
    task = Task("t", "q", "a")
    assert judges.make(JudgeSettings(kind="python", function="grade"), env)(task, "x") == Judgement(1.0, 0.5, "half")
    for name, said in (("missing", "no function 'missing'"), ("later", "must be a plain function, not async")):
        with pytest.raises(ConfigError, match=said):
            judges.make(JudgeSettings(kind="python", function=name), env)
    with pytest.raises(ConfigError, match=r"'judge\.function' is not set"):
        judges.make(JudgeSettings(kind="python"), env)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (True, Judgement(1, 1)),
        (0.7, Judgement(0, 0.7)),
        (1.0, Judgement(1, 1)),
        ((0, 0.9), Judgement(0, 0.9)),
        ((1, 0.5, "half"), Judgement(1, 0.5, "half")),
        ((False, 0.0, None), Judgement(0, 0)),
        (Judgement(1, 1, "x"), Judgement(1, 1, "x")),
        (Fraction(1, 2), Judgement(0, 0.5)),
    ],
)
def test_what_a_score_function_may_return(result: Any, expected: Judgement) -> None:
    assert judges.to_judgement(result, Task("t", "q")) == expected


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("good", "must be a number"),
        (None, "must be a number"),
        ((), "must be a number"),
        ((1, 1, "a", "b"), "must be a number"),
        (math.nan, "hard must be 0 or 1 and soft in 0..1, not 0.0 and nan"),
        (1.5, "not 1.0 and 1.5"),
        ((0.5, 0.5), "not 0.5 and 0.5"),
        ((1, -0.1), "not 1.0 and -0.1"),
        (Judgement(math.inf, 1), "not inf and 1.0"),
    ],
)
def test_a_score_that_is_none_stops_the_run(result: Any, said: str) -> None:
    with pytest.raises(TaskError, match=re.escape(said)):
        judges.to_judgement(result, Task("t", "q"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"kind": "exat"}, "did you mean 'exact'"),
        ({"kind": "x"}, "known here: exact, normalized"),
        ({"kind": "exact", "ignorecase": True}, "unknown setting 'judge.ignorecase'; did you mean 'ignore_case'?"),
        ({"kind": "exact", "ignore_case": "no"}, "judge.ignore_case: must be true or false (got 'no')"),
        ({"kind": "regex", "pattern": "a(b"}, "does not compile"),
        ({"kind": "regex", "pattern": ["0-9"]}, "judge.pattern: must be text (got ['0-9'])"),
        ({"kind": "regex"}, "needs either 'pattern' or 'field'"),
        ({"kind": "number", "tolerance": -1}, "judge 'number': judge.tolerance: must be at least 0 (got -1)"),
        ({"kind": "number", "tolerance": "1"}, "judge.tolerance: must be a number (got '1')"),
    ],
)
def test_a_broken_judge_is_refused_when_it_is_made(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        judges.make(JudgeSettings(**settings))
    assert said in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("settings", "task", "said"),
    [
        ({"kind": "number"}, Task("bad", "q", "five"), "fails the reference answer of task 'bad'"),
        ({"kind": "exact"}, Task("bad", "q"), "task 'bad' has no answer to judge by"),
        ({"kind": "exact"}, Task("bad", "q", []), "task 'bad' has no answer to judge by"),
        ({"kind": "exact"}, Task("bad", "q", ["a", ""]), "passes an empty answer to task 'bad'"),
        ({"kind": "normalized"}, Task("bad", "q", "The"), "passes an empty answer to task 'bad'"),
        ({"kind": "regex", "pattern": "a*"}, Task("bad", "q"), "passes an empty answer to task 'bad'"),
        (
            {"kind": "regex", "field": "p"},
            Task("bad", "q", fields={"p": "a("}),
            "task 'bad', field 'p': the pattern 'a('",
        ),
        ({"kind": "regex", "field": "p"}, Task("bad", "q"), "task 'bad', field 'p': the pattern is empty"),
        (
            {"kind": "choice", "choices": ["a"]},
            Task("bad", "q", "b"),
            "task 'bad': the answer 'b' is not one of the choices",
        ),
        ({"kind": "choice"}, Task("bad", "q", "b", fields={"choices": "a,b"}), "must be a list of labels, not 'a,b'"),
        ({"kind": "json"}, Task("bad", "q", "x"), "task 'bad': the answer must be a JSON object"),
    ],
)
def test_the_check_names_the_task_that_a_judge_cannot_judge(settings: dict[str, Any], task: Task, said: str) -> None:
    with pytest.raises((ConfigError, TaskError), match=re.escape(said)):
        judges.check(judges.make(JudgeSettings(**settings)), [task])


def test_the_check_passes_what_can_be_judged() -> None:
    own = Task("t", "q", ["x", "X!"], fields={"p": "[xX]!?", "choices": ["x", "x!"]})
    for settings in ({"kind": "exact"}, {"kind": "normalized"}, {"kind": "choice"}, {"kind": "regex", "field": "p"}):
        judges.check(judges.make(JudgeSettings(**settings)), [own])
    judges.check(judges.make(JudgeSettings(kind="regex", pattern="a")), [Task("t", "q")])


@pytest.mark.parametrize(
    ("settings", "output", "answer", "missing"),
    [
        ({}, " all of it ", "all of it", ""),
        ({"extract": "answer_tag"}, "<answer>1</answer> no: <ANSWER>\n2 </ANSWER>.", "2", ""),
        ({"extract": "answer_tag"}, "42", "", "the reply has no <answer> tag"),
        ({"extract": "answer_tag"}, "I write <answer>x then <answer>y</answer>", "y", ""),
        ({"extract": "answer_tag"}, "\u0130\u0130 <ANSWER>y</Answer>\u0130", "y", ""),
        ({"extract": "answer_tag"}, "</answer> <answer>4", "", "the reply has no <answer> tag"),
        ({"extract": "answer_tag"}, "<answer>4", "", "the reply opens an <answer> tag and does not close it"),
        ({"extract": "answer_tag"}, "<answer> </answer>", "", "the <answer> tag is empty"),
        ({}, " \n", "", "the reply is empty"),
        ({"extract": "answer_tag_or_line"}, "<answer>1</answer>\nso", "1", ""),
        ({"extract": "answer_tag_or_line"}, "<answer></answer>\nso", "", "the <answer> tag is empty"),
        ({"extract": "answer_tag_or_line"}, "so\n2 ", "2", "the reply has no <answer> tag; its last line was taken"),
        ({"extract": "answer_tag_or_line"}, "\n", "", "the reply is empty"),
        ({"extract": "last_line"}, "\n", "", "the reply is empty"),
        ({"extract": "regex", "pattern": "a(b)?"}, "ab a", "", ""),
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
