"""Is the score true that a training commit's trailers claim? It is measured again, and what is recorded is not believed."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillgit.evaluate import evaluate_revision
from skillgit.git.log import log

if TYPE_CHECKING:
    from skillgit.git.repo import Repo
    from skillgit.report import Reporter

CLAIM = re.compile(r"hard \S+ -> (?P<after>[01](?:\.\d+)?)\D")


@dataclass(frozen=True, slots=True)
class Verified:
    """A claim, and the score measured afresh: ``scores`` has hard, n and the 95 % interval."""

    skill: str
    commit: str
    claimed: float
    scores: Mapping[str, Any]
    spend: Mapping[str, Any]

    @property
    def holds(self) -> bool:
        """True when the claim lies in the interval of what was measured."""
        low, high = self.scores["interval"]
        return bool(low <= self.claimed <= high)


def verify(
    repo: Repo, name: str, base: str, head: str, reporter: Reporter, overrides: Sequence[str]
) -> Verified | None:
    """Measure the newest claim between two commits; None where no commit claims a score.

    The repeat index is drawn at random, so no score that somebody wrote into the notes can stand for the measurement.
    """
    for entry in log(repo, f"{base}..{head}"):
        claim = CLAIM.match(entry.trailers.get("Skill-Score", ""))
        if claim and entry.subject.startswith(f"{name}: "):
            fresh = 1 + secrets.randbelow(2**31)
            found = evaluate_revision(repo, f"{name}@{entry.oid}", reporter, first=fresh, overrides=overrides)
            return Verified(name, entry.oid, float(claim["after"]), found.scores, found.spend)
    return None
