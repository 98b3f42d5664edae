"""What each change of a training is worth: the score with it less the score without it, everything else as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillgit.evaluate import bench
from skillgit.gate import Scores, paired_interval
from skillgit.git.publish import publish_notes
from skillgit.opening import Subject
from skillgit.policies import Case
from skillgit.replay import Change, taken_back, without
from skillgit.results import join
from skillgit.rollout import Rollouts, Text, demand_coverage
from skillgit.session import interruptible
from skillgit.skill import Edit
from skillgit.yamltext import dump

if TYPE_CHECKING:
    from skillgit.config import GateSettings
    from skillgit.git.history import SkillHistory
    from skillgit.git.repo import Repo
    from skillgit.report import Reporter


@dataclass(frozen=True, slots=True)
class Worth:
    """What a commit of the skill branch is worth to the current skill.

    ``worth`` is the mean difference over the tasks that were measured with it and without it (-1..1), ``interval`` its
    95 % interval, ``kept`` names the tasks that are lost without it, ``cost`` those that are won. All are empty when the
    change does not stand alone: a later one rests on it.
    """

    commit: str
    title: str
    alone: bool
    worth: float | None = None
    interval: tuple[float, float] | None = None
    n: int = 0
    kept: tuple[str, ...] = ()
    cost: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "commit": self.commit,
            "title": self.title,
            "alone": self.alone,
            "worth": self.worth,
            "interval": list(self.interval) if self.interval else None,
            "n": self.n,
            "kept": list(self.kept),
            "cost": list(self.cost),
        }


@dataclass(frozen=True, slots=True)
class Attribution:
    """The worth of every change, oldest first, in the skill at ``commit``; those that were taken back are left out."""

    skill: str
    commit: str
    score: float
    rows: tuple[Worth, ...]
    spend: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        rows = [row.as_dict() for row in self.rows]
        return {"skill": self.skill, "commit": self.commit, "score": self.score, "changes": rows, "spend": self.spend}


def attribute(repo: Repo, name: str, reporter: Reporter, *, overrides: Sequence[str] = ()) -> Attribution:
    """Measure the current skill without each change, where that is not known yet, and keep each worth in a note.

    Raises NotMeasured when too few tasks could be measured; what was measured is kept.
    """
    subject = Subject.load(repo, name, overrides)
    changes = changes_of(subject.history)
    found = interruptible(_attribute(subject, changes, reporter), hint=f"skillgit attribute {name}")
    publish_notes(repo, {"worth": {row.commit: _note(subject, found, row) for row in found.rows}}, f"worth of {name}")
    return found


async def _attribute(subject: Subject, changes: Sequence[Change], reporter: Reporter) -> Attribution:
    settings, tasks, tip = subject.env.settings, subject.splits.selection, subject.history.resolve()
    whole = subject.history.text(tip)
    undone = taken_back(changes)
    standing = [change for change in changes if change.commit not in {*undone, *undone.values()}]
    texts = {change.commit: without(changes, {change.commit}) for change in standing}
    wanted = list(dict.fromkeys([whole, *(text for text in texts.values() if text is not None)]))
    measured: dict[str | None, Scores] = {}
    reporter.stage("attribute", len(tasks) * len(wanted))
    async with bench(subject, settings.models.target, reporter, "attribute") as measuring:
        for content in wanted:
            measured[content] = await scores_of(subject, content, measuring.rollouts)
    current = measured[whole]
    rows = [worth_of(settings.gate, change, current, measured.get(texts[change.commit])) for change in standing]
    score = float(current.value(settings.gate.metric, settings.gate.mixed_weight))
    return Attribution(subject.name, tip, round(score, 6), tuple(rows), measuring.spent())


async def scores_of(subject: Subject, content: str, rollouts: Rollouts) -> Scores:
    """A text's scores on the selection split. Raises NotMeasured when too few tasks could be measured."""
    gate = subject.env.settings.gate
    text = Text(subject.repo.write_blob(content.encode("utf-8")), content)
    evaluation = await rollouts.evaluate(text, subject.splits.selection, samples=gate.repeats)
    demand_coverage(evaluation.errors, evaluation.evaluated, gate.min_coverage)
    return evaluation.scores


def worth_of(settings: GateSettings, change: Change, current: Scores, without_it: Scores | None) -> Worth:
    """What a change is worth, from the scores with it and without it (None: it does not stand alone)."""
    if without_it is None:
        return Worth(change.commit, change.title, alone=False)
    pairs = join(without_it, current).measured
    moves = [float(move) for move in Case(settings, pairs, settings.alpha).moves]
    low, high = paired_interval(moves)
    moved = [(item.task_id, move) for (_, item), move in zip(pairs, moves, strict=True)]
    return Worth(
        change.commit,
        change.title,
        alone=True,
        worth=round(sum(moves) / max(1, len(moves)), 6),
        interval=(round(low, 6), round(high, 6)),
        n=len(moves),
        kept=tuple(task_id for task_id, move in moved if move > 0),
        cost=tuple(task_id for task_id, move in moved if move < 0),
    )


def changes_of(history: SkillHistory) -> list[Change]:
    """The changes of the skill branch, oldest first: edits, epoch ends, people's commits."""
    edits = {
        row["commit"]: Edit.from_dict(row)
        for entry in history.journal.entries()
        for row in (entry.patch if entry.kind in ("step", "patch") else ())
        if row.get("commit")
    }
    commits = list(history.log())[::-1]
    texts = [history.text(commit) for commit in (history.base(), *(commit.oid for commit in commits))]
    return [
        Change(
            commit.oid,
            before,
            after,
            edits.get(commit.oid),
            epoch=commit.trailers.get("Skill-Kind") == "epoch",
            title=commit.subject.removeprefix(f"{history.name}: "),
        )
        for commit, before, after in zip(commits, texts, texts[1:], strict=False)
        if before != after
    ]


def _note(subject: Subject, found: Attribution, row: Worth) -> str:
    target = subject.env.settings.models.target.model
    facts = {"skill": subject.name, "on": found.commit, "env": subject.env.fingerprint, "target": target}
    return "---\n" + dump({**facts, **row.as_dict()})
