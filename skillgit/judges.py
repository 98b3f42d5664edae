"""Judges: ways to score an answer, each giving hard (0 or 1) and soft (0..1) and a reason for a failure.

A judge is a class with keyword options and ``__call__(task, answer)``. Adding one is a class and a row in ``JUDGES``. The
reason names what was expected and what came; it never shows a judge's source, because the optimizer reads it.
"""

from __future__ import annotations

import difflib
import json
import math
import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from skillgit.config import AnswerSettings, JudgeSettings
from skillgit.errors import ConfigError, TaskError
from skillgit.splits import Task


@dataclass(frozen=True, slots=True)
class Judgement:
    """A score: hard is 0 or 1, soft in 0..1; ``reason`` says why an answer failed."""

    hard: float
    soft: float
    reason: str = ""


class Judge(Protocol):
    """Scores the answer to a task."""

    def __call__(self, task: Task, answer: str) -> Judgement: ...


def references(task: Task) -> list[str]:
    """The acceptable answers of a task as text; a list means any of them."""
    answer = task.answer
    values = answer if isinstance(answer, (list, tuple)) else [answer]
    return [_text(value) for value in values if value is not None]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _verdict(hit: bool, task: Task, answer: str, soft: float | None = None) -> Judgement:
    if hit:
        return Judgement(1.0, 1.0)
    wanted = " or ".join(repr(reference) for reference in references(task)[:3])
    return Judgement(0.0, soft or 0.0, f"expected {wanted}, got {_clip(answer)!r}")


def _clip(text: str, most: int = 300) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


class Exact:
    """Equal to a reference after trimming white space at both ends; ``ignore_case`` folds case."""

    def __init__(self, ignore_case: bool = False) -> None:
        self._fold = str.casefold if ignore_case else str

    def __call__(self, task: Task, answer: str) -> Judgement:
        got = self._fold(answer.strip())
        return _verdict(any(got == self._fold(r.strip()) for r in references(task)), task, answer)


class Normalized:
    """SQuAD's exact match and token F1: lower case, no ASCII punctuation, no articles, single spaces.

    Rajpurkar et al. 2016, https://arxiv.org/abs/1606.05250. Hard is EM, soft the best F1 over the references.
    """

    def __call__(self, task: Task, answer: str) -> Judgement:
        got = normalize(answer)
        golds = [normalize(reference) for reference in references(task)]
        return _verdict(got in golds, task, answer, max((token_f1(got, gold) for gold in golds), default=0.0))


def normalize(text: str) -> str:
    """SQuAD's normal form of an answer."""
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def token_f1(one: str, other: str) -> float:
    """F1 of the two token multisets, 0..1; 1 when both are empty."""
    first, second = one.split(), other.split()
    if not first or not second:
        return float(first == second)
    common = sum((Counter(first) & Counter(second)).values())
    return 2 * common / (len(first) + len(second))


class Contains:
    """Holds a reference; soft is the share of references it holds. ``all`` demands every one of them."""

    def __init__(self, ignore_case: bool = True, all: bool = False) -> None:
        self._fold = str.casefold if ignore_case else str
        self._all = all

    def __call__(self, task: Task, answer: str) -> Judgement:
        got = self._fold(answer)
        held = [self._fold(reference.strip()) in got for reference in references(task) if reference.strip()]
        hit = bool(held) and (all(held) if self._all else any(held))
        return _verdict(hit, task, answer, sum(held) / max(1, len(held)))


class Regex:
    """Matches ``pattern``, or the task's own in the field ``field``."""

    def __init__(self, pattern: str = "", field: str = "", full: bool = False) -> None:
        if bool(pattern) == bool(field):
            raise ConfigError("judge regex needs either 'pattern' or 'field' (the task field that holds the pattern)")
        self._pattern = compiled(pattern) if pattern else None
        self._field = field
        self._full = full

    def __call__(self, task: Task, answer: str) -> Judgement:
        pattern = self._pattern or compiled(str(task.fields.get(self._field) or ""))
        found = pattern.fullmatch(answer.strip()) if self._full else pattern.search(answer)
        if found:
            return Judgement(1.0, 1.0)
        return Judgement(0.0, 0.0, f"the answer {_clip(answer)!r} does not have the required form")


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, or ConfigError when it does not compile or matches anything."""
    if not pattern:
        raise ConfigError("the pattern is empty; it would match every answer")
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"the pattern {pattern!r} does not compile: {error}") from None


class Choice:
    """The same label of a closed set: ``choices``, or the task's own in the field ``field``. Case and brackets do not count."""

    def __init__(self, choices: Sequence[str] = (), field: str = "choices") -> None:
        self._choices = [str(choice) for choice in choices]
        self._field = field

    def __call__(self, task: Task, answer: str) -> Judgement:
        own = task.fields.get(self._field) or ()
        known = {_label(str(choice)) for choice in (*self._choices, *own, *references(task))}
        got = _label(answer)
        if got not in known:
            shown = ", ".join(sorted(known))
            wanted = " or ".join(references(task))
            return Judgement(0.0, 0.0, f"expected {wanted!r}, got {_clip(answer)!r}, which is none of: {shown}")
        return _verdict(got in {_label(reference) for reference in references(task)}, task, answer)


def _label(text: str) -> str:
    return text.strip().strip("()[]{}.:,;*`'\" ").casefold()


class Number:
    """Equal to a reference number within ``tolerance`` (absolute) or ``relative``; soft falls with the relative error.

    Thousands separators, a percent sign, the Unicode minus and accounting negatives ``(12)`` are understood.
    """

    def __init__(self, tolerance: float = 1e-9, relative: float = 0.0) -> None:
        if tolerance < 0 or relative < 0:
            raise ConfigError("judge number: tolerance and relative must not be negative")
        self._tolerance = tolerance
        self._relative = relative

    def __call__(self, task: Task, answer: str) -> Judgement:
        got = to_number(answer)
        golds = [gold for gold in map(to_number, references(task)) if gold is not None]
        if got is None:
            return Judgement(0.0, 0.0, f"expected a number like {references(task)[0]}, got {_clip(answer)!r}")
        if any(abs(got - gold) <= max(self._tolerance, self._relative * abs(gold)) for gold in golds):
            return Judgement(1.0, 1.0)
        error = min((abs(got - gold) / max(abs(gold), 1e-12) for gold in golds), default=math.inf)
        return _verdict(False, task, answer, max(0.0, 1 - error) * 0.999)


def to_number(text: str) -> float | None:
    """The number that a text is, or None; the text must hold nothing else but a currency or percent sign."""
    bare = text.strip().strip("$€£%").strip().replace("−", "-")
    negative = bare.startswith("(") and bare.endswith(")")
    bare = re.sub(r"(?<=\d)[,\u00a0\u202f' ](?=\d{3}(?!\d))", "", bare.strip("()").strip("$€£%").strip())
    try:
        value = float(bare)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return -value if negative else value


class Date:
    """The same day as a reference, however it is written; ``day_first`` reads 3/4 as the third of April."""

    def __init__(self, day_first: bool = False) -> None:
        self._day_first = day_first

    def __call__(self, task: Task, answer: str) -> Judgement:
        got = self._day(answer)
        if got is None:
            return Judgement(0.0, 0.0, f"expected the date {references(task)[0]}, got {_clip(answer)!r}")
        return _verdict(got in [self._day(reference) for reference in references(task)], task, answer)

    def _day(self, text: str) -> Any:
        from dateutil import parser

        # a year in front settles the order; and a part that is missing must not be filled in from today
        day_first = self._day_first and not re.match(r"\s*\d{4}\b", text)
        try:
            days = {parser.parse(text.strip(), dayfirst=day_first, default=default).date() for default in _DEFAULTS}
        except (ValueError, OverflowError):
            return None
        return days.pop() if len(days) == 1 else None


_DEFAULTS = (datetime(2000, 1, 1), datetime(2004, 2, 2))


class Json:
    """A JSON object with the reference's fields; soft is the share of fields that agree. ``fields`` limits which count."""

    def __init__(self, fields: Sequence[str] = ()) -> None:
        self._fields = list(fields)

    def __call__(self, task: Task, answer: str) -> Judgement:
        gold = task.answer if isinstance(task.answer, Mapping) else _loads(str(task.answer))
        got = _loads(_unfenced(answer))
        if not isinstance(gold, Mapping):
            raise TaskError(f"task '{task.id}': the answer must be a JSON object for the judge json")
        if not isinstance(got, Mapping):
            return Judgement(0.0, 0.0, f"expected a JSON object, got {_clip(answer)!r}")
        names = self._fields or list(gold)
        wrong = [name for name in names if got.get(name) != gold.get(name)]
        extra = [] if self._fields else [name for name in got if name not in gold]
        if not wrong and not extra:
            return Judgement(1.0, 1.0)
        shown = [f"{name}: expected {gold.get(name)!r}, got {got.get(name)!r}" for name in wrong]
        shown += [f"{name}: not asked for" for name in extra]
        return Judgement(0.0, (len(names) - len(wrong)) / (len(names) + len(extra)), "; ".join(shown))


def _unfenced(text: str) -> str:
    match = re.fullmatch(r"\s*```[^\n]*\n(.*?)\n?```\s*", text, re.DOTALL)
    return match[1] if match else text


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


class Python:
    """A function of env.py: ``function(task, answer)`` gives bool, float, (hard, soft) or (hard, soft, reason)."""

    def __init__(self, function: str, env: Any = None) -> None:
        self._name = function
        self._function = getattr(env, function, None)
        if not callable(self._function):
            raise ConfigError(f"judge python: env.py has no function '{function}'")

    def __call__(self, task: Task, answer: str) -> Judgement:
        from skillgit.env_file import calling

        with calling(f"judge {self._name}", task.id):
            return to_judgement(self._function(task, answer), task)  # type: ignore[misc]


def to_judgement(result: Any, task: Task) -> Judgement:
    """What a score function returned, as a judgement."""
    if isinstance(result, Judgement):
        return result
    parts = list(result) if isinstance(result, (tuple, list)) else [result]
    if not parts or len(parts) > 3 or not all(isinstance(part, (int, float)) for part in parts[:2]):
        raise TaskError(
            f"task '{task.id}': a score must be a number, (hard, soft) or (hard, soft, reason), not {result!r}"
        )
    hard = float(parts[0])
    soft = float(parts[1]) if len(parts) > 1 else hard
    return Judgement(float(hard >= 1) if len(parts) == 1 else hard, soft, str(parts[2]) if len(parts) > 2 else "")


JUDGES: dict[str, Callable[..., Judge]] = {
    "exact": Exact,
    "normalized": Normalized,
    "contains": Contains,
    "regex": Regex,
    "choice": Choice,
    "number": Number,
    "date": Date,
    "json": Json,
    "python": Python,
}


def make(settings: JudgeSettings, env: Any = None) -> Judge:
    """The judge of these settings; ConfigError names an unknown kind or option."""
    factory = JUDGES.get(settings.kind)
    if factory is None:
        near = difflib.get_close_matches(settings.kind, JUDGES, n=1)
        tail = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(JUDGES)}"
        raise ConfigError(f"judge.kind: there is no judge '{settings.kind}'; {tail}")
    options = settings.options | ({"env": env} if settings.kind == "python" else {})
    import inspect

    known = [name for name in inspect.signature(factory).parameters if name != "env"]
    for name in settings.options:
        if name not in known:
            raise ConfigError(f"judge.{name}: judge '{settings.kind}' has no such option; known: {', '.join(known)}")
    try:
        return factory(**options)
    except TypeError as error:
        raise ConfigError(f"judge '{settings.kind}': {error}") from None


def check(judge: Judge, tasks: Iterable[Task]) -> None:
    """Raise ConfigError when a reference answer fails its own judge, or an empty answer passes."""
    for task in tasks:
        if judge(task, "").hard > 0:
            raise ConfigError(f"the judge passes an empty answer to task '{task.id}'; it would measure nothing")
        for reference in references(task):
            judgement = judge(task, reference)
            if judgement.hard < 1:
                raise ConfigError(
                    f"the judge fails the reference answer of task '{task.id}': {judgement.reason}",
                    hint="mend the judge or the task; a broken judge would look like a bad skill",
                )


def extract(settings: AnswerSettings, output: str) -> tuple[str, str]:
    """(answer, what was missing): the whole output, its last ``<answer>`` tag, its last line, or a pattern's last match."""
    if settings.extract == "answer_tag":
        found = re.findall(r"<answer>(.*?)</answer>", output, re.DOTALL | re.IGNORECASE)
        return (found[-1].strip(), "") if found else ("", "the reply has no <answer> tag")
    if settings.extract == "last_line":
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        return (lines[-1], "") if lines else ("", "the reply is empty")
    if settings.extract == "regex":
        matches = list(compiled(settings.pattern).finditer(output))
        if not matches:
            return "", "the reply does not have the form the answer is taken from"
        return (matches[-1][1] if matches[-1].re.groups else matches[-1][0]).strip(), ""
    return output.strip(), ""
