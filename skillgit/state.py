"""Where a training stands: a fold over its journal entries.

The loop and a resumed run get their state from the same function, ``advance``, so that a killed run goes on as if nothing had
happened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from skillgit import looks
from skillgit.gate import Item, Scores
from skillgit.record import buffer_entry, rejection
from skillgit.rollout import Text
from skillgit.scores import parse_line
from skillgit.yamltext import dump, load

ACCEPTED = frozenset({"accept", "accept_new_best", "forced"})
REMEMBERED = 20
"""Rejections of the current text from earlier epochs and runs that reflection is shown."""


@dataclass(frozen=True, slots=True)
class Version:
    """A version of the skill with its selection scores and the step that made it (0: the initial one)."""

    commit: str
    text: Text
    scores: Scores
    step: int = 0

    def as_dict(self) -> dict[str, Any]:
        return {
            "commit": self.commit,
            "blob": self.text.blob,
            "hard": round(self.scores.hard, 6),
            "soft": round(self.scores.soft, 6),
            "n": self.scores.n_scored,
            "step": self.step,
        }


@dataclass(frozen=True, slots=True)
class Entry:
    """One journal entry: the record, and the documents that belong to it.

    ``scores`` holds the note lines of the whole evaluation of ``candidate``; ``patch`` one mapping a proposed edit.
    ``best`` and ``best_scores`` are there when a run starts with a best skill that is not its first text.
    """

    record: Mapping[str, Any]
    config: str
    candidate: str = ""
    patch: Sequence[Mapping[str, Any]] = ()
    meta: str = ""
    scores: str = ""
    spend: Mapping[str, Any] = field(default_factory=dict)
    best: str = ""
    best_scores: str = ""

    def files(self) -> dict[str, str]:
        """The tree of the journal commit."""
        return {
            "record.yaml": dump(self.record),
            "config.yaml": self.config,
            "candidate.md": self.candidate,
            "patch.yaml": dump(list(self.patch)),
            "meta.md": self.meta,
            "scores.jsonl": self.scores,
            "spend.yaml": dump(self.spend),
            **({"best.md": self.best, "best.jsonl": self.best_scores} if self.best else {}),
        }

    @classmethod
    def read(cls, file: Callable[[str], str]) -> Entry:
        """The entry whose files ``file(name)`` returns ("" for a missing one)."""
        return cls(
            record=load(file("record.yaml")) or {},
            config=file("config.yaml"),
            candidate=file("candidate.md"),
            patch=load(file("patch.yaml")) or [],
            meta=file("meta.md"),
            scores=file("scores.jsonl"),
            spend=load(file("spend.yaml")) or {},
            best=file("best.md"),
            best_scores=file("best.jsonl"),
        )


@dataclass(frozen=True, slots=True)
class State:
    """What the next step starts from.

    ``step`` and ``epoch`` count what is finished. ``previous`` is the skill at the end of the previous epoch, ``buffer``
    what this epoch's steps tried so far, ``rejections`` what this run tried in vain on the current text. ``looks`` counts
    the gate's verdicts in this run, ``spent`` is what they used up of its alpha.
    """

    run: int
    epoch: int
    step: int
    initial: Version
    current: Version
    best: Version
    previous: Version
    meta: str = ""
    buffer: tuple[Mapping[str, Any], ...] = ()
    rejections: tuple[Mapping[str, Any], ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    looks: int = 0
    spent: float = 0.0
    test: Mapping[str, Any] = field(default_factory=dict)
    finished: bool = False


def advance(state: State | None, entry: Entry) -> State:
    """The state after a journal entry."""
    record = entry.record
    if record["kind"] == "baseline":
        return _after_baseline(state, entry)
    assert state is not None, "a run begins with its baseline"
    if record["kind"] == "final":
        return replace(state, best=_best(state, state.current, record), test=record["test"], finished=True)
    state = _looked(_moved(state, entry), record)
    if record["kind"] == "patch":
        return state
    state = replace(state, counts=_counted(state.counts, record["action"]))
    if record["kind"] == "epoch":
        return replace(state, epoch=record["epoch"], previous=state.current, meta=entry.meta, buffer=())
    return replace(state, step=record["step"], buffer=(*state.buffer, buffer_entry(record, entry.patch)))


def _after_baseline(state: State | None, entry: Entry) -> State:
    record = entry.record
    version = _version(entry, record["step"])
    if state is not None:  # a person moved the branch
        return _at(state, version, record)
    best, kept = version, record["best"]
    if kept["commit"] != version.commit:
        scores = scores_of(entry.best_scores)
        best = Version(kept["commit"], Text(kept["blob"], entry.best), scores, kept["step"])
    return State(record["run"], 0, 0, version, version, best, version)


def _moved(state: State, entry: Entry) -> State:
    record = entry.record
    if record["action"] == "reject":
        return replace(state, rejections=(*state.rejections, rejection(record, entry.patch))[-REMEMBERED:])
    if record["action"] not in ACCEPTED:
        return state
    version = _version(entry, record["step"])
    return _at(state, version, record)


def _at(state: State, version: Version, record: Mapping[str, Any]) -> State:
    """The state at another text. A run that had ended has to be finished again: its test scores are of the texts before."""
    best = _best(state, version, record)
    return replace(state, current=version, best=best, rejections=(), test={}, finished=False)


def _looked(state: State, record: Mapping[str, Any]) -> State:
    verdict = record.get("verdict")
    if verdict is None:
        return state
    salvage = record.get("salvage")
    verdicts = [salvage["whole"], *(one["verdict"] for one in salvage["tried"])] if salvage else [verdict]
    return replace(state, looks=state.looks + 1, spent=state.spent + looks.spent(verdicts))


def _version(entry: Entry, step: int) -> Version:
    current = entry.record["current"]
    scores = scores_of(entry.scores, entry.record.get("unmeasured", ()))
    return Version(current["commit"], Text(current["blob"], entry.candidate), scores, step)


def _best(state: State, current: Version, record: Mapping[str, Any]) -> Version:
    return current if record["best"]["commit"] == current.commit else state.best


def _counted(counts: Mapping[str, int], action: str) -> dict[str, int]:
    return {**counts, action: counts.get(action, 0) + 1}


def scores_of(lines: str, unmeasured: Sequence[str] = ()) -> Scores:
    """Per-task scores of note lines, in their order, repeats averaged; then error items for what was not measured."""
    samples: dict[str, list[tuple[float, float]]] = {}
    for line in lines.splitlines():
        parsed = parse_line(line)
        for task_id, (hard, soft, _) in (parsed or {"items": {}})["items"].items():
            samples.setdefault(task_id, []).append((hard, soft))
    items = [Item(task_id, "scored", *_mean(values), len(values)) for task_id, values in samples.items()]
    return Scores((*items, *(Item(task_id, "error") for task_id in unmeasured)))


def _mean(values: Sequence[tuple[float, float]]) -> tuple[float, float]:
    hard, soft = (sum(column) / len(values) for column in zip(*values, strict=True))
    return hard, soft
