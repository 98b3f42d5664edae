"""Scores of any revision of a skill on any split: ``skillgit eval``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillgit.git.notes import Notes
from skillgit.git.publish import publish_notes
from skillgit.judging import judge_model
from skillgit.memo import Memo
from skillgit.models import registry
from skillgit.models.calls import Caller, Meter
from skillgit.models.limiter import Limiters
from skillgit.models.prices import demand_price
from skillgit.opening import Subject
from skillgit.replies import Replies
from skillgit.rollout import Evaluation, Rollouts, Text, demand_coverage
from skillgit.run import report
from skillgit.scores import ScoreBook
from skillgit.session import interruptible
from skillgit.spending import Spending

if TYPE_CHECKING:
    from skillgit.config import ModelSettings
    from skillgit.git.repo import Repo
    from skillgit.models.base import Usage
    from skillgit.report import Reporter
    from skillgit.splits import Task


@dataclass(frozen=True)
class EvalResult:
    """Scores of one revision. ``scores`` has hard, soft, n, the 95 % interval, and the same for each task type."""

    skill: str
    revision: str
    commit: str
    blob: str
    split: str
    target: str
    repeats: int
    scores: dict[str, Any]
    tasks: list[dict[str, Any]]
    spend: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


def evaluate_revision(
    repo: Repo,
    spec: str,
    reporter: Reporter,
    *,
    split: str = "selection",
    target: str = "",
    repeats: int = 1,
    first: int = 0,
    overrides: Sequence[str] = (),
) -> EvalResult:
    """Score ``NAME[@REV]``; what is known of this text is not measured again, what is new goes to its scores note.

    ``first`` is the index of the first repeat; one that nobody used before measures everything afresh.

    Raises NotMeasured when too few tasks could be measured; the scores of the others are kept.
    """
    name = spec.partition("@")[0]
    subject = Subject.load(repo, name, [*overrides, *([f"models.target.model={target}"] if target else [])])
    trained = "@" in spec or subject.history.tip()
    commit = subject.history.resolve(spec) if trained else subject.initial()[0]
    text = Text(subject.history.blob(commit), subject.history.text(commit))
    tasks: tuple[Task, ...] = getattr(subject.splits, split)
    settings = subject.env.settings.models.target
    work = _evaluate(subject, settings, text, tasks, range(first, first + repeats), reporter)
    evaluation, spend, used = interruptible(work, hint=f"skillgit eval {spec} --split {split}")
    items = {item.task_id: item for item in evaluation.scores.items}
    rows = [
        {
            "id": task.id,
            "type": task.type,
            "status": items[task.id].status,
            "hard": items[task.id].hard,
            "soft": items[task.id].soft,
        }
        for task in tasks
    ]
    scores = report(evaluation.scores, tasks)
    return EvalResult(name, spec, commit, text.blob, split, used, repeats, scores, rows, spend)


@dataclass(frozen=True, slots=True)
class Bench:
    """What measures texts outside of a run: the rollouts of one target, and what they cost."""

    rollouts: Rollouts
    target: str
    spending: Spending
    before: Usage

    def spent(self) -> dict[str, Any]:
        """What was spent here."""
        return self.spending.difference(self.before)


@asynccontextmanager
async def bench(subject: Subject, settings: ModelSettings, reporter: Reporter, what: str) -> AsyncIterator[Bench]:
    """A bench with a target; new scores are published and everything is closed afterwards, also after an error."""
    repo, env = subject.repo, subject.env
    demand_price(settings, env.settings.limits, "target")
    memo = Memo(repo.state_dir / "memo.sqlite", reporter.note)
    spending = Spending(memo, f"{subject.name}/{what}", "", {})
    meter, limiters = Meter(env.settings.limits, listen=spending.add), Limiters()
    model = Caller(registry.create(settings, "target"), settings, meter, "target", limiter=limiters.get(settings))
    judge = judge_model(env, Replies(memo), meter, limiters)
    book = ScoreBook(env.fingerprint, f"{model.name}#{model.fingerprint}", Notes(repo, "scores").get)
    rollouts = Rollouts(env, model, memo, book, concurrency=settings.concurrency, advance=reporter.advance)
    try:
        with spending.stage(what):
            yield Bench(rollouts, model.name, spending, spending.usage())
    finally:
        publish_notes(repo, {"scores": book.take()}, f"scores of {subject.name}")
        async with AsyncExitStack() as closing:
            closing.callback(memo.close)
            for one in (model, *([judge] if judge else [])):
                closing.push_async_callback(one.close)


async def _evaluate(
    subject: Subject, settings: ModelSettings, text: Text, tasks: Sequence[Task], repeats: range, reporter: Reporter
) -> tuple[Evaluation, dict[str, Any], str]:
    reporter.stage("eval", len(tasks))
    async with bench(subject, settings, reporter, "eval") as measuring:
        evaluation = await measuring.rollouts.evaluate(text, tasks, samples=len(repeats), first=repeats.start)
    demand_coverage(evaluation.errors, evaluation.evaluated, subject.env.settings.gate.min_coverage)
    return evaluation, measuring.spent(), measuring.target
