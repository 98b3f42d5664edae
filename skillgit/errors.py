"""Expected errors, as one family. Anything outside it is a bug.

SkillgitError               exit 1   an expected failure
├── UsageError              exit 2   the command line or a file of the user's is wrong
│   ├── ConfigError                  a setting is unknown, out of range or contradicts another
│   ├── TaskError                    a task file, a task or a split
│   └── SkillError                   the skill document: frontmatter, markers, encoding
├── RepositoryError         exit 1   git said no: not a repository, a refusing signer, a missing ref
│   ├── LockedError                  another process trains this skill
│   └── RaceError                    a ref moved under our feet; nothing was written
├── ModelError              exit 1   a model could not do its work
│   ├── ProviderError                one call failed, retries included: the item is not measured
│   ├── FatalModelError              every call would fail: wrong key, unknown model, missing binary
│   └── OutputError                  the model answered, but with nothing usable
├── NotMeasured             exit 1   too many items ended as errors for a verdict
├── LimitReached            exit 1   a cap on money, tokens, calls or minutes
├── RefusedError            exit 1   the gate, a lint or a policy says no
├── HandedOff               exit 4   calls wait in a folder for somebody's answers
└── InterruptedRun          exit 130 Ctrl-C
"""

from __future__ import annotations


class SkillgitError(Exception):
    """One line for the user: what was wrong, what is allowed, and in ``hint`` what to do next."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(SkillgitError):
    """The command line, or a file the user wrote, is wrong."""

    exit_code = 2


class ConfigError(UsageError):
    """A setting is unknown, out of range, or contradicts another."""


class TaskError(UsageError):
    """A task file, a task, or the way tasks are split."""


class SkillError(UsageError):
    """The skill document cannot be trained as it is: frontmatter, markers or encoding."""


class RepositoryError(SkillgitError):
    """Git could not do what was asked."""


class LockedError(RepositoryError):
    """Another process holds the lock of this skill."""


class RaceError(RepositoryError):
    """A ref no longer had its expected value; nothing was written."""


class ModelError(SkillgitError):
    """A model, or the way to it, failed."""


class ProviderError(ModelError):
    """One call failed for good, retries included. Its item is *not measured*, never a zero.

    A backend sets ``transient`` when a retry may help, ``retry_after`` (seconds) when the provider named a time, and
    ``overloaded`` when it asked for fewer calls (429, 529).
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        transient: bool = False,
        retry_after: float | None = None,
        overloaded: bool = False,
    ) -> None:
        super().__init__(message, hint=hint)
        self.transient = transient
        self.retry_after = retry_after
        self.overloaded = overloaded


class FatalModelError(ModelError):
    """Every further call would fail the same way, so the run ends with the provider's own words."""


class OutputError(ModelError):
    """The model answered, but what it said cannot be used."""


class NotMeasured(SkillgitError):
    """Too many items ended as errors for a score that means something."""


class LimitReached(SkillgitError):
    """A cap on money, tokens, calls or minutes. The run stops in good order and can go on later."""


class RefusedError(SkillgitError):
    """The gate or a policy says no."""


class HandedOff(SkillgitError):
    """A call was handed to somebody else. Calls beside it are still made, so that they can be answered together."""

    exit_code = 4


class InterruptedRun(SkillgitError):
    """The user pressed Ctrl-C; everything paid for is kept."""

    exit_code = 130
