"""LiveMathematicianBench: shuffled options, and two readings of a label for ``judge.function``."""

from __future__ import annotations

import hashlib
import random
import string
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from skillgit.env import Environment
from skillgit.errors import TaskError
from skillgit.judges.base import PASSED, Judgement, clipped
from skillgit.splits import Task

from .labels import Options, lenient_label, reference_label

META = "One of the remaining options is correct, but a stronger result can be proven."
Choice = dict[str, str]


def tasks(env: Environment) -> list[Task]:
    """The questions with their options in the order shown, and the right label as the answer."""
    options = env.settings.options
    found = [_shown(task, options) for task in env.file_tasks()]
    return [task for task in found if not options.get("drop_meta_option") or _right(task) != META]


def _right(task: Task) -> str:
    return str(task.fields["options"][task.answer])


def _shown(task: Task, options: Mapping[str, Any]) -> Task:
    choices = _choices(task)
    if options.get("shuffle_choices", True):
        choices = shuffled(choices, f"{options.get('shuffle_seed', 42)}:{task.id}")
    labels = dict(zip((choice["label"] for choice in choices), string.ascii_uppercase, strict=False))
    shown = {labels[choice["label"]]: choice["text"] for choice in choices}
    parts = [task.input, "\n".join(f"{label}. {text}" for label, text in shown.items())]
    parts += [
        f"{title}:\n{task.fields[name]}"
        for name, title in (("theorem", "Theorem"), ("sketch", "Sketch of the proof"))
        if options.get(f"use_{name}") and task.fields.get(name)
    ]
    fields = {"options": shown, "weaker": labels.get(task.fields.get("weaker") or "", "")}
    return replace(task, input="\n\n".join(parts), answer=labels[task.answer], fields=fields)


def _choices(task: Task) -> list[Choice]:
    choices = task.fields.get("choices")
    sound = isinstance(choices, list) and all(isinstance(c, dict) and c.keys() >= {"label", "text"} for c in choices)
    if not sound or task.answer not in [choice["label"] for choice in choices or ()]:
        raise TaskError(f"task '{task.id}' needs choices, a list of {{label, text}}, and a label of them as its answer")
    if len(choices or ()) > len(string.ascii_uppercase):
        raise TaskError(f"task '{task.id}' has {len(choices or ())} options; there are labels for 26")
    return list(choices or ())


def shuffled(choices: list[Choice], seed: str) -> list[Choice]:
    """In the paper's order for ``SEED:ID``: without it, A would always be right."""
    mixed = list(choices)
    random.Random(int(hashlib.sha256(seed.encode()).hexdigest()[:16], 16)).shuffle(mixed)
    return mixed


def reference(task: Task, answer: str) -> Judgement:
    return _judged(task, answer, reference_label)


def lenient(task: Task, answer: str) -> Judgement:
    return _judged(task, answer, lenient_label)


def _judged(task: Task, answer: str, read: Callable[[str, Options], str]) -> Judgement:
    options = task.fields["options"]
    label = read(answer, options)
    if label == task.answer:
        return PASSED
    got = f"'{label}' ({clipped(options[label])})" if label in options else repr(clipped(answer))
    note = _near_miss(task, answer, label)
    wanted = f"expected '{task.answer}' ({clipped(_right(task))}), got {got}"
    return Judgement(0.0, 0.0, f"{wanted}, {note}" if note else wanted)


def _near_miss(task: Task, answer: str, label: str) -> str:
    if label == task.fields["weaker"] and label:
        return "which is true, but weaker"
    if label in task.fields["options"]:
        return ""
    meant = lenient_label(answer, task.fields["options"])
    return "which means the right option, but is no label" if meant == task.answer else "which is no label"
