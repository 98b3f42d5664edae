"""Signed training commits, with whatever signer git is configured for (openpgp, ssh, x509)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from skillgit.errors import RepositoryError

if TYPE_CHECKING:
    from skillgit.git.repo import Repo

SIGNER_TIMEOUT = 30.0
TRUE = ("true", "yes", "on", "1")


def wanted(repo: Repo, policy: Literal["inherit", "never"]) -> bool:
    """Whether training commits are signed: ``inherit`` does what commit.gpgsign says."""
    return policy == "inherit" and repo.config.get("commit.gpgsign", "").lower() in TRUE


def check_signing(repo: Repo, policy: Literal["inherit", "never"] = "inherit") -> None:
    """Try the signer once, before anything is spent. Leaves nothing in the repository. Raises RepositoryError."""
    import tempfile

    if not wanted(repo, policy):
        return
    empty = repo.objects.name("tree", b"")  # git knows it without having it
    with tempfile.TemporaryDirectory() as folder:
        aside = {"GIT_OBJECT_DIRECTORY": folder}
        signed_commit(repo, empty, [], "Can training commits be signed?\n", None, aside)


def signed_commit(
    repo: Repo,
    tree: str,
    parents: Sequence[str],
    message: str,
    when: datetime | None,
    env: Mapping[str, str] | None = None,
) -> str:
    """The id of a commit that git itself wrote and signed. Raises RepositoryError if it could not in time."""
    flags = [flag for parent in parents for flag in ("-p", parent)]
    who = repo.identity().environment(when)
    # git takes the message's encoding from the configuration; ours is UTF-8 whatever that says
    args = ("-c", "i18n.commitEncoding=UTF-8", "commit-tree", "-S", *flags, "-F", "-", tree)
    data = message.encode("utf-8", "replace")
    try:
        return repo.git(*args, input=data, env={**who, **(env or {})}, timeout=SIGNER_TIMEOUT).text
    except RepositoryError as error:
        raise RepositoryError(
            f"cannot sign training commits (commit.gpgsign is on): {error.message}", hint="-o git.sign=never"
        ) from None
