"""Opens a run: what is checked before anything is spent, and the services that the loop is given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillgit import env as environments
from skillgit.errors import RepositoryError, TaskError
from skillgit.git import signing, worktree
from skillgit.git.history import SkillHistory
from skillgit.git.lock import SkillLock
from skillgit.git.notes import Notes
from skillgit.judging import judge_model
from skillgit.memo import Memo
from skillgit.models import registry
from skillgit.models.calls import Caller, Meter
from skillgit.models.limiter import Limiters
from skillgit.models.prices import demand_price
from skillgit.plan import Plan, make_plan
from skillgit.recorder import Recorder
from skillgit.replies import Replies
from skillgit.resuming import demand_same_config, run_config, spent_before, state_of_run
from skillgit.rollout import Rollouts, Text
from skillgit.run import Run
from skillgit.scores import ScoreBook
from skillgit.skill import check_document
from skillgit.spending import Spending
from skillgit.stages.ask import Optimizer
from skillgit.workspace import FOLDER, skill_folder

if TYPE_CHECKING:
    from skillgit.env import Environment
    from skillgit.git.repo import Repo
    from skillgit.report import Reporter
    from skillgit.splits import Splits
    from skillgit.state import State


@dataclass(frozen=True)
class Subject:
    """A skill with its environment and history, before any model is there."""

    name: str
    repo: Repo
    env: Environment
    splits: Splits
    history: SkillHistory

    @classmethod
    def load(cls, repo: Repo, name: str, overrides: Sequence[str] = ()) -> Subject:
        """Read and check everything that costs nothing: settings, tasks, splits, judge."""
        env = environments.load(skill_folder(repo, name), overrides)
        splits = env.splits()
        minimum = env.settings.gate.min_items
        if len(splits.selection) < minimum:
            raise TaskError(
                f"the selection split has {len(splits.selection)} tasks; a gate needs at least {minimum}",
                hint="add tasks, or change split.ratio",
            )
        history = SkillHistory(repo, name, f"{FOLDER}/{name}/{env.settings.skill}", sign=env.settings.git.sign)
        return cls(name, repo, env, splits, history)

    def initial(self, start: str = "") -> tuple[str, Text]:
        """The commit a training starts from (the skill branch's tip, if there is one) and the skill in it."""
        commit = self.history.tip() or self.history.start(start or self.env.settings.git.start)
        text = self.history.text(commit)
        check_document(text, self.history.path)
        return commit, Text(self.history.blob(commit), text)

    def plan(self) -> Plan:
        """What a whole run takes."""
        return make_plan(self.env.settings, self.splits, self.initial()[1].text)


def next_run(history: SkillHistory, *, new: bool) -> tuple[int, State | None]:
    """The number of the run to work on, and where it stands (None: at its beginning)."""
    tip = history.journal.tip()
    if tip is None:
        numbers = [int(entry.trailers.get("Skill-Run", 0)) for entry in history.log()] if history.tip() else []
        return max(numbers, default=0) + 1, None
    if new:
        return tip.run + 1, None
    return tip.run, state_of_run(history.journal, tip.run)


@asynccontextmanager
async def opened(subject: Subject, reporter: Reporter, *, new_run: bool = False, start: str = "") -> AsyncIterator[Run]:
    """A run that is ready to go, with its lock held; models and files are closed afterwards."""
    repo, history, settings = subject.repo, subject.history, subject.env.settings
    with SkillLock(repo, subject.name):
        if not new_run and (missing := history.missing()):
            raise RepositoryError(missing[0], hint=missing[1])
        worktree.check_movable(repo, history.branch)
        signing.check_signing(repo, settings.git.sign)
        initial = subject.initial(start)
        number, state = next_run(history, new=new_run)
        memo = Memo(repo.state_dir / "memo.sqlite", reporter.note)
        tip = history.journal.tip()
        spending = Spending(
            memo, f"{subject.name}/{number}", tip.oid if tip else "", spent_before(tip if state else None)
        )
        models = settings.models
        demand_price(models.target, settings.limits, "target")
        demand_price(models.optimizer, settings.limits, "optimizer")
        target = registry.create(models.target, "target")
        optimizer = registry.create(models.optimizer, "optimizer")
        judge = None
        try:
            config = run_config(subject.env, subject.splits, target, optimizer)
            if state and tip:
                demand_same_config(subject.name, number, tip.config, config)
            meter = Meter(settings.limits, spent=spending.usage(), listen=spending.add)
            limiters = Limiters()
            target = Caller(target, models.target, meter, "target", limiter=limiters.get(models.target))
            optimizer = Caller(optimizer, models.optimizer, meter, "optimizer", limiter=limiters.get(models.optimizer))
            book = ScoreBook(subject.env.fingerprint, f"{target.name}#{target.fingerprint}", Notes(repo, "scores").get)
            replies = Replies(memo)
            judge = judge_model(subject.env, replies, meter, limiters)
            yield Run(
                name=subject.name,
                number=number,
                repo=repo,
                env=subject.env,
                splits=subject.splits,
                rollouts=Rollouts(
                    subject.env,
                    target,
                    memo,
                    book,
                    concurrency=settings.models.target.concurrency,
                    advance=reporter.advance,
                ),
                models=(target, optimizer, *([judge] if judge else [])),
                replies=replies,
                optimizer=Optimizer(optimizer, subject.env, replies, number),
                recorder=Recorder(
                    repo,
                    history,
                    book,
                    spending,
                    reporter,
                    run=number,
                    config=config,
                    selection=subject.splits.selection,
                    models={"target": target.name, "optimizer": optimizer.name},
                    samples=settings.gate.repeats,
                ),
                spending=spending,
                reporter=reporter,
                state=state,
                initial=initial,
            )
        finally:
            async with AsyncExitStack() as closing:
                closing.callback(memo.close)
                for model in (target, optimizer, *([judge] if judge else [])):
                    closing.push_async_callback(model.close)
