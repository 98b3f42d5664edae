"""The skill branch: its revisions, and new commits for it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from skillgit.errors import RepositoryError, SkillError
from skillgit.git import signing
from skillgit.git.journal import Journal, JournalEntry
from skillgit.git.log import LogEntry, log
from skillgit.git.trailers import CommitMessage

if TYPE_CHECKING:
    from skillgit.git.objects import TreeEntry
    from skillgit.git.repo import Repo

POINT = re.compile(r"(?:run-(?P<run>\d+)-)?(?P<kind>step|epoch)-(?P<number>\d+)")


class SkillHistory:
    """The training history of skill ``name``.

    ``path`` is its document, from the top of the repository, with ``/``; by default skills/NAME/SKILL.md. ``sign`` says
    whether its commits are signed: as commit.gpgsign says, or never.
    """

    def __init__(self, repo: Repo, name: str, path: str = "", *, sign: Literal["inherit", "never"] = "inherit") -> None:
        self.repo = repo
        self.name = name
        self.path = path or f"skills/{name}/SKILL.md"
        self.branch = f"refs/heads/skill/{name}"
        self.best_ref = f"refs/skillgit/{name}/best"
        self.journal = Journal(repo, name)
        self.journal_ref = self.journal.ref
        self._policy = sign

    def epoch_ref(self, run_epoch: str) -> str:
        """The ref that keeps the side branch of an epoch, named ``RUN-EPOCH``."""
        return f"refs/skillgit/{self.name}/epochs/{run_epoch}"

    # -- where things are

    def tip(self) -> str | None:
        """The current skill's commit, None before the first training."""
        return self.repo.ref(self.branch)

    def best(self) -> str | None:
        """The commit that is deployed."""
        return self.repo.ref(self.best_ref)

    def missing(self) -> tuple[str, str] | None:
        """What is not here of a training that once was, and the command that brings it: the branch or the journal.

        A plain clone has the branch without the journal, or under its remote's name only; a branch can be deleted.
        """
        tip, entry = self.tip(), self.journal.tip()
        anew = f"skillgit train {self.name} --new-run goes on without"
        if tip is None and entry is not None:
            back = f"git branch skill/{self.name} {entry.current[:12]} brings it back"
            forget = f"git update-ref -d {self.journal_ref} forgets the training"
            return f"the branch skill/{self.name} is gone, its journal is here", f"{back}; {forget}"
        if entry is not None:
            return None
        remotes = (ref.split("/")[2] for ref in self.repo.refs("refs/remotes/") if ref.endswith(f"/skill/{self.name}"))
        remote = next(remotes, "")
        if tip is None:
            what = f"the training of '{self.name}' is at {remote}, not here"
            return (what, f"skillgit sync {remote} fetches it; {anew}") if remote else None
        if self.repo.git("log", "-1", "--first-parent", "--format=%H", "--grep=^Skill-Run: ", tip, "--").text.strip():
            what = f"the branch skill/{self.name} was trained, but its journal and notes are not here"
            return what, f"skillgit sync {remote or 'REMOTE'} fetches them; {anew}"
        return None

    def start(self, rev: str = "HEAD") -> str:
        """The commit at which a new skill branch starts; RepositoryError with the next command when it cannot."""
        commit = self.repo.resolve(rev)
        folder = shlex.quote(str(PurePosixPath(self.path).parent))
        hint = f"git add {folder} && git commit -m 'Add the skill {self.name}'"
        if commit is None and rev == "HEAD":
            raise RepositoryError("nothing is committed in this repository yet", hint=hint)
        if commit is None:
            raise RepositoryError(f"'{rev}' is not a revision of this repository", hint="git log --oneline --all")
        if self.repo.entry(commit, self.path) is None:
            raise RepositoryError(f"{self.path} is not committed in {rev}", hint=hint)
        if self.tip() is None and self.repo.ref("refs/heads/skill"):
            raise RepositoryError(
                f"a branch 'skill' is in the way of 'skill/{self.name}'", hint="git branch -m skill another-name"
            )
        return commit

    def base(self) -> str:
        """The commit at which the skill branch left the user's history.

        The journal knows it. Without a journal, or after a rebase, it is the parent of the oldest training commit. A
        merge base would not do: that moves on once the user merges the branch.
        """
        tip = self._tip()
        entry = self.journal.tip()
        if entry and entry.base and self.holds(tip, entry.current):
            return self._present(entry.base)
        trained = self.repo.git(
            "log", "--first-parent", "--format=%H %P", "--basic-regexp", "--grep=^Skill-Run: ", tip, "--"
        ).text
        oldest = trained.splitlines()[-1].split() if trained else []
        if len(oldest) > 1:
            return oldest[1]
        return self._present("") if oldest else tip

    def _present(self, commit: str) -> str:
        if commit and self.repo.objects.find(commit):
            return commit
        hint = "git fetch --unshallow" if self.repo.shallow else "git fsck"
        raise RepositoryError(f"the history of skill/{self.name} is cut off before its start", hint=hint)

    def holds(self, tip: str, commit: str) -> bool:
        """Whether tip has commit in its past; not so when the branch was rebased or set back."""
        return commit == tip or self.repo.git("merge-base", "--is-ancestor", commit, tip, check=False).returncode == 0

    def _tip(self) -> str:
        tip = self.tip()
        if tip is None:
            raise RepositoryError(f"skill '{self.name}' was never trained here", hint=f"skillgit train {self.name}")
        return tip

    # -- the document

    def text(self, commit: str) -> str:
        """The skill as committed, with its own line endings; SkillError if it is not UTF-8."""
        data = self.repo.read_blob(self.blob(commit))
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise SkillError(f"{self.path} in {commit[:12]} is not UTF-8 (byte {error.start})") from None

    def blob(self, commit: str) -> str:
        """The id of the skill's blob in a commit."""
        return self._entry(commit).oid

    def _entry(self, commit: str) -> TreeEntry:
        entry = self.repo.entry(commit, self.path)
        if entry is None:
            raise RepositoryError(f"{commit[:12]} does not hold {self.path}")
        return entry

    # -- revisions

    def resolve(self, spec: str = "") -> str:
        """The commit of ``NAME[@REV]`` (or ``@REV``): best, base, step-7, epoch-2, run-1-step-7, or any git revision.

        RepositoryError says what is known, or that the commit does not hold the skill.
        """
        name, at, rev = spec.partition("@")
        if name not in ("", self.name) or (at and not rev):
            raise RepositoryError(f"'{spec}' is not a revision of skill '{self.name}'; {self._known()}")
        commit = self._revision(rev) if rev else self._tip()
        if commit is None:
            raise RepositoryError(f"skill '{self.name}' has no revision '{rev}'; {self._known()}")
        if self.repo.entry(commit, self.path) is None:
            raise RepositoryError(f"'{rev or name}' ({commit[:12]}) does not hold {self.path}")
        return commit

    def _revision(self, rev: str) -> str | None:
        if rev == "best":
            return self.best()
        if rev == "base":
            return self.base()
        entry = self.point(rev)
        return (entry.current or None) if entry else self.repo.resolve(rev)

    def point(self, rev: str) -> JournalEntry | None:
        """The journal entry that ``step-7``, ``epoch-2`` or ``run-1-step-7`` names; None for any other revision."""
        match = POINT.fullmatch(rev)
        if match is None:
            return None
        return self._point(match["kind"], int(match["number"]), int(match["run"]) if match["run"] else None)

    def _point(self, kind: str, number: int, run: int | None) -> JournalEntry | None:
        newest = self.journal.tip()
        if newest is None:
            return None
        run = newest.run if run is None else run
        kinds = (kind, "baseline") if number == 0 else (kind,)
        return next((entry for one in kinds for entry in self.journal.find(run, one, number)), None)

    def _known(self) -> str:
        entries = list(self.journal.entries())
        latest = [entry for entry in entries if entry.run == entries[0].run]
        steps = max((entry.step for entry in latest if entry.kind == "step"), default=0)
        epochs = max((entry.epoch for entry in latest if entry.kind == "epoch"), default=0)
        known = ["best", "base"]
        known += ["step-0" if steps == 0 else f"step-0 to step-{steps}"] if entries else []
        known += ["epoch-1" if epochs == 1 else f"epoch-1 to epoch-{epochs}"] if epochs else []
        return f"known: {', '.join(known)}, or a git revision"

    def log(self, since: str | None = None) -> Iterator[LogEntry]:
        """The commits of the branch, newest first, down to ``since`` (left out; the base by default)."""
        tip = self.tip()
        end = since or (self.base() if tip else "")
        # not `end..tip`: for that git walks to the end before it shows the first commit
        yield from takewhile(lambda entry: entry.oid != end, log(self.repo, tip) if tip else ())

    def commits(self) -> frozenset[str]:
        """The ids of the commits of the branch after its base."""
        listed = self.repo.git("rev-list", "--first-parent", f"{self.base()}..{self._tip()}", "--")
        return frozenset(listed.text.split())

    # -- new commits, as objects

    def edit_commits(self, parent: str, texts: Sequence[str], messages: Sequence[CommitMessage]) -> list[str]:
        """One commit for each text, on top of parent; only the skill file changes and its mode is kept."""
        commits = []
        for text, message in zip(texts, messages, strict=True):
            blob = self.repo.write_blob(text.encode("utf-8"))
            parent = self._commit(parent, blob, message)
            commits.append(parent)
        return commits

    def squash(self, parent: str, side_tip: str, message: CommitMessage) -> str:
        """One commit on parent with the skill of side_tip; its body lists the squashed commits as git's own does."""
        options = ("--format=medium", "--date=default", "--no-color", "--no-notes", "--no-decorate", "--encoding=UTF-8")
        listed = self.repo.git("log", *options, "--no-show-signature", "--no-mailmap", f"{parent}..{side_tip}", "--")
        listing = "Squashed commit of the following:\n\n" + listed.stdout.decode("utf-8", "replace")
        body = f"{message.body}\n\n{listing}".strip("\n")
        return self._commit(parent, self.blob(side_tip), replace(message, body=body))

    def _commit(self, parent: str, blob: str, message: CommitMessage) -> str:
        self._entry(parent)
        tree = self.repo.replace_file(parent, self.path, blob)
        sign = signing.wanted(self.repo, self._policy)
        return self.repo.write_commit(tree, [parent], message.render(self.name), sign=sign)
