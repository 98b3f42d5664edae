"""Questions to a training's history: what the read commands show, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from skillgit.git.lock import holder
from skillgit.git.notes import Notes
from skillgit.patchfile import unified_diff
from skillgit.record import read_notes
from skillgit.scores import parse_line

if TYPE_CHECKING:
    from skillgit.git.history import SkillHistory
    from skillgit.git.journal import JournalEntry
    from skillgit.git.log import LogEntry

TAKEN = frozenset({"accept", "accept_new_best", "forced"})


def log_rows(history: SkillHistory, *, rejected: bool, most: int | None) -> list[dict[str, Any]]:
    """Journal entries and people's commits, newest first; rejected and skipped ones only with ``rejected``."""
    return list(islice(_rows(history, rejected), most))


def _rows(history: SkillHistory, rejected: bool) -> Iterator[dict[str, Any]]:
    by_people = {entry.oid: entry for entry in history.log() if "Skill-Run" not in entry.trailers}
    for entry in history.journal.entries():
        if entry.kind == "baseline" and entry.current in by_people:
            yield _person(by_people.pop(entry.current))
        elif rejected or entry.action in TAKEN or entry.kind in ("baseline", "final"):
            yield {"record": entry.record, "spend": entry.spend, "when": entry.when.isoformat()}
    yield from (_person(commit) for commit in by_people.values())


def _person(commit: LogEntry) -> dict[str, Any]:
    return {"commit": commit.oid, "subject": commit.subject, "when": commit.when.isoformat(), "by": "person"}


def shown(history: SkillHistory, spec: str) -> dict[str, Any]:
    """An edit: its commit's message, diff, trailers, and how tasks moved in its step."""
    repo, commit = history.repo, history.resolve(spec)
    from skillgit.git.trailers import parse_message

    parsed = parse_message(repo.message(commit))
    parents = repo.parents(commit)
    before = history.text(parents[0]) if parents and repo.entry(parents[0], history.path) else ""
    step = entry_of(history, commit)
    return {
        "skill": history.name,
        "commit": commit,
        "subject": parsed.subject,
        "body": parsed.body,
        "trailers": parsed.trailers,
        "diff": unified_diff(before, history.text(commit), history.path),
        "verdict": step.record.get("verdict") if step else None,
    }


def entry_of(history: SkillHistory, commit: str) -> JournalEntry | None:
    """The journal entry that put a commit on the branch."""
    for entry in history.journal.entries():
        if entry.kind == "baseline":
            continue
        if entry.current == commit and entry.action in TAKEN:
            return entry
        if any(row.get("commit") == commit for row in (entry.patch if entry.action in TAKEN else ())):
            return entry
    return None


def difference(history: SkillHistory, old: str, new: str) -> dict[str, Any]:
    """Two revisions: the diff, and every task whose known score differs, by target, environment and repeat."""
    one, other = history.resolve(old), history.resolve(new)
    before, after = (known_scores(history, history.blob(commit)) for commit in (one, other))
    both = [key for key in before if key in after]
    moved = [key for key in both if before[key] != after[key]]
    moved.sort(key=lambda key: key[-1])
    rows = [{"task": key[-1], "before": list(before[key]), "after": list(after[key])} for key in moved]
    return {
        "old": {"revision": old, "commit": one},
        "new": {"revision": new, "commit": other},
        "diff": unified_diff(history.text(one), history.text(other), history.path),
        "compared": len(both),
        "hard": [_mean([scores[key][0] for key in both]) for scores in (before, after)],
        "soft": [_mean([scores[key][1] for key in both]) for scores in (before, after)],
        "moved": rows,
    }


def known_scores(history: SkillHistory, blob: str) -> dict[tuple[str, ...], tuple[float, float]]:
    """(environment, target, repeat, task) -> (hard, soft) from a text's scores note."""
    found: dict[tuple[str, ...], tuple[float, float]] = {}
    for line in Notes(history.repo, "scores").get(blob).splitlines():
        record = parse_line(line)
        if record:
            key = (record["env"], record["target"], str(record["sample"]))
            found |= {(*key, digest, task): (hard, soft) for task, (hard, soft, digest) in record["items"].items()}
    return found


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def rejections(history: SkillHistory) -> list[dict[str, Any]]:
    """The rejected-edit buffer, newest first, each with the commit it was tried on."""
    commits = [entry.oid for entry in history.log()] + [history.base()]
    notes = Notes(history.repo, "rejected").many(commits)
    return [{"on": o, **note} for o in commits for note in reversed(read_notes(notes.get(o, ""), history.name))]


def status(history: SkillHistory) -> dict[str, Any]:
    """Where a training stands."""
    tip = history.journal.tip()
    state: Mapping[str, Any] = tip.record if tip else {}
    moved = bool(tip) and history.tip() != tip.current if tip else False
    return {
        "skill": history.name,
        "trained": tip is not None,
        "run": tip.run if tip else 0,
        "epoch": tip.epoch if tip else 0,
        "step": tip.step if tip else 0,
        "last": {"kind": tip.kind, "action": tip.action, "reason": state.get("reason")} if tip else None,
        "finished": bool(tip) and tip.kind == "final" if tip else False,
        "current": state.get("current"),
        "best": state.get("best"),
        "unchanged": tip is not None and history.blob(tip.current) == history.blob(history.base()),
        "moved_by_hand": moved,
        "test": state.get("test"),
        "lock": holder(history.repo, history.name),
    }
