"""Trainings of two clones made one: fetch, merge the notes, fast-forward the branches, push; nothing is ever forced.

What a remote has is fetched into refs of its own (``refs/skillgit-remotes/``), so that no ref of ours is overwritten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from skillgit.errors import RaceError, RepositoryError
from skillgit.git import worktree
from skillgit.git.history import SkillHistory
from skillgit.git.merging import merged_notes
from skillgit.git.notes import NAMESPACES, PREFIX
from skillgit.git.process import complaint
from skillgit.git.repo import Repo
from skillgit.git.transaction import Transaction

ATTEMPTS = 5
TIMEOUT = 600.0
"""Seconds for one fetch or push."""
BRANCHES, SKILLS = "refs/heads/skill/", "refs/skillgit/"
Way = Literal["same", "push", "pull", "diverged", "theirs"]


@dataclass(frozen=True, slots=True)
class Synced:
    """What happened to each skill, and the namespaces whose notes came or went.

    ``skills`` maps a skill to same, push, pull, theirs or diverged; ``kept`` to where our own line of a skill is kept that
    gave way.
    """

    remote: str
    skills: Mapping[str, Way]
    notes: Mapping[str, str]
    kept: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {
            "remote": self.remote,
            "skills": dict(self.skills),
            "notes": dict(self.notes),
            "kept": dict(self.kept),
        }


@dataclass(frozen=True, slots=True)
class _Side:
    """The refs of one skill on one side."""

    branch: str | None
    journal: str | None
    best: str | None
    epochs: Mapping[str, str]


def sync(repo: Repo, remote: str = "origin", *, theirs: str = "") -> Synced:
    """Bring this clone and a remote to the same trainings and notes.

    ``theirs`` names a skill whose line here gives way to the remote's; ours is kept under refs/skillgit/NAME/kept/. A
    diverged skill is left as it is on both sides, and told; all others and the notes are synced. Raises RepositoryError
    when the remote cannot be reached or read, RaceError when it kept moving.
    """
    for left in reversed(range(ATTEMPTS)):
        try:
            return _sync(repo, remote, theirs)
        except RaceError:
            if not left:
                raise
    raise AssertionError


def configure(repo: Repo, remote: str = "origin") -> list[str]:
    """Have plain ``git fetch`` and ``git push`` carry trainings and notes; returns the settings that were added.

    They are fetched beside ours, for ``skillgit sync`` to merge; a push is never forced, and goes on pushing HEAD.
    """
    _known(repo, remote)
    wanted = [(f"remote.{remote}.fetch", spec) for spec in _fetched(remote)]
    pushed = ("HEAD", f"{BRANCHES}*", f"{SKILLS}*", f"{PREFIX}*")
    wanted += [(f"remote.{remote}.push", spec) for spec in pushed]
    added = []
    for key, value in wanted:
        had = repo.git("config", "--get-all", key, check=False).text.splitlines()
        if value not in had:
            repo.git("config", "--add", key, value)
            added.append(f"{key} {value}")
    return added


def _fetched(remote: str) -> tuple[str, ...]:
    mirror = f"refs/skillgit-remotes/{remote}"
    return (f"+{BRANCHES}*:{mirror}/heads/*", f"+{SKILLS}*:{mirror}/skills/*", f"+{PREFIX}*:{mirror}/notes/*")


def _known(repo: Repo, remote: str) -> None:
    if repo.git("remote", "get-url", remote, check=False).returncode:
        names = repo.git("remote").text.split()
        known = f"known: {', '.join(names)}" if names else "this repository has none"
        raise RepositoryError(f"there is no remote '{remote}'; {known}", hint="git remote add origin URL")


def _sync(repo: Repo, remote: str, theirs: str) -> Synced:
    _known(repo, remote)
    answer = repo.git("fetch", "--no-tags", "--prune", remote, *_fetched(remote), check=False, timeout=TIMEOUT)
    if answer.returncode:
        raise RepositoryError(f"cannot fetch from {remote}: {complaint(answer.stderr)}", hint=f"git fetch {remote}")
    mirror = f"refs/skillgit-remotes/{remote}"
    transaction, pushes, ways, kept = Transaction(repo), dict[str, tuple[str, str | None]](), dict[str, Way](), {}
    followed = []
    for name in _skills(repo, mirror):
        ours, there = _ours(repo, name), _there(repo, mirror, name)
        way: Way = "theirs" if name == theirs and there.branch else _way(repo, ours, there)
        ways[name] = way
        if way == "theirs" and ours.branch and ours.branch != there.branch:
            kept[name] = f"{SKILLS}{name}/kept/{ours.branch[:12]}"
            transaction.set(kept[name], ours.branch, repo.ref(kept[name]))
        if way in ("pull", "theirs"):
            branch = f"{BRANCHES}{name}"
            if ours.branch and there.branch and ours.branch != there.branch:
                followed.append(
                    (worktree.followers(repo, branch, ours.branch, there.branch), ours.branch, there.branch)
                )
            _move(transaction, name, ours, there)
        if way == "push":
            pushes |= _pushed(name, ours, there)
    notes = _notes(repo, mirror, transaction, pushes)
    transaction.commit(f"skillgit: sync with {remote}")
    for checkouts, old, new in followed:
        worktree.follow(repo, checkouts, old, new)
    _push(repo, remote, pushes)
    return Synced(remote, ways, notes, kept)


def _skills(repo: Repo, mirror: str) -> list[str]:
    here = (ref.removeprefix(BRANCHES) for ref in repo.refs(BRANCHES))
    there = (ref.removeprefix(f"{mirror}/heads/") for ref in repo.refs(f"{mirror}/heads/"))
    return sorted({*here, *there})


def _ours(repo: Repo, name: str) -> _Side:
    history, epochs = SkillHistory(repo, name), f"{SKILLS}{name}/epochs/"
    found = {ref.removeprefix(epochs): oid for ref, oid in repo.refs(epochs).items()}
    return _Side(history.tip(), repo.ref(history.journal_ref), history.best(), found)


def _there(repo: Repo, mirror: str, name: str) -> _Side:
    epochs = f"{mirror}/skills/{name}/epochs/"
    found = {ref.removeprefix(epochs): oid for ref, oid in repo.refs(epochs).items()}
    journal, best = (repo.ref(f"{mirror}/skills/{name}/{what}") for what in ("journal", "best"))
    return _Side(repo.ref(f"{mirror}/heads/{name}"), journal, best, found)


def _way(repo: Repo, ours: _Side, there: _Side) -> Way:
    """The one way in which branch and journal can both be fast-forwarded."""
    ways = {_one_way(repo, *pair) for pair in ((ours.branch, there.branch), (ours.journal, there.journal))} - {"same"}
    if not ways:
        return "push" if ours.best != there.best else "same"
    return ways.pop() if len(ways) == 1 else "diverged"


def _one_way(repo: Repo, ours: str | None, there: str | None) -> Way:
    if ours == there:
        return "same"
    if ours is None or (there and _holds(repo, there, ours)):
        return "pull"
    return "push" if there is None or _holds(repo, ours, there) else "diverged"


def _holds(repo: Repo, tip: str, commit: str) -> bool:
    return repo.git("merge-base", "--is-ancestor", commit, tip, check=False).returncode == 0


def _move(transaction: Transaction, name: str, ours: _Side, there: _Side) -> None:
    history_refs = {
        f"{BRANCHES}{name}": (there.branch, ours.branch),
        f"{SKILLS}{name}/journal": (there.journal, ours.journal),
        f"{SKILLS}{name}/best": (there.best, ours.best),
    }
    epochs = {f"{SKILLS}{name}/epochs/{run}": (oid, ours.epochs.get(run)) for run, oid in there.epochs.items()}
    for ref, (new, old) in {**history_refs, **epochs}.items():
        if new and new != old:
            transaction.set(ref, new, old)


def _pushed(name: str, ours: _Side, there: _Side) -> dict[str, tuple[str, str | None]]:
    """Ref -> (our commit, theirs) of what is to be pushed."""
    refs = {
        f"{BRANCHES}{name}": (ours.branch, there.branch),
        f"{SKILLS}{name}/journal": (ours.journal, there.journal),
        f"{SKILLS}{name}/best": (ours.best, there.best),
    }
    refs |= {f"{SKILLS}{name}/epochs/{run}": (oid, there.epochs.get(run)) for run, oid in ours.epochs.items()}
    return {ref: (new, old) for ref, (new, old) in refs.items() if new and new != old}


def _notes(
    repo: Repo, mirror: str, transaction: Transaction, pushes: dict[str, tuple[str, str | None]]
) -> dict[str, str]:
    told = {}
    for namespace in NAMESPACES:
        ours, there = repo.ref(PREFIX + namespace), repo.ref(f"{mirror}/notes/{namespace}")
        both = merged_notes(repo, namespace, ours, there)
        if both is None or ours == there:
            continue
        told[namespace] = "pulled" if both == there else "pushed" if both == ours else "merged"
        if both != ours:
            transaction.set(PREFIX + namespace, both, ours)
        if both != there:
            pushes[PREFIX + namespace] = (both, there)
    return told


def _push(repo: Repo, remote: str, pushes: Mapping[str, tuple[str, str | None]]) -> None:
    """Push all or nothing, each ref from where it was fetched. Raises RaceError when one has moved since."""
    if not pushes:
        return
    leases = [f"--force-with-lease={ref}:{old or ''}" for ref, (_, old) in pushes.items()]
    specs = [f"{new}:{ref}" for ref, (new, _) in pushes.items()]
    for atomic in (("--atomic",), ()):
        answer = repo.git("push", "--porcelain", *atomic, *leases, remote, *specs, check=False, timeout=TIMEOUT)
        if not (atomic and b"does not support --atomic" in answer.stderr):
            break
    if not answer.returncode:
        return
    said = f"{answer.text}\n{answer.stderr.decode('utf-8', 'replace')}"
    if "stale info" in said or "fetch first" in said or "cannot lock ref" in said:
        raise RaceError(f"{remote} was moved by somebody else meanwhile", hint=f"skillgit sync {remote}")
    lines = [line for line in said.splitlines() if "rejected" in line or "error:" in line or "fatal:" in line]
    why = " ".join((lines or said.splitlines() or ["no reason given"])[0].split())
    raise RepositoryError(f"{remote} did not take the push: {why}", hint=f"git push {remote} skill/NAME")
