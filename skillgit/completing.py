"""What the shell offers after Tab: the names of skills, and the revisions of one after its ``@``."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextlib import suppress
from itertools import islice

STEPS = 200
"""The newest journal entries whose steps and epochs are offered."""


def skills(incomplete: str) -> list[str]:
    """Names of skills that begin so: the folders, and the trained ones whose folder is on another branch."""
    return sorted(name for name in _skills() if name.startswith(incomplete))


def revisions(incomplete: str) -> list[str]:
    """Names of skills, or ``NAME@REV`` once there is an ``@``."""
    name, at, rev = incomplete.partition("@")
    return [f"{name}@{found}" for found in _revisions(name) if found.startswith(rev)] if at else skills(incomplete)


def rejoin(environ: MutableMapping[str, str]) -> bool:
    """Undo that bash takes ``@`` for a word of its own. True if the word being completed has one."""
    words = environ.get("COMP_WORDS", "").split("\n")
    index = environ.get("COMP_CWORD", "")
    if environ.get("_SKILLGIT_COMPLETE") != "complete_bash" or "@" not in words or not index.isdecimal():
        return False
    typed = words[: int(index) + 1]
    joined = "\n".join(typed).replace("\n@\n", "@").replace("\n@", "@").split("\n")
    environ["COMP_WORDS"] = "\n".join(joined)
    environ["COMP_CWORD"] = str(len(joined) - 1)
    return "@" in joined[-1] and "@" in typed[-2:]


def _skills() -> set[str]:
    from skillgit.errors import SkillgitError
    from skillgit.git.repo import Repo
    from skillgit.workspace import skill_names

    with suppress(SkillgitError, OSError), Repo.discover(".") as repo:
        return {ref.removeprefix("refs/heads/skill/") for ref in repo.refs("refs/heads/skill/")} | {*skill_names(repo)}
    return set()


def _revisions(name: str) -> Iterator[str]:
    from skillgit.commands._options import history_of
    from skillgit.errors import SkillgitError
    from skillgit.git.repo import Repo

    with suppress(SkillgitError, OSError), Repo.discover(".") as repo:
        history = history_of(repo, name)
        if history.tip() is None:
            return
        yield from ("best", "base")
        entries = list(islice(history.journal.entries(), STEPS))
        for entry in entries:
            if entry.run == entries[0].run and entry.kind in ("step", "epoch"):
                yield f"{entry.kind}-{entry.step if entry.kind == 'step' else entry.epoch}"
