"""Notes of two clones as one: the union of their pieces, a commit with both as parents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgit.git.notes import PREFIX, Notes

if TYPE_CHECKING:
    from skillgit.git.repo import Repo


def merged_notes(repo: Repo, namespace: str, ours: str | None, theirs: str | None) -> str | None:
    """The commit that holds both sides' notes: one of the two where it has the other in its past, else a new one."""
    if ours is None or theirs is None or ours == theirs:
        return ours or theirs
    if _holds(repo, ours, theirs):
        return ours
    if _holds(repo, theirs, ours):
        return theirs
    here, there = (dict(Notes(repo, namespace, tip).all()) for tip in (ours, theirs))
    additions = {}
    for oid, text in there.items():
        known = here.get(oid, "")
        missing = [piece for piece in pieces(namespace, text) if piece not in pieces(namespace, known)]
        if missing:
            additions[oid] = "".join(missing)
    staged, _ = Notes(repo, namespace, ours).stage(additions)
    return repo.write_commit(repo.tree_of(staged), [ours, theirs], f"Notes of two clones: {PREFIX}{namespace}\n")


def pieces(namespace: str, text: str) -> list[str]:
    """What a note is made of: lines of scores, YAML documents, or (meta) the whole text."""
    if namespace == "scores":
        return [f"{line}\n" for line in text.splitlines()]
    if namespace == "meta":
        return [text if text.endswith("\n") else f"{text}\n"]
    parts = [part for part in f"\n{text}".split("\n---\n") if part.strip()]
    return [f"---\n{part if part.endswith(chr(10)) else part + chr(10)}" for part in parts]


def _holds(repo: Repo, tip: str, commit: str) -> bool:
    return repo.git("merge-base", "--is-ancestor", commit, tip, check=False).returncode == 0
