"""Who signs a training commit, and when."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from skillgit.errors import RepositoryError
from skillgit.git.process import Result, complaint

IDENT = re.compile(r"(?P<name>.*) <(?P<email>[^>]*)> (?P<date>\d+ [+-]\d{4})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Person:
    """``date`` is ``seconds zone`` when GIT_AUTHOR_DATE or GIT_COMMITTER_DATE fixes it, else empty: now."""

    name: str = "skillgit"
    email: str = "skillgit@localhost"
    date: str = ""

    def line(self, when: datetime | None = None) -> str:
        """``Name <mail> seconds zone``, as a commit has it."""
        return f"{self.name} <{self.email}> {self.stamp(when)}"

    def stamp(self, when: datetime | None = None) -> str:
        """``seconds zone`` of when, of the fixed date, or of now in local time."""
        if when is None and self.date:
            return self.date
        moment = (when or datetime.now()).astimezone()
        if when is not None and when.tzinfo is not None:
            moment = when
        return f"{int(moment.timestamp())} {moment.strftime('%z')[:5]}"


@dataclass(frozen=True, slots=True)
class Identity:
    """Author and committer of training commits."""

    author: Person
    committer: Person

    def environment(self, when: datetime | None = None) -> dict[str, str]:
        """The same as variables, for git commands that write commits or reflogs."""
        people = {"AUTHOR": self.author, "COMMITTER": self.committer}
        return {
            f"GIT_{role}_{key}": value
            for role, person in people.items()
            for key, value in (("NAME", person.name), ("EMAIL", person.email), ("DATE", person.stamp(when)))
        }


def ask(git: Callable[..., Result]) -> Identity:
    """The identity configured for git; whoever has none is ``skillgit <skillgit@localhost>``.

    What git would make up from the login and host name does not count as configured.
    """
    return Identity(_person(git, "AUTHOR"), _person(git, "COMMITTER"))


def _person(git: Callable[..., Result], role: Literal["AUTHOR", "COMMITTER"]) -> Person:
    answer = git("-c", "user.useConfigOnly=true", "var", f"GIT_{role}_IDENT", check=False)
    date = os.environ.get(f"GIT_{role}_DATE", "")
    if answer.returncode:
        if "date" in (said := complaint(answer.stderr)):
            raise RepositoryError(f"GIT_{role}_DATE: {said}")
        return Person()
    match = IDENT.fullmatch(answer.stdout.decode("utf-8", "replace").strip())
    if match is None:
        return Person()
    return Person(match["name"], match["email"], match["date"] if date else "")
