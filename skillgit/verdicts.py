"""The gate outside of a training: one revision against another, and against itself (A/A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillgit.calibration import Calibration, calibrate
from skillgit.evaluate import bench
from skillgit.gate import Verdict, decide
from skillgit.opening import Subject
from skillgit.plan import total_looks
from skillgit.rollout import Text, demand_coverage
from skillgit.session import interruptible

if TYPE_CHECKING:
    from skillgit.gate import Scores
    from skillgit.git.repo import Repo
    from skillgit.report import Reporter


@dataclass(frozen=True, slots=True)
class Compared:
    """What the gate says of ``revision`` against ``against``."""

    skill: str
    revision: str
    against: str
    target: str
    verdict: Verdict
    spend: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        names = {"skill": self.skill, "revision": self.revision, "against": self.against, "target": self.target}
        return {**names, "verdict": self.verdict.as_dict(), "spend": self.spend}


@dataclass(frozen=True, slots=True)
class SameTwice:
    """What two evaluations of the same skill say of the gate; a run has ``looks`` of them."""

    skill: str
    revision: str
    target: str
    looks: int
    calibration: Calibration
    spend: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        names = {"skill": self.skill, "revision": self.revision, "target": self.target, "looks": self.looks}
        return {**names, **self.calibration.as_dict(), "spend": self.spend}


def compare_revisions(
    repo: Repo, spec: str, reporter: Reporter, *, against: str = "base", overrides: Sequence[str] = ()
) -> Compared:
    """Score two revisions of ``NAME[@REV]`` on the selection split and let the gate decide between them."""
    subject = Subject.load(repo, spec.partition("@")[0], overrides)
    texts = [_text(subject, rev) for rev in (f"{subject.name}@{against}", spec)]
    work = _scores(subject, [(text, 0) for text in texts], reporter)
    (before, after), target, spend = interruptible(work, hint=f"skillgit gate {spec} --against {against}")
    verdict = decide(subject.env.settings.gate, before, after, before)
    return Compared(subject.name, spec, against, target, verdict, spend)


def same_twice(repo: Repo, spec: str, reporter: Reporter, *, overrides: Sequence[str] = ()) -> SameTwice:
    """Score the same revision twice, the second time with repeat indices of its own, and say how noisy the gate is."""
    subject = Subject.load(repo, spec.partition("@")[0], overrides)
    settings, text = subject.env.settings, _text(subject, spec)
    work = _scores(subject, [(text, 0), (text, settings.gate.repeats)], reporter)
    (first, second), target, spend = interruptible(work, hint=f"skillgit gate {spec} --aa")
    looks = total_looks(settings, len(subject.splits.train))
    found = calibrate(settings.gate, first, second, looks=looks)
    return SameTwice(subject.name, spec, target, looks, found, spend)


def _text(subject: Subject, spec: str) -> Text:
    if "@" not in spec and not subject.history.tip():
        return subject.initial()[1]
    commit = subject.history.resolve(spec)
    return Text(subject.history.blob(commit), subject.history.text(commit))


async def _scores(
    subject: Subject, texts: Sequence[tuple[Text, int]], reporter: Reporter
) -> tuple[list[Scores], str, dict[str, Any]]:
    """The scores of each text, its repeats from an index on."""
    settings, tasks = subject.env.settings, subject.splits.selection
    found: list[Scores] = []
    reporter.stage("gate", len(tasks) * len(texts))
    async with bench(subject, settings.models.target, reporter, "gate") as measuring:
        for text, first in texts:
            evaluation = await measuring.rollouts.evaluate(text, tasks, samples=settings.gate.repeats, first=first)
            demand_coverage(evaluation.errors, evaluation.evaluated, settings.gate.min_coverage)
            found.append(evaluation.scores)
    return found, measuring.target, measuring.spent()
