"""Text that a candidate has from train tasks or their answers: it helps these tasks, and no other. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from skillgit.splits import Task

WORD = re.compile(r"\w+")
ANSWER_WORDS = 3
ANSWER_CHARS = 12
"""A whole reference answer counts as copied from so many words, or so many letters and digits, on."""
SHARED = 0.1
"""What stands in more than this share of the tasks (and in three at least) is their common wording, no copy of one."""


@dataclass(frozen=True, slots=True)
class Copied:
    """A span of the candidate that a task or its answer has too, as its words in lower case."""

    task_id: str
    text: str

    def as_dict(self) -> dict[str, str]:
        return {"task": self.task_id, "text": self.text}


def copied(before: str, after: str, tasks: Sequence[Task], words: int) -> tuple[Copied, ...]:
    """What ``after`` has and ``before`` has not, and a task has too: the longest span of each task, of ``words`` at least.

    A whole answer that only one task has may be shorter.
    """
    new = set(_grams(_words(after), words)) - set(_grams(_words(before), words))
    found = {task.id: _spans(_words(_text(task)), new, words) for task in tasks} if new else {}
    most = max(2, SHARED * len(tasks))
    counts = Counter(gram for spans in found.values() for span in spans for gram in set(_grams(span, words)))
    rare = {
        task_id: [span for span in spans if any(counts[gram] <= most for gram in _grams(span, words))]
        for task_id, spans in found.items()
    }
    answers = dict(_answers(_padded(before), _padded(after), tasks))
    best = {task_id: " ".join(_longest(spans)) for task_id, spans in rare.items() if spans}
    texts = {task.id: best.get(task.id) or answers.get(task.id) for task in tasks}
    return tuple(Copied(task_id, text) for task_id, text in texts.items() if text)


def _words(text: str) -> list[str]:
    return WORD.findall(text.casefold())


def _padded(text: str) -> str:
    return f" {' '.join(_words(text))} "


def _grams(words: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    return (tuple(words[start : start + size]) for start in range(len(words) - size + 1))


def _spans(words: list[str], new: set[tuple[str, ...]], size: int) -> list[list[str]]:
    """The runs of words all of whose grams are new in the candidate."""
    spans: list[list[str]] = []
    last = -1
    for start, gram in enumerate(_grams(words, size)):
        if gram not in new:
            continue
        if spans and start == last + 1:
            spans[-1].append(words[start + size - 1])
        else:
            spans.append(list(gram))
        last = start
    return spans


def _longest(spans: list[list[str]]) -> list[str]:
    return max(spans, key=len)


def _text(task: Task) -> str:
    return "\n".join(
        [task.input, *_texts(task.answer), *(text for value in task.fields.values() for text in _texts(value))]
    )


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _answers(before: str, after: str, tasks: Sequence[Task]) -> Iterator[tuple[str, str]]:
    """Whole answers that the candidate names now and that are one task's alone."""
    given = [(task.id, answer) for task in tasks for answer in dict.fromkeys(map(_padded, _texts(task.answer)))]
    owners = Counter(answer for _, answer in given)
    for task_id, answer in given:
        long = answer.count(" ") > ANSWER_WORDS or len(answer.replace(" ", "")) >= ANSWER_CHARS
        if long and owners[answer] == 1 and answer in after and answer not in before:
            yield task_id, answer.strip()
