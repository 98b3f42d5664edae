"""Questions to a training's history: what the read commands show, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Any

from skillgit.git.lock import holder
from skillgit.git.log import read
from skillgit.git.notes import Notes
from skillgit.overrides import leaves
from skillgit.patchfile import unified_diff
from skillgit.record import read_notes
from skillgit.scores import parse_line
from skillgit.spending import figures, from_rows, sum_up
from skillgit.yamltext import load

if TYPE_CHECKING:
    from skillgit.git.history import SkillHistory
    from skillgit.git.journal import JournalEntry
    from skillgit.git.log import LogEntry

TAKEN = frozenset({"accept", "accept_new_best", "forced"})


def log_rows(history: SkillHistory, *, rejected: bool) -> Iterator[dict[str, Any]]:
    """Journal entries and people's commits, newest first, as they are asked for.

    Rejected, skipped and undecided entries come only with ``rejected``.
    """
    people = People(history)
    measured = Notes(history.repo, "worth").tip() is not None
    for entry in history.journal.entries():
        yield from map(_person, people.after(entry.current))
        if rejected or entry.action in TAKEN or entry.kind in ("baseline", "final"):
            yield {
                "kind": entry.kind,
                "when": entry.when.isoformat(),
                "commit": entry.current,
                "record": entry.record,
                "spend": entry.spend,
                "worth": list(known_worth(history, _commits(entry)).values()) if measured else [],
            }
    yield from map(_person, people.after(people.base))


def _commits(entry: JournalEntry) -> list[str]:
    """The commits that an entry made."""
    if entry.kind == "epoch":
        return [entry.current] if entry.action in TAKEN else []
    return [row["commit"] for row in entry.patch if row.get("commit")]


class People:
    """People's commits on a skill branch, handed out newest first while the journal is walked down."""

    def __init__(self, history: SkillHistory) -> None:
        self.base = history.base()
        self._unread = history.log(self.base)
        self._read: dict[str, LogEntry] = {}

    def after(self, commit: str) -> list[LogEntry]:
        """Those made after ``commit`` and not handed out yet; none while the branch does not hold that commit."""
        while commit not in self._read:
            entry = next(self._unread, None)
            if entry is None and commit != self.base:
                return []
            if entry is None:
                break
            self._read[entry.oid] = entry
        above = list(takewhile(lambda oid: oid != commit, self._read))
        return [entry for entry in map(self._read.pop, above) if not _trained(entry)]


def _trained(commit: LogEntry) -> bool:
    return "Skill-Run" in commit.trailers


def _person(commit: LogEntry) -> dict[str, Any]:
    return {
        "kind": "person",
        "when": commit.when.isoformat(),
        "commit": commit.oid,
        "author": commit.author,
        "subject": commit.subject,
    }


def shown(history: SkillHistory, spec: str) -> dict[str, Any]:
    """An edit, or what a step or an epoch's end tried in vain: message, diff, the proposed edits, how tasks moved."""
    entry = history.point(spec.partition("@")[2])
    if entry and entry.kind in ("step", "epoch") and entry.action not in TAKEN:
        return _tried(history, entry)
    commit = history.resolve(spec)
    made = read(history.repo, commit)
    parent = made.parents[0] if made.parents else None
    before = history.text(parent) if parent and history.repo.entry(parent, history.path) else ""
    return {
        "skill": history.name,
        "commit": commit,
        "subject": made.subject,
        "body": made.body,
        "trailers": made.trailers,
        "diff": unified_diff(before, history.text(commit), history.path),
        **_step(entry_of(history, made)),
    }


def _tried(history: SkillHistory, entry: JournalEntry) -> dict[str, Any]:
    before = history.text(entry.current)
    return {
        "skill": history.name,
        "commit": None,
        "subject": entry.subject,
        "body": "",
        "trailers": {},
        "diff": unified_diff(before, entry.candidate or before, history.path),
        **_step(entry),
    }


def _step(entry: JournalEntry | None) -> dict[str, Any]:
    """What the journal adds: of the whole step, not of one edit."""
    keys = ("kind", "run", "epoch", "step", "action", "reason")
    facts = {key: entry.record.get(key) for key in keys} if entry else None
    return {
        "entry": facts,
        "edits": entry.patch if entry else [],
        "verdict": entry.record.get("verdict") if entry else None,
    }


def entry_of(history: SkillHistory, commit: LogEntry) -> JournalEntry | None:
    """The journal entry that put a commit on the branch, found by its trailers."""
    trailers = commit.trailers
    kind = trailers.get("Skill-Kind", "step")
    run, number = trailers.get("Skill-Run"), trailers.get("Skill-Epoch" if kind == "epoch" else "Skill-Step")
    if run is None or not run.isdecimal():
        return None
    # a patch has no number of its own
    found = history.journal.find(int(run), kind, int(number) if number and number.isdecimal() else None)
    return next((entry for entry in found if entry.action in TAKEN and _made(entry, commit.oid)), None)


def _made(entry: JournalEntry, commit: str) -> bool:
    return entry.current == commit or any(row.get("commit") == commit for row in entry.patch)


def difference(history: SkillHistory, old: str, new: str) -> dict[str, Any]:
    """Two revisions: the diff, and every task whose known score differs, by target, environment and repeat."""
    one, other = history.resolve(old), history.resolve(new)
    before, after = (known_scores(history, history.blob(commit)) for commit in (one, other))
    both = [key for key in before if key in after]
    moved = [key for key in both if before[key] != after[key]]
    moved.sort(key=lambda key: key[-1])
    rows = [{"task": key[-1], "before": list(before[key]), "after": list(after[key])} for key in moved]
    return {
        "skill": history.name,
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


def rejections(history: SkillHistory) -> Iterator[dict[str, Any]]:
    """The rejected-edit buffer, newest first, each with the commit it was tried on; read as they are asked for."""
    notes = Notes(history.repo, "rejected")
    for commit in chain((entry.oid for entry in history.log()), [history.base()]):
        found = reversed(read_notes(notes.get(commit), history.name))
        yield from ({"on": commit, **note} for note in found)


def status(history: SkillHistory) -> dict[str, Any]:
    """Where a training stands."""
    tip = history.journal.tip()
    state: Mapping[str, Any] = tip.record if tip else {}
    moved = tip is not None and history.tip() != tip.current
    ending = ending_of(history.journal.entries())
    missing = history.missing()
    return {
        "skill": history.name,
        "trained": tip is not None,
        "missing": {"what": missing[0], "next": missing[1]} if missing else None,
        "run": tip.run if tip else 0,
        "epoch": tip.epoch if tip else 0,
        "step": tip.step if tip else 0,
        "last": {"kind": tip.kind, "action": tip.action, "reason": state.get("reason")} if tip else None,
        "finished": ending is not None and not moved,
        "current": state.get("current"),
        "best": state.get("best"),
        "outside": tip is not None and tip.kind == "patch",
        "unchanged": tip is not None
        and history.tip() is not None
        and history.blob(tip.current) == history.blob(history.base()),
        "moved_by_hand": moved,
        "test": ending.record.get("test") if ending else None,
        "lock": holder(history.repo, history.name),
    }


def ending_of(entries: Iterable[JournalEntry]) -> JournalEntry | None:
    """The entry that ended a run, unless the skill changed after it (a patch from outside, a person's commit).

    ``entries`` are newest first.
    """
    for entry in entries:
        if entry.kind != "patch" or entry.action in TAKEN:
            return entry if entry.kind == "final" else None
    return None


def known_worth(history: SkillHistory, commits: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """The newest worth of commits, from their notes; what a person broke is passed over."""
    import yaml

    found: dict[str, Mapping[str, Any]] = {}
    for commit, text in Notes(history.repo, "worth").many(commits).items():
        for part in f"\n{text}".split("\n---\n"):
            try:
                note = load(part)
            except yaml.YAMLError:
                continue
            if isinstance(note, dict) and note.get("skill") == history.name and "alone" in note:
                found[commit] = note
    return found


def runs(history: SkillHistory) -> list[dict[str, Any]]:
    """The runs of a skill, oldest first, each with the settings in which it differs from the one before."""
    by_run: dict[int, list[JournalEntry]] = {}
    for entry in history.journal.entries():
        by_run.setdefault(entry.run, []).append(entry)
    rows: list[dict[str, Any]] = []
    before: dict[str, Any] = {}
    for number in sorted(by_run):
        entries = by_run[number]
        newest, first, ending = entries[0], entries[-1], ending_of(entries)
        settings = dict(leaves((load(newest.config) or {}).get("settings", {})))
        changed = {key: [before.get(key), settings.get(key)] for key in {**before, **settings}} if before else {}
        rows.append(
            {
                "run": number,
                "target": settings.get("models.target.model"),
                "optimizer": settings.get("models.optimizer.model"),
                "finished": ending is not None,
                "steps": dict(Counter(entry.action for entry in reversed(entries) if entry.kind == "step")),
                "initial": first.record.get("current"),
                "best": newest.record.get("best"),
                "test": (ending.record.get("test") if ending else None) or {},
                "spend": figures(sum_up(from_rows(newest.spend.get("total", [])))),
                "changed": {key: values for key, values in changed.items() if values[0] != values[1]},
            }
        )
        before = settings
    return rows
