"""The journal: a chain of commits, one a step or epoch end, whose trees hold the record.

What is asked often (run, step, commit) stands in the commit's trailers too, so that one ``git log`` answers it for
thousands of steps; the files are read when they are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from skillgit.errors import RepositoryError
from skillgit.git.log import LogEntry, log, read
from skillgit.git.objects import FILE, TreeEntry
from skillgit.git.trailers import format_message

if TYPE_CHECKING:
    from skillgit.git.repo import Repo

RECORD = "record.yaml"


@dataclass(frozen=True)
class JournalEntry:
    """One step, epoch end, baseline or end of a run. ``current`` and ``best`` are the commits after it."""

    repo: Repo
    oid: str
    parent: str | None
    when: datetime
    subject: str
    trailers: Mapping[str, str]

    @property
    def kind(self) -> str:
        """baseline, step, epoch or final."""
        return self.trailers.get("Skill-Kind", "")

    @property
    def action(self) -> str:
        """What the gate said."""
        return self.trailers.get("Skill-Action", "")

    @property
    def run(self) -> int:
        """Number of the run, from 1; 0 if unknown."""
        return _number(self.trailers.get("Skill-Run"))

    @property
    def epoch(self) -> int:
        """Number of the epoch, 0 for the baseline."""
        return _number(self.trailers.get("Skill-Epoch"))

    @property
    def step(self) -> int:
        """Number of the step within the run, 0 for the baseline."""
        return _number(self.trailers.get("Skill-Step"))

    @property
    def current(self) -> str:
        """The commit that was the current skill after this entry."""
        return self.trailers.get("Skill-Current", "")

    @property
    def best(self) -> str:
        """The commit that was the best skill after this entry."""
        return self.trailers.get("Skill-Best", "")

    @property
    def base(self) -> str:
        """The commit at which the skill branch left the user's history."""
        return self.trailers.get("Skill-Base", "")

    @cached_property
    def names(self) -> Mapping[str, str]:
        """File name -> blob id."""
        return {entry.name: entry.oid for entry in self.repo.objects.tree(self.repo.tree_of(self.oid))}

    def read(self, name: str) -> str:
        """A file's text, "" if the entry has none."""
        oid = self.names.get(name)
        return "" if oid is None else self.repo.read_blob(oid).decode("utf-8", "replace")

    @cached_property
    def record(self) -> dict[str, Any]:
        """record.yaml: the deterministic facts."""
        return self._mapping(RECORD)

    @cached_property
    def spend(self) -> dict[str, Any]:
        """spend.yaml: calls, tokens, money and seconds."""
        return self._mapping("spend.yaml")

    @cached_property
    def patch(self) -> list[dict[str, Any]]:
        """patch.yaml: every proposed edit with its status."""
        data = self._yaml("patch.yaml")
        return [row for row in data if isinstance(row, dict)] if isinstance(data, list) else []

    @property
    def config(self) -> str:
        """config.yaml as text."""
        return self.read("config.yaml")

    @property
    def candidate(self) -> str:
        """candidate.md: the skill that was tried."""
        return self.read("candidate.md")

    @property
    def meta(self) -> str:
        """meta.md: the optimizer's advice to itself."""
        return self.read("meta.md")

    def _mapping(self, name: str) -> dict[str, Any]:
        data = self._yaml(name)
        return data if isinstance(data, dict) else {}

    def _yaml(self, name: str) -> Any:
        return load_yaml(self.read(name), f"{name} of journal entry {self.oid[:12]}")


class Journal:
    """The journal of one skill."""

    def __init__(self, repo: Repo, name: str) -> None:
        self._repo = repo
        self.name = name
        self.ref = f"refs/skillgit/{name}/journal"

    def tip(self) -> JournalEntry | None:
        """The newest entry."""
        tip = self._repo.ref(self.ref)
        return self.entry(tip) if tip else None

    def entry(self, oid: str) -> JournalEntry:
        """The entry with this id."""
        return self._made(read(self._repo, oid))

    def entries(self) -> Iterator[JournalEntry]:
        """Newest first, read as they are asked for."""
        tip = self._repo.ref(self.ref)
        yield from map(self._made, log(self._repo, tip) if tip else ())

    def find(self, run: int, kind: str, number: int | None = None) -> Iterator[JournalEntry]:
        """Entries of a run and kind, newest first: those of one step or epoch, or all. git looks through the messages."""
        tip = self._repo.ref(self.ref)
        wanted = {"Run": run, "Kind": kind, "Epoch" if kind == "epoch" else "Step": number}
        lines = [f"^Skill-{key}: {value}$" for key, value in wanted.items() if value is not None]
        options = ("--all-match", "--basic-regexp", *(f"--grep={line}" for line in lines))
        yield from map(self._made, log(self._repo, *options, tip) if tip else ())

    def _made(self, row: LogEntry) -> JournalEntry:
        return JournalEntry(
            self._repo, row.oid, row.parents[0] if row.parents else None, row.when, row.subject, row.trailers
        )

    def append(self, parent: str | None, files: Mapping[str, str | bytes], subject: str, *, base: str = "") -> str:
        """The id of a new entry after parent, with exactly these files. Writes objects only.

        ``base`` is where the skill branch starts; without it the parent's is kept.
        """
        rows = [
            (name, data.encode("utf-8", "replace") if isinstance(data, str) else data) for name, data in files.items()
        ]
        tree = self._repo.write_tree(TreeEntry(FILE, name, self._repo.write_blob(data)) for name, data in rows)
        record = load_yaml(dict(rows).get(RECORD, b"").decode("utf-8", "replace"), RECORD)
        if not base and parent:
            base = self.entry(parent).base
        message = format_message(subject, "", _trailers(record if isinstance(record, dict) else {}, base))
        return self._repo.write_commit(tree, [parent] if parent else [], message)


def load_yaml(text: str, where: str) -> Any:
    """Parse YAML, with libyaml where it is there (ten times faster); RepositoryError names the damaged file."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        raise RepositoryError(f"{where} is damaged: {' '.join(str(error).split())}") from None


def _trailers(record: Mapping[str, Any], base: str) -> dict[str, str]:
    values = {
        "Skill-Run": record.get("run"),
        "Skill-Epoch": record.get("epoch"),
        "Skill-Step": record.get("step"),
        "Skill-Kind": record.get("kind"),
        "Skill-Action": record.get("action"),
        "Skill-Current": (record.get("current") or {}).get("commit"),
        "Skill-Best": (record.get("best") or {}).get("commit"),
        "Skill-Base": base,
    }
    return {key: str(value) for key, value in values.items() if value not in (None, "")}


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0
