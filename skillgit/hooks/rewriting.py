"""Notes follow commits that were rewritten: amended or rebased here, or rebased where they were merged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from skillgit.git.history import SkillHistory
from skillgit.git.log import log, read
from skillgit.git.notes import Notes
from skillgit.git.publish import publish_notes

if TYPE_CHECKING:
    from skillgit.git.log import LogEntry
    from skillgit.git.repo import Repo

ON_COMMITS = ("rejected", "meta")
"""Scores are noted on blobs, which no rewriting changes."""
KEYS = ("Skill-Run", "Skill-Kind", "Skill-Epoch", "Skill-Step", "Skill-Edit", "Skill-Patch")


def pairs(text: str) -> list[tuple[str, str]]:
    """(old commit, new commit) of each line that git gives post-rewrite."""
    rows = [line.split() for line in text.splitlines()]
    return [(row[0], row[1]) for row in rows if len(row) >= 2]


def follow(repo: Repo, rewritten: Iterable[tuple[str, str]]) -> int:
    """Copy the notes of old commits to the new ones; how many commits got some. Copying twice is copying once."""
    rows, got = list(rewritten), set[str]()
    additions: dict[str, dict[str, str]] = {}
    for namespace in ON_COMMITS:
        notes = Notes(repo, namespace)
        texts = notes.many(old for old, _ in rows)
        here = notes.many(new for _, new in rows)
        wanted: dict[str, str] = {}
        for old, new in rows:
            text = texts.get(old, "")
            if text and text not in here.get(new, "") and text not in wanted.get(new, ""):
                wanted[new] = wanted.get(new, "") + text
        additions[namespace] = wanted
        got |= wanted.keys()
    if got:
        publish_notes(repo, additions, "notes follow rewritten commits")
    return len(got)


def returned(repo: Repo, since: str, until: str) -> Iterator[tuple[str, str]]:
    """(the commit as it was trained here, its copy) for commits that a merge brought with other ids."""
    known: dict[str, Mapping[tuple[str, ...], str]] = {}
    for commit in log(repo, f"{since}..{until}"):
        name = commit.subject.partition(": ")[0]
        if "Skill-Run" not in commit.trailers:
            continue
        if name not in known:
            known[name] = _trained(repo, name)
        original = known[name].get(_key(commit))
        if original and original != commit.oid:
            yield original, commit.oid


def _trained(repo: Repo, name: str) -> dict[tuple[str, ...], str]:
    journal = SkillHistory(repo, name).journal
    found: dict[tuple[str, ...], str] = {}
    for entry in journal.entries():
        for commit in {entry.current, *(row["commit"] for row in entry.patch if row.get("commit"))} - {""}:
            if repo.resolve(commit):
                made = read(repo, commit)
                if "Skill-Run" in made.trailers:
                    found[_key(made)] = commit
    return found


def _key(commit: LogEntry) -> tuple[str, ...]:
    return tuple(commit.trailers.get(key, "") for key in KEYS)
