"""Whether a training with these tasks could be trusted: ``skillgit tasks check``."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from skillgit import looks
from skillgit.errors import UsageError
from skillgit.plan import total_steps
from skillgit.splits import SPLITS, Task, asked, part
from skillgit.taskset.finding import Finding, error, warning
from skillgit.taskset.judging import judge_findings, try_judge
from skillgit.taskset.near import near_pairs
from skillgit.taskset.sight import Sight, sight

if TYPE_CHECKING:
    from skillgit.env import Environment

Parts = Mapping[str, Sequence[Task]]
COARSE = 0.25
LOPSIDED = 0.8
FEW_TO_COUNT = 10
SMALL_TEST = 30
MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class TasksReport:
    """What a check found. ``answers`` and ``types`` count, for each split, what its tasks ask for.

    ``gate`` says what the gate sees at the first and the last look of a run, ``test_margin`` half the 95 % interval of a test
    score at its widest (both 0..1).
    """

    skill: str
    tasks: int
    splits: dict[str, int]
    answers: dict[str, dict[str, Any]]
    types: dict[str, dict[str, int]]
    judge: dict[str, Any]
    gate: dict[str, Any]
    test_margin: float | None
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        return not any(finding.severity == "error" for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "sound": self.sound}


def check(env: Environment, *, noise: float = 0.1) -> TasksReport:
    """Look at everything about the tasks that can be known before a model is asked.

    ``noise`` is the share (0..0.5) of tasks that come out differently when one skill is evaluated twice. Raises TaskError
    where the tasks cannot even be read.
    """
    settings, tasks = env.settings, env.tasks()
    parts = part(tasks, settings.split.ratio, settings.split.seed)
    tried = try_judge(env, tasks)
    answers = {name: [_answer(env, task) for task in parts[name]] for name in SPLITS}
    steps = total_steps(settings, max(1, len(parts["train"])))
    seen = _sights(env, len(parts["selection"]), steps, noise)
    findings = chain(
        _sizes(env, parts),
        _prompt(env),
        _repeats(parts, env),
        _near(parts),
        judge_findings(tried),
        _balance(answers, parts),
        _unseen("type", {name: [task.type for task in parts[name]] for name in SPLITS}, parts),
        _gate(env, len(parts["selection"]), seen, noise),
    )
    n_test = len(parts["test"])
    return TasksReport(
        skill=env.name,
        tasks=len(tasks),
        splits={name: len(parts[name]) for name in SPLITS},
        answers={name: _counted(answers[name]) for name in SPLITS},
        types={name: dict(Counter(task.type for task in parts[name] if task.type).most_common()) for name in SPLITS},
        judge={"kind": settings.judge.kind, **tried.as_dict()},
        gate={
            "policy": settings.gate.policy,
            "repeats": settings.gate.repeats,
            "noise": noise,
            "looks": steps,
            **{name: asdict(found) for name, found in seen.items()},
        },
        test_margin=round(_margin(n_test), 4) if n_test else None,
        findings=tuple(sorted(findings, key=lambda finding: finding.severity)),
    )


def _sizes(env: Environment, parts: Parts) -> Iterator[Finding]:
    least = {"train": 1, "selection": env.settings.gate.min_items, "test": 1}
    for name in SPLITS:
        count = len(parts[name])
        if count < least[name]:
            yield error("too-few", f"the {name} split has {count} tasks; it needs at least {least[name]}")
        elif name == "test" and count < SMALL_TEST:
            yield warning(
                "small-test", f"{count} test tasks: the last score is known to ±{100 * _margin(count):.0f} points"
            )


def _margin(count: int) -> float:
    return 1.96 * math.sqrt(0.25 / count)


def _prompt(env: Environment) -> Iterator[Finding]:
    try:
        env.check_prompt()
    except UsageError as problem:
        yield error("prompt", problem.message)


def _repeats(parts: Parts, env: Environment) -> Iterator[Finding]:
    every = [(task, name) for name in SPLITS for task in parts[name]]
    for task_id, count in Counter(task.id for task, _ in every).items():
        if count > 1:
            yield error("same-id", f"the id {task_id} stands {count} times", [task_id])
    same: defaultdict[str, list[tuple[Task, str]]] = defaultdict(list)
    for task, name in every:
        same[asked(task)].append((task, name))
    for group in (group for group in same.values() if len(group) > 1):
        ids = [task.id for task, _ in group]
        splits = {name for _, name in group}
        shown = ", ".join(f"{task.id} ({name})" for task, name in group[:3])
        if len(splits) > 1:
            yield error("overlap", f"the same question in {_and(splits)}: {shown}", ids)
        if len({_answer(env, task) for task, _ in group}) > 1:
            yield error("contradiction", f"the same question with different answers: {shown}", ids)
        elif len(splits) == 1:
            yield warning("duplicate", f"the same question {len(group)} times: {shown}", ids)


def _near(parts: Parts) -> Iterator[Finding]:
    every = [(task, name) for name in SPLITS for task in parts[name]]
    pairs = near_pairs([_text(task) for task, _ in every], [name for _, name in every])
    found = [pair for pair in pairs if asked(every[pair[0]][0]) != asked(every[pair[1]][0])]
    if found:
        one, other, share = max(found, key=lambda pair: pair[2])
        shown = " and ".join(f"{task.id} ({name})" for task, name in (every[one], every[other]))
        yield warning(
            "near-overlap",
            f"{len(found)} pair{'s'[: len(found) != 1]} of nearly equal texts in two splits, such as {shown}: {share:.0%} alike",
            dict.fromkeys(every[place][0].id for pair in found for place in pair[:2]),
        )


def _text(task: Task) -> str:
    fields = [value for value in task.fields.values() if isinstance(value, str)]
    return "\n".join([task.input, *fields])


def _answer(env: Environment, task: Task) -> str:
    """A task's answer as a label, "" where it has none."""
    golds = env.golds(task)
    return " | ".join(" ".join(gold.split()).casefold() for gold in golds) if golds else ""


def _counted(answers: Sequence[str]) -> dict[str, Any]:
    counts = Counter(answer for answer in answers if answer)
    top = counts.most_common(1)[0][1] if counts else 0
    return {
        "distinct": len(counts),
        "top_share": round(top / len(answers), 4) if answers else 0.0,
        "counts": dict(counts.most_common(MOST_SHOWN)),
    }


def _balance(answers: Mapping[str, Sequence[str]], parts: Parts) -> Iterator[Finding]:
    for name, found in answers.items():
        if len(found) < 2 or not all(found):
            continue
        answer, count = Counter(found).most_common(1)[0]
        ids = [task.id for task, own in zip(parts[name], found, strict=True) if own == answer]
        if count == len(found):
            yield error(
                "one-answer", f"every {name} task has the answer '{_short(answer)}'; always saying it solves all", ids
            )
        elif len(found) >= FEW_TO_COUNT and count > LOPSIDED * len(found):
            yield warning("lopsided", f"{count} of {len(found)} {name} tasks have the answer '{_short(answer)}'", ids)
    every = [answer for found in answers.values() for answer in found]
    if len(every) >= FEW_TO_COUNT and len(set(every)) <= len(every) / 4:  # a closed set of labels
        yield from _unseen("answer", answers, parts)


def _unseen(what: str, values: Mapping[str, Sequence[str]], parts: Parts) -> Iterator[Finding]:
    """Labels or types of which training sees none."""
    known = {*values["train"], ""}
    for name in SPLITS[1:]:
        new = {value for value in values[name] if value not in known}
        if new:
            ids = [task.id for task, value in zip(parts[name], values[name], strict=True) if value in new]
            shown = ", ".join(f"'{_short(value)}'" for value in sorted(new)[:5])
            yield warning(f"unseen-{what}", f"no train task has the {what} of {len(ids)} {name} tasks: {shown}", ids)


def _sights(env: Environment, selection: int, steps: int, noise: float) -> dict[str, Sight]:
    gate = env.settings.gate
    numbers = {"first": 1, **({"last": steps} if gate.policy == "paired" and steps > 1 else {})}
    return {
        name: sight(gate, selection, level=looks.level(gate.alpha, look, steps), noise=noise)
        for name, look in numbers.items()
    }


def _gate(env: Environment, selection: int, seen: Mapping[str, Sight], noise: float) -> Iterator[Finding]:
    gate = env.settings.gate
    if gate.policy == "off":
        yield warning("open-gate", "gate.policy: off accepts every edit, good or bad")
        return
    if selection < gate.min_items:
        return
    for name, found in seen.items():
        where = f" at the {name} look" if len(seen) > 1 else ""
        if found.gain is None and sight(gate, selection, level=found.level or 1.0, noise=0.0).gain is None:
            yield error(
                "blind-gate", f"{gate.policy} can accept nothing{where}, even if all {selection} tasks were solved"
            )
        elif found.gain is None:
            yield warning(
                "blind-gate", f"{gate.policy} accepts no edit{where} in 4 of 5 cases, if {noise:.0%} of tasks are noisy"
            )
        elif found.gain > COARSE:
            yield warning(
                "coarse-gate",
                f"only a gain of {100 * found.gain:.0f} points is seen{where} with {selection} selection tasks",
            )


def _and(names: Iterable[str]) -> str:
    return " and ".join(name for name in SPLITS if name in set(names))


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}…"
