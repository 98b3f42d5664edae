"""A training of 10,000 steps with everything that one leaves behind, made from a real short one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from skillgit.git.history import SkillHistory
from skillgit.git.journal import JournalEntry
from skillgit.git.repo import Repo
from skillgit.git.trailers import format_message
from tests.repos import git

COMMITS = 10_000
SKILL = "skills/demo/SKILL.md"


def data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"


def lengthen(folder: Path) -> None:
    """Put COMMITS accepted steps on the skill branch: commits, journal entries, and a note of each kind on each."""
    with Repo.discover(folder) as repo:
        history = SkillHistory(repo, "demo")
        last = next(entry for entry in history.journal.entries() if entry.action == "accept_new_best")
        files = {name: last.read(name) for name in last.names}
        feed = "".join(_stream(folder, history, last, files))
    fed = ["git", "fast-import", "--quiet", "--force", "--export-marks=.git/marks"]
    subprocess.run(fed, input=feed.encode(), cwd=folder, check=True, timeout=300)
    oids = dict(line.split() for line in (folder / ".git/marks").read_text().splitlines())
    journal = "".join([*_journal(folder, history, last, files, oids), *_notes(folder, oids)])
    subprocess.run(fed[:4], input=journal.encode(), cwd=folder, check=True, timeout=300)
    git(folder, "update-ref", history.best_ref, oids[f":{COMMITS}"])


def _stream(folder: Path, history: SkillHistory, last: JournalEntry, files: dict[str, str]) -> Iterator[str]:
    tip = git(folder, "rev-parse", "skill/demo").strip()
    text = git(folder, "show", f"skill/demo:{SKILL}")
    for n in range(1, COMMITS + 1):
        trailers = {**last.trailers, "Skill-Step": str(n + 4), "Skill-Edit": "1/1", "Skill-Op": "append"}
        trailers = {key: value for key, value in trailers.items() if key not in ("Skill-Current", "Skill-Best")}
        message = format_message(f"demo: Add rule {n}", "The failures show that units are missing. " * 4, trailers)
        rules = "".join(f"- Rule {rule}, as it was last put.\n" for rule in range(max(1, n - 60), n + 1))
        start = f"from {tip}\n" if n == 1 else ""
        yield f"blob\nmark :{COMMITS + n}\n{data(text + rules)}"
        yield f"commit refs/heads/skill/demo\nmark :{n}\ncommitter A <a@b> {1750000000 + n} +0200\n{data(message)}"
        yield f"{start}M 100644 :{COMMITS + n} {SKILL}\n"


def _notes(folder: Path, oids: dict[str, str]) -> Iterator[str]:
    blob = git(folder, "rev-parse", f"skill/demo~{COMMITS}:{SKILL}").strip()
    on = git(folder, "notes", "--ref", "skillgit/rejected", "list").split()[1]
    rejected = git(folder, "notes", "--ref", "skillgit/rejected", "show", on)
    scores = git(folder, "notes", "--ref", "skillgit/scores", "show", blob)
    worth = json.dumps({"skill": "demo", "alone": True, "worth": 0.0, "title": "Add a rule"})
    for namespace, note, shift in (("rejected", rejected, 0), ("worth", worth, 0), ("scores", scores, COMMITS)):
        ref = f"refs/notes/skillgit/{namespace}"
        known = git(folder, "for-each-ref", "--format=%(objectname)", ref).strip()
        yield f"commit {ref}\ncommitter A <a@b> 1750000000 +0200\n{data('Notes')}"
        yield f"from {known}\n" if known else ""
        for n in range(1, COMMITS + 1):
            oid = oids[f":{n + shift}"]
            yield f"M 100644 inline {oid[:2]}/{oid[2:]}\n{data(note)}"


def _journal(
    folder: Path, history: SkillHistory, last: JournalEntry, files: dict[str, str], oids: dict[str, str]
) -> Iterator[str]:
    tip = git(folder, "rev-parse", history.journal_ref).strip()
    for n in range(1, COMMITS + 1):
        made = oids[f":{n}"]
        trailers = {**last.trailers, "Skill-Step": str(n + 4), "Skill-Current": made, "Skill-Best": made}
        yield f"commit {history.journal_ref}\ncommitter A <a@b> {1750000000 + n} +0200\n"
        yield data(format_message(f"demo: run 1 step {n + 4} accept_new_best", "", trailers))
        yield f"from {tip}\n" if n == 1 else ""
        for name, content in files.items():
            content = content.replace(last.current, made).replace(f"step: {last.step}\n", f"step: {n + 4}\n")
            if n == 1 or content != files[name]:
                yield f"M 100644 inline {name}\n{data(content)}"
