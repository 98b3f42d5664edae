"""Tasks from a repository's own history: the typed commits of its people."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from skillgit.errors import TaskError
from skillgit.splits import shuffled

TYPED = re.compile(r"(?P<type>[A-Za-z]+)(\([^)]*\))?!?: +(?P<subject>\S.*)")
NUMBERS = re.compile(r"\s*\((?:#\d+|closes? #\d+|fixes #\d+)\)|\s+#\d+\b", re.IGNORECASE)
BOTS = re.compile(r"\[bot\]|dependabot|renovate|semantic-release|release-please", re.IGNORECASE)
MOST_PATHS = 5
MOST_A_TYPE = 40
MOST_TYPES = 8
FEWEST_A_TYPE = 5
FEWEST = 30


def mine(repository: Path) -> tuple[str, tuple[str, ...]]:
    """(tasks.jsonl, remarks): a task for each distinct typed subject, balanced over the types that occur often enough.

    Raises TaskError when the history holds too few typed commits.
    """
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    seen: set[str] = set()
    read = 0
    for oid, author, subject, paths in _commits(repository):
        read += 1
        match = TYPED.fullmatch(subject)
        if not match or BOTS.search(author) or not paths:
            continue
        kind, rest = match["type"].lower(), NUMBERS.sub("", match["subject"]).strip()
        if kind in ("merge", "revert") or not rest or rest.casefold() in seen:
            continue
        seen.add(rest.casefold())
        shown = "\n".join(f"  {path}" for path in paths[:MOST_PATHS])
        found[kind].append(
            {"id": oid[:12], "input": f"{rest}\n\nChanged files:\n{shown}", "answer": kind, "type": kind}
        )
    kinds = [
        kind for kind, n in Counter({k: len(v) for k, v in found.items()}).most_common(MOST_TYPES) if n >= FEWEST_A_TYPE
    ]
    chosen = [task for kind in kinds for task in shuffled(found[kind], "commit-type", kind)[:MOST_A_TYPE]]
    if len(kinds) < 2 or len(chosen) < FEWEST:
        counts = ", ".join(f"{kind} {len(tasks)}" for kind, tasks in found.items()) or "none"
        raise TaskError(
            f"{repository}: too few typed commits among {read} (found: {counts}); "
            f"needed are {FEWEST} with at least two types of {FEWEST_A_TYPE} or more",
            hint="typed commits look like 'fix: say what', as in the Conventional Commits convention",
        )
    shares = ", ".join(f"{kind} {min(len(found[kind]), MOST_A_TYPE)}" for kind in kinds)
    remarks = (f"{len(chosen)} tasks from {read} commits: {shares}",)
    lines = (
        json.dumps({**task, "choices": kinds}, ensure_ascii=False) for task in sorted(chosen, key=lambda t: t["id"])
    )
    return "".join(f"{line}\n" for line in lines), remarks


def _commits(repository: Path) -> Iterator[tuple[str, str, str, list[str]]]:
    """(id, author, subject, changed paths) of every commit that is no merge, newest first."""
    command = [
        "git",
        "log",
        "--no-merges",
        "--name-only",
        "-z",
        "--no-renames",
        "--format=%x01%H%x02%an <%ae>%x02%s%x02",
    ]
    try:
        done = subprocess.run(command, cwd=repository, capture_output=True, check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TaskError(f"cannot read the history of {repository}: {error}") from None
    if done.returncode:
        raise TaskError(f"cannot read the history of {repository}: {' '.join(done.stderr.decode().split())}")
    for part in done.stdout.decode("utf-8", "replace").split("\x01")[1:]:
        oid, author, subject, rest = part.split("\x02", 3)
        yield oid, author, subject, [path.strip("\n") for path in rest.split("\0") if path.strip("\n")]
