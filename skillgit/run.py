"""One run of a training: the services its loop uses. What it decides is in ``train.py``, what it keeps in ``record.py``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from skillgit.config import Settings
from skillgit.contamination import Copied, copied
from skillgit.errors import NotMeasured
from skillgit.gate import EarlyStop, Item, Scores, Verdict, decide, interval, order
from skillgit.models.ping import ping
from skillgit.plan import total_looks, total_steps
from skillgit.rollout import AGAIN, Evaluation, Rollouts, Text, demand_coverage
from skillgit.schedule import edit_budget
from skillgit.size import tokens
from skillgit.splits import Splits, Task, step_batches, steps_per_epoch

if TYPE_CHECKING:
    from skillgit.env import Environment
    from skillgit.git.repo import Repo
    from skillgit.models.base import Model
    from skillgit.recorder import Recorder
    from skillgit.replies import Replies
    from skillgit.report import Reporter
    from skillgit.spending import Spending
    from skillgit.stages.ask import Optimizer
    from skillgit.state import State, Version


@dataclass(frozen=True, slots=True)
class Step:
    """One step to take: its number in the run (1-based), its epoch, its tasks and its edit budget (None: no limit)."""

    number: int
    epoch: int
    tasks: tuple[Task, ...]
    budget: int | None


class Judged(TypedDict):
    """What the gate found out about a candidate."""

    candidate: Text
    evaluation: Evaluation
    verdict: Verdict | None
    copied: tuple[Copied, ...]


@dataclass(frozen=True)
class Run:
    """Everything a run works with.

    ``number`` is the run's; ``state`` where the journal stands, None at the beginning; ``initial`` the commit and text it
    starts from.
    """

    name: str
    number: int
    repo: Repo
    env: Environment
    splits: Splits
    models: tuple[Model, ...]
    replies: Replies
    rollouts: Rollouts
    optimizer: Optimizer
    recorder: Recorder
    spending: Spending
    reporter: Reporter
    state: State | None
    initial: tuple[str, Text]

    @property
    def settings(self) -> Settings:
        return self.env.settings

    @property
    def total_steps(self) -> int:
        return total_steps(self.settings, len(self.splits.train))

    @property
    def total_looks(self) -> int:
        return total_looks(self.settings, len(self.splits.train))

    @property
    def complete(self) -> bool:
        """True when the run has ended and the branch is where it left it."""
        return self.state is not None and self.state.finished and self.state.current.commit == self.initial[0]

    def epochs_after(self, state: State) -> Iterator[int]:
        """Epochs that are not finished yet, 1-based."""
        per_epoch = self._steps_per_epoch()
        last = -(-self.total_steps // per_epoch)
        yield from range(state.epoch + 1, last + 1)

    def steps_after(self, state: State, epoch: int) -> Iterator[Step]:
        """The steps of an epoch that are not finished yet."""
        train, edits = self.settings.train, self.settings.edits
        batches = step_batches(
            self.splits.train,
            batch_size=train.batch_size,
            accumulation=train.accumulation,
            seed=train.seed,
            epoch=epoch,
        )
        for number, tasks in enumerate(batches, start=(epoch - 1) * self._steps_per_epoch() + 1):
            if state.step < number <= self.total_steps:
                budget = edit_budget(edits.schedule, number - 1, self.total_steps, edits.budget, edits.min_budget)
                yield Step(number, epoch, tasks, None if edits.mode == "full_rewrite_minibatch" else budget)

    def _steps_per_epoch(self) -> int:
        train = self.settings.train
        return steps_per_epoch(len(self.splits.train), train.batch_size, train.accumulation)

    async def preflight(self) -> None:
        """One real call to each model, once a run: a wrong key or name stops here, in the provider's words."""
        with self.stage("preflight", len(self.models)):
            for model in self.models:
                key = f"{self.name} {self.number} ping {model.name}#{model.fingerprint}"
                await self.replies.get_or_call(key, partial(ping, model))
                self.reporter.advance()
            await self.env.check_costly_judge()

    @contextmanager
    def stage(self, name: str, total: int = 0) -> Iterator[None]:
        """Calls and time spent inside are counted under this stage."""
        self.reporter.stage(name, total)
        with self.spending.stage(name):
            yield

    def text(self, content: str) -> Text:
        """The content with the id of its blob, which is written."""
        return Text(self.repo.write_blob(content.encode("utf-8")), content)

    async def measure(self, text: Text) -> Evaluation:
        """Score a text on the selection split in full. Raises NotMeasured below ``gate.min_coverage``."""
        gate = self.settings.gate
        evaluation = await self.rollouts.evaluate(text, self.splits.selection, samples=gate.repeats)
        demand_coverage(evaluation.errors, evaluation.evaluated, gate.min_coverage)
        return evaluation

    async def judge(self, content: str, state: State, *, share: float = 1.0, pruning: bool = False) -> Judged:
        """Evaluate a candidate against the current skill and let the gate decide, at a ``share`` of this look's level.

        ``pruning``: the candidate is there to be shorter, so that it wins ties and need not prove a gain. Raises
        NotMeasured when there is too little to decide by.
        """
        text, current, gate = self.text(content), state.current.scores, self.settings.gate
        shorter, shorter_than_best = (self._shorter(content, v, pruning) for v in (state.current, state.best))
        if pruning and gate.policy in ("paired", "off"):
            gate = gate.model_copy(update={"policy": "strict"})
        look, spent = state.looks + 1, state.spent
        looks = max(self.total_looks, look)
        total = len(self.splits.selection)
        stop = (
            EarlyStop(gate, current, total, look=look, looks=looks, spent=spent, share=share, shorter=shorter)
            if gate.early_stop
            else None
        )
        ranked = order(current, gate.policy)
        tasks = self.splits.selection
        evaluation = await self.rollouts.evaluate(text, tasks, samples=gate.repeats, order=ranked, stop=stop)
        verdict = decide(
            gate,
            current,
            evaluation.scores,
            state.best.scores,
            look=look,
            looks=looks,
            spent=spent,
            share=share,
            shorter=shorter,
            shorter_than_best=shorter_than_best,
        )
        if verdict.action == "undecided":
            words = f": {evaluation.errors[0]}" if evaluation.errors else ""
            raise NotMeasured(f"the gate could not decide: {verdict.reason}{words}", hint=AGAIN)
        copied = self.copied(state.current.text.text, content)
        return {"candidate": text, "evaluation": evaluation, "verdict": verdict, "copied": copied}

    def _shorter(self, content: str, than: Version, pruning: bool) -> bool:
        """Whether the content wins a tie: where the document has a limit or is pruned, and it is shorter."""
        return (pruning or self.settings.edits.max_tokens is not None) and tokens(content) < tokens(than.text.text)

    def copied(self, before: str, after: str) -> tuple[Copied, ...]:
        """What ``after`` has from train tasks or their answers that ``before`` has not."""
        gate = self.settings.gate
        if gate.contamination == "off":
            return ()
        return copied(before, after, self.splits.train, gate.contamination_words)

    def refusal(self, before: str, content: str) -> str:
        """Why new content may not be taken (``gate.contamination: reject``); "" if it may."""
        found = self.copied(before, content) if self.settings.gate.contamination == "reject" else ()
        return f"it holds text of task {found[0].task_id}: '{found[0].text}'" if found else ""

    async def score(self, content: str) -> Judged:
        """Evaluate a text in full, without a gate."""
        text = self.text(content)
        evaluation = await self.measure(text)
        return {"candidate": text, "evaluation": evaluation, "verdict": None, "copied": ()}

    def known_best(self) -> Version | None:
        """The best skill of earlier runs, if its scores under the present conditions are known."""
        return self.recorder.known_best()

    async def test(self, version: Version) -> dict[str, Any]:
        """The test scores of a version, overall and by task type."""
        tasks = self.splits.test
        evaluation = await self.rollouts.evaluate(version.text, tasks)
        demand_coverage(evaluation.errors, evaluation.evaluated, self.settings.gate.min_coverage)
        return {"commit": version.commit, "blob": version.text.blob, **report(evaluation.scores, tasks)}

    def better(self, one: Version, other: Version) -> Version:
        """The version with the higher selection score; ``other`` on a tie."""
        gate = self.settings.gate
        first, second = (v.scores.value(gate.metric, gate.mixed_weight) for v in (one, other))
        return one if first > second else other

    def compares(self, epoch: int) -> bool:
        """Whether this epoch's end has a longitudinal comparison."""
        slow = self.settings.slow_update
        return (epoch > 1 or slow.first_epoch) and (slow.enabled or self.settings.meta_skill.enabled)

    def feedback(self, state: State) -> Sequence[Mapping[str, Any]]:
        """What the optimizer sees of earlier tries: rejections of this very text, then this epoch's steps."""
        return (*self.recorder.earlier_rejections(state), *state.buffer)

    def summary(self, state: State) -> Summary:
        """How the run stands."""
        versions = (state.initial, state.best, state.current)
        spend = self.spending.total()
        return Summary(self.name, state.run, *versions, state.counts, state.test, spend, state.finished)


def report(scores: Scores, tasks: Sequence[Task]) -> dict[str, Any]:
    """Scores with their n and 95 % interval, overall and for each task type when there are several."""
    items = {item.task_id: item for item in scores.items if item.status == "scored"}
    types = sorted({task.type for task in tasks if task.type})
    groups = {kind: [items[t.id] for t in tasks if t.type == kind and t.id in items] for kind in types}
    facts = _figures(list(items.values()))
    if len(types) > 1:
        facts["types"] = {kind: _figures(found) for kind, found in groups.items() if found}
    return facts


def _figures(items: Sequence[Item]) -> dict[str, Any]:
    scores = Scores(tuple(items))
    low, high = interval([item.hard for item in items])
    return {
        "hard": round(scores.hard, 6),
        "soft": round(scores.soft, 6),
        "n": len(items),
        "interval": [round(low, 6), round(high, 6)],
    }


@dataclass(frozen=True, slots=True)
class Summary:
    """How a run ended. ``test`` maps initial, best and current to their test scores (empty when not evaluated)."""

    name: str
    run: int
    initial: Version
    best: Version
    current: Version
    counts: Mapping[str, int]
    test: Mapping[str, Any]
    spend: Mapping[str, Any]
    finished: bool

    @property
    def unchanged(self) -> bool:
        return self.initial.text.blob == self.current.text.blob

    def as_dict(self) -> dict[str, Any]:
        return {
            "skill": self.name,
            "run": self.run,
            "finished": self.finished,
            "unchanged": self.unchanged,
            "initial": self.initial.as_dict(),
            "best": self.best.as_dict(),
            "current": self.current.as_dict(),
            "steps": dict(self.counts),
            "test": dict(self.test),
            "spend": dict(self.spend),
        }
