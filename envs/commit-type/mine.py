"""Tasks from a repository's own history: the typed commits of its people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from skillgit.errors import TaskError
from skillgit.git.repo import Repo

TYPED = re.compile(r"(?P<type>[A-Za-z]+)(?:\([^()]*\))?!?:\s+(?P<subject>\S.*)")
NUMBER = r"(?:[\w.-]+/[\w.-]+)?(?:#|GH-)\d+\b"
WORDS = r"(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|see|issue|part of)"
NUMBERS = re.compile(
    rf"\s*[(\[](?:{WORDS}:?\s+)?{NUMBER}(?:(?:,|\s+and|\s)\s*(?:{WORDS}\s+)?{NUMBER})*[)\]]"
    rf"|[\s,;]*(?:\b{WORDS}:?\s+)?{NUMBER}",
    re.IGNORECASE,
)
BOTS = re.compile(
    r"\[bot\]|\b(dependabot|renovate|greenkeeper|snyk|semantic-release|release-please|github-actions|pre-commit-ci)\b",
    re.IGNORECASE,
)
NO_TYPES = frozenset({"merge", "revert", "reverts", "fixup", "squash", "amend", "wip"})
MOST_COMMITS = 50_000
MOST_PATHS = 5
MOST_A_TYPE = 40
MOST_TYPES = 8
FEWEST_A_TYPE = 8
FEWEST = 40


@dataclass(frozen=True)
class Commit:
    """A typed commit: its subject without type, scope and issue numbers."""

    oid: str
    kind: str
    subject: str


def make_tasks(repo: Repo) -> list[dict[str, Any]]:
    """A task for each distinct typed subject, at most ``MOST_A_TYPE`` of each of the ``MOST_TYPES`` commonest types.

    Which commits are taken follows from their ids, so new commits move few of the others. Raises TaskError when the history
    holds too few typed commits.
    """
    read, found = 0, dict[str, Commit]()
    for oid, author, subject in _commits(repo):
        read += 1
        commit = None if BOTS.search(author) else typed(oid, subject)
        if commit:
            found.setdefault(commit.subject.casefold(), commit)
    by_type: dict[str, list[Commit]] = {}
    for commit in found.values():
        by_type.setdefault(commit.kind, []).append(commit)
    common = sorted(by_type, key=lambda kind: (-len(by_type[kind]), kind))[:MOST_TYPES]
    kinds = [kind for kind in common if len(by_type[kind]) >= FEWEST_A_TYPE]
    chosen = [commit for kind in kinds for commit in sorted(by_type[kind], key=lambda c: c.oid)[:MOST_A_TYPE]]
    if len(kinds) < 2 or len(chosen) < FEWEST:
        counts = ", ".join(f"{kind} {len(by_type[kind])}" for kind in common) or "none"
        raise TaskError(
            f"{repo.work_tree or repo.git_dir}: too few typed commits among {read} (found: {counts}); needed are "
            f"{FEWEST} in all, and two types with {FEWEST_A_TYPE} or more",
            hint="git fetch --unshallow" if repo.shallow else "a typed commit looks like 'fix: say what was wrong'",
        )
    paths = _changed_paths(repo, [commit.oid for commit in chosen])
    return [_task(commit, paths[commit.oid], kinds) for commit in sorted(chosen, key=lambda c: c.oid)]


def typed(oid: str, subject: str) -> Commit | None:
    """The typed commit, None when the subject has no type or nothing but a version or a number behind it."""
    match = TYPED.fullmatch(subject.strip())
    if match is None or match["type"].lower() in NO_TYPES:
        return None
    rest = " ".join(NUMBERS.sub("", match["subject"]).split()).strip(" .,;:-")
    words = [word for word in re.findall(r"[^\W\d_]{2,}", rest) if word.lower() != "release"]
    return Commit(oid, match["type"].lower(), rest) if words else None


def _task(commit: Commit, paths: list[str], kinds: list[str]) -> dict[str, Any]:
    shown = "\n".join(f"  {path}" for path in paths[:MOST_PATHS])
    asked = f"{commit.subject}\n\nChanged files:\n{shown or '  (none)'}"
    return {"id": commit.oid[:12], "input": asked, "answer": commit.kind, "type": commit.kind, "choices": kinds}


def _commits(repo: Repo) -> Iterator[tuple[str, str, str]]:
    """(id, author, subject) of every commit that is no merge, newest first."""
    shape = "--format=%H%x1f%an <%ae>%x1f%s"
    log = ("log", "--no-merges", "--no-show-signature", "--encoding=UTF-8", f"--max-count={MOST_COMMITS}", shape, "-z")
    for record in repo.git(*log, timeout=600).stdout.decode("utf-8", "replace").split("\0"):
        if record.count("\x1f") >= 2:
            oid, author, subject = record.split("\x1f", 2)
            yield oid, author, subject


def _changed_paths(repo: Repo, oids: list[str]) -> dict[str, list[str]]:
    """The paths that each commit changed, in git's order."""
    show = ("log", "--stdin", "--no-walk=unsorted", "--no-show-signature", "--format=%x1e%H", "--name-only", "-z")
    wanted = "\n".join(oids).encode()
    done = repo.git(*show, "--no-renames", "--no-relative", "--root", input=wanted, timeout=600)
    found = {}
    for part in done.stdout.decode("utf-8", "replace").split("\x1e")[1:]:
        oid, *paths = (piece.strip("\n") for piece in part.split("\0"))
        found[oid] = [path for path in paths if path]
    return found
