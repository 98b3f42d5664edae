"""A step becomes part of the repository: journal, branch, best, notes and side branch move together or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skillgit.errors import RaceError
from skillgit.git import intent, worktree
from skillgit.git.notes import PREFIX, Notes
from skillgit.git.transaction import Transaction

if TYPE_CHECKING:
    from skillgit.git.history import SkillHistory
    from skillgit.git.repo import Repo

ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class Publication:
    """What a step leaves behind.

    ``files`` and ``subject`` make the journal entry, ``parent`` is the entry it follows ("" = the newest there is).
    ``branch`` and ``best`` are (new commit, expected old commit or None); ``notes`` is namespace -> object id -> text
    to append; ``epoch`` is (RUN-EPOCH, tip of the side branch).
    """

    files: Mapping[str, str | bytes]
    subject: str
    parent: str | None = ""
    branch: tuple[str, str | None] | None = None
    best: tuple[str, str | None] | None = None
    notes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    epoch: tuple[str, str] | None = None


def publish(repo: Repo, history: SkillHistory, publication: Publication) -> str:
    """Write all of it, with one ref transaction, and return the journal entry's id.

    Then a clean checkout of the branch follows. Raises RaceError when a ref is not where it was expected (notes refs,
    which all skills share, are tried again), RepositoryError when a checkout has changes in the way.
    """
    new, old = publication.branch or ("", None)
    checkouts = worktree.followers(repo, history.branch, old, new) if old and old != new else []
    parent = repo.ref(history.journal_ref) if publication.parent == "" else publication.parent
    base = new if old is None else ""
    entry = history.journal.append(parent, publication.files, publication.subject, base=base)
    for left in reversed(range(ATTEMPTS)):
        transaction = _transaction(repo, history, publication, entry, parent)
        try:
            with intent.recorded(repo, history.name, transaction.moves):
                transaction.commit(f"skillgit: {publication.subject}")
            break
        except RaceError as error:
            if PREFIX not in error.message or not left:
                raise
    worktree.follow(repo, checkouts, old or "", new)
    return entry


def _transaction(
    repo: Repo, history: SkillHistory, publication: Publication, entry: str, parent: str | None
) -> Transaction:
    transaction = Transaction(repo)
    transaction.set(history.journal_ref, entry, parent)  # first, see intent.py
    if publication.branch:
        transaction.set(history.branch, *publication.branch)
    if publication.best:
        transaction.set(history.best_ref, *publication.best)
    if publication.epoch:
        run_epoch, side_tip = publication.epoch
        ref = history.epoch_ref(run_epoch)
        transaction.set(ref, side_tip, repo.ref(ref))
    for namespace, additions in publication.notes.items():
        if additions:
            notes = Notes(repo, namespace)
            transaction.set(notes.ref, *notes.stage(additions))
    return transaction


def publish_notes(repo: Repo, notes: Mapping[str, Mapping[str, str]], message: str) -> None:
    """Append notes (namespace -> object id -> text) outside of any run, trying again when another writer was faster."""
    for left in reversed(range(ATTEMPTS)):
        transaction = Transaction(repo)
        for namespace, additions in notes.items():
            if additions:
                store = Notes(repo, namespace)
                transaction.set(store.ref, *store.stage(additions))
        try:
            transaction.commit(f"skillgit: {message}")
            break
        except RaceError:
            if not left:
                raise
