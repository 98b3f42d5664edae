"""Does the journal agree with itself: numbers, verdicts, scores, best?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillgit.errors import RepositoryError, SkillgitError
from skillgit.git.finding import Finding, error
from skillgit.git.journal import load_yaml

if TYPE_CHECKING:
    from skillgit.git.history import SkillHistory
    from skillgit.git.journal import JournalEntry

DUST = 1e-5  # records hold scores with six decimals
TAKEN = ("accept", "accept_new_best", "forced")
KINDS = ("baseline", "step", "patch", "epoch", "final")


def place(entry: JournalEntry) -> str:
    """How an entry is named in a finding."""
    number = f" {entry.step}" if entry.kind == "step" else f" {entry.epoch}" if entry.kind == "epoch" else ""
    return f"journal, run {entry.run} {entry.kind}{number} ({entry.oid[:12]})"


def check(history: SkillHistory, entries: Sequence[JournalEntry]) -> Iterator[Finding]:
    """Findings in the entries, which are given oldest first."""
    before: JournalEntry | None = None
    for entry in entries:
        yield from _numbers(before, entry)
        yield from _trailers(entry)
        yield from _objects(history, entry)
        yield from _gate(before, entry)
        yield from _best(before, entry)
        before = entry


def _numbers(before: JournalEntry | None, entry: JournalEntry) -> Iterator[Finding]:
    if entry.kind not in KINDS:
        yield error(place(entry), f"unknown kind '{entry.kind}'")
    new_run = before is None or entry.run != before.run
    last = before.step if before and not new_run else 0
    expected = last + 1 if entry.kind == "step" else last
    if entry.step != expected:
        yield error(place(entry), f"is step {entry.step}, after step {last}")
    if new_run and entry.kind != "baseline":
        yield error(place(entry), f"run {entry.run} does not begin with a baseline")
    if new_run and entry.run != (before.run if before else 0) + 1:
        yield error(place(entry), f"run {entry.run} follows run {before.run if before else 0}")


def _trailers(entry: JournalEntry) -> Iterator[Finding]:
    """The commit message is the index that revisions are looked up in."""
    record = entry.record
    said = (entry.kind, entry.run, entry.step, entry.action, entry.current, entry.best)
    facts = (record.get("kind"), record.get("run"), record.get("step", 0), record.get("action", ""))
    if said != (*facts, record["current"]["commit"], record["best"]["commit"]):
        yield error(place(entry), "its commit message and its record.yaml say different things")


def _objects(history: SkillHistory, entry: JournalEntry) -> Iterator[Finding]:
    for role in ("current", "best"):
        version = entry.record[role]
        try:
            blob = history.blob(version["commit"])
        except RepositoryError as damage:
            yield error(place(entry), f"{role}: {damage.message}")
            continue
        if blob != version["blob"]:
            yield error(place(entry), f"{role} {version['commit'][:12]} holds {blob[:12]}, not {version['blob'][:12]}")
    candidate = entry.record.get("candidate")
    if candidate and entry.names.get("candidate.md") != candidate["blob"]:
        yield error(place(entry), f"candidate.md is not the text that was scored ({candidate['blob'][:12]})")


def _gate(before: JournalEntry | None, entry: JournalEntry) -> Iterator[Finding]:
    verdict, candidate, current = (entry.record.get(key) or {} for key in ("verdict", "candidate", "current"))
    if not verdict or before is None:
        return
    action, policy = entry.action, verdict.get("policy")
    after, score, best = verdict["after"], verdict["before"], verdict["best"]
    higher = after > score
    if action != verdict["action"] and not (action == "forced" or entry.kind == "final"):
        yield error(place(entry), f"action {action} is not the verdict's, {verdict['action']}")
    shorter = bool(verdict.get("shorter")) and after == score
    if action.startswith("accept") and policy != "off" and not (higher or shorter):
        yield error(place(entry), f"accepted though {after} is not above {score}")
    if action == "reject" and policy == "strict" and higher:
        yield error(place(entry), f"rejected though {after} is above {score}")
    if action == "accept_new_best" and not (after > best or (shorter and after == best)):
        yield error(place(entry), f"new best though {after} is not above {best}")
    if action == "accept" and after > best + DUST:
        yield error(place(entry), f"not best though {after} is above {best}")
    if action.startswith("accept") and candidate.get("upper_bound"):
        yield error(place(entry), "accepted on an evaluation that stopped early")
    if action in TAKEN and candidate.get("blob") != current["blob"]:
        yield error(place(entry), "current is not the candidate that was accepted")
    if action.startswith("accept") and _differ(candidate, current):
        yield error(place(entry), "current does not have the score of the candidate that was accepted")
    known = _value(before, "current")
    if before.run == entry.run and known is not None and before.action != "forced" and abs(known - score) > DUST:
        yield error(place(entry), f"was compared with {score}, but current had {known}")


def _best(before: JournalEntry | None, entry: JournalEntry) -> Iterator[Finding]:
    if before is None or before.run != entry.run:
        return
    was, now = before.record["best"], entry.record["best"]
    may_change = entry.action == "accept_new_best" or entry.kind in ("baseline", "final")
    if now["commit"] != was["commit"] and not may_change:
        yield error(place(entry), f"best moved from {was['commit'][:12]} to {now['commit'][:12]} without a new best")
    if entry.action == "accept_new_best" and now["commit"] != entry.record["current"]["commit"]:
        yield error(place(entry), "a new best was accepted, but best is not current")
    if entry.action not in TAKEN and entry.kind != "baseline" and entry.record["current"] != before.record["current"]:
        yield error(place(entry), "current changed though nothing was accepted")
    values = [_value(before, "best"), _value(entry, "best"), _value(entry, "current")]
    old, new, current = values
    if old is not None and new is not None and new < old - DUST:
        yield error(place(entry), f"best fell from {old} to {new}")
    if new is not None and current is not None and entry.action.startswith("accept") and current > new + DUST:
        yield error(place(entry), f"best has {new}, but current has {current}")


def _differ(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return any(abs(one[key] - other[key]) > DUST for key in ("hard", "soft") if key in one and key in other)


def _value(entry: JournalEntry, role: str) -> float | None:
    """The score that the gate compares, by the metric of the entry's own configuration."""
    version = entry.record[role]
    if "hard" not in version:
        return None
    try:
        config = load_yaml(entry.config, "config.yaml") or {}
        gate = config.get("settings", config).get("gate") or {}
    except (SkillgitError, AttributeError):
        return None
    hard, soft = version["hard"], version.get("soft", version["hard"])
    weight = {"hard": 0.0, "soft": 1.0}.get(gate.get("metric", "hard"), gate.get("mixed_weight", 0.5))
    return float((1 - weight) * hard + weight * soft)
