"""What the gate's policies are worth, in a simulated world with a noisy target.

    python tests/benchmarks/gate.py --seed 1

Four questions: how often is a useless edit accepted; how often is a good one; what does a verdict cost; and how good is the
skill in the end, for the same number of rollouts.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from skillgit import looks as spending
from skillgit.config import GateSettings
from skillgit.gate import EarlyStop, Item, Scores, Verdict, decide, order
from skillgit.policies import POLICIES, Case
from skillgit.results import join
from skillgit.salvage import best_part, salvage_plan, share
from skillgit.schedule import edit_budget
from skillgit.stats import binomial_tail
from tests.benchmarks.gate_world import LARGE, SELECTION, SMALL, USELESS, Kind, Skill, World, worth

LOOKS = 40
BATCH = 40
"""Train rollouts of a step."""

ALPHA = 0.05
Row = tuple[str | int | float, ...]


# -- (a) useless edits


@dataclass(frozen=True)
class UselessRun:
    only: bool
    """Whether the first one would be accepted if it were the only look."""
    accepted: int
    optimism: float
    """Recorded score of the last current skill minus its true score."""


def useless_run(policy: str, seed: int, repeats: int = 1) -> UselessRun:
    """A run of LOOKS looks at edits that do nothing."""
    world = World(USELESS, seed)
    settings = GateSettings(policy=policy, alpha=ALPHA)  # type: ignore[arg-type]
    current, spent, accepted, only = world.evaluate(world.start, repeats), 0.0, 0, False
    for look in range(1, LOOKS + 1):
        candidate = world.evaluate(world.start)
        level = spending.level(ALPHA, look, LOOKS, spent)
        pairs = join(current, candidate).measured
        if look == 1:
            only = bool(POLICIES[policy](Case(settings, pairs, ALPHA)).accept)
        if POLICIES[policy](Case(settings, pairs, level)).accept:
            current = candidate if repeats == 1 else world.evaluate(world.start, repeats)
            accepted += 1
        else:
            spent += level
    return UselessRun(only, accepted, current.hard - world.start.expected)


def useless_rows(spread: Spread, runs: int, seed: int) -> Iterable[Row]:
    for name, policy, repeats in (
        ("strict", "strict", 1),
        ("no_regression", "no_regression", 1),
        ("paired", "paired", 1),
        ("paired, current x5", "paired", 5),
    ):
        found = spread(partial(useless_run, policy, repeats=repeats), range(seed, seed + runs))
        yield (
            name,
            share_of(run.only for run in found),
            share_of(run.accepted > 0 for run in found),
            mean(run.accepted for run in found),
            mean(100 * run.optimism for run in found),
        )


# -- (b) a good edit


@dataclass(frozen=True)
class Power:
    """Chances to accept an edit worth ten points: by the gate, and by two oracles on the same data."""

    paired: float
    unbiased: float
    rates: float
    paired_repeats: float


def power(level: float, runs: int, seed: int, repeats: int = 5) -> Power:
    """Power at a level, over worlds.

    ``unbiased`` is the uniformly most powerful unbiased test of the paired binary null: the sign test that attains its level
    exactly by tossing a loaded coin at the boundary. ``rates`` knows every task's true success rate under the current
    skill, so the exact distribution of the difference under the null, and attains its level the same way.
    """
    settings = GateSettings(policy="paired")
    hits = [0.0, 0.0, 0.0, 0.0]
    for number in range(runs):
        if number % 50 == 0:
            world = World(SMALL, seed + number)
            better = worth(world.start, 10, 0.3, world.chance)
            edge, part = boundary(null_distribution(world.start.chances[:SELECTION]), level)
        current, candidate = world.evaluate(world.start), world.evaluate(better)
        case = Case(settings, join(current, candidate).measured, level)
        fixed, broken = sum(move > 0 for move in case.moves), sum(move < 0 for move in case.moves)
        repeated = Case(settings, join(world.evaluate(world.start, repeats), candidate).measured, level)
        hits[0] += bool(POLICIES["paired"](case).accept)
        hits[1] += randomised_sign_test(fixed, fixed + broken, level)
        hits[2] += 1 if fixed - broken > edge else part if fixed - broken == edge else 0
        hits[3] += bool(POLICIES["paired"](repeated).accept)
    return Power(*(hit / runs for hit in hits))


def randomised_sign_test(wins: int, trials: int, level: float) -> float:
    """The chance with which the test that attains its level exactly accepts."""
    p, above = float(binomial_tail(wins, trials)), float(binomial_tail(wins + 1, trials)) if wins < trials else 0.0
    return 1.0 if p <= level else max(0.0, (level - above) / (p - above))


def null_distribution(rates: Sequence[float]) -> list[float]:
    """Chances of fixed - broken from -n to n when both skills have these success rates."""
    chances = [1.0]
    for rate in rates:
        flip = rate * (1 - rate)
        padded = [0.0, 0.0, *chances, 0.0, 0.0]
        chances = [flip * (padded[n] + padded[n + 2]) + (1 - 2 * flip) * padded[n + 1] for n in range(len(chances) + 2)]
    return chances


def boundary(chances: Sequence[float], level: float) -> tuple[int, float]:
    """The difference at the edge of the test, and the part of it that is accepted."""
    middle, total = len(chances) // 2, 0.0
    for difference in range(middle, -middle - 1, -1):
        if total + chances[difference + middle] > level:
            return difference, (level - total) / chances[difference + middle]
        total += chances[difference + middle]
    raise ValueError(f"level {level} is above 1")


def power_rows(spread: Spread, runs: int, seed: int) -> Iterable[Row]:
    looks = [
        ("a single look", ALPHA),
        *((f"look {k} of {LOOKS}", spending.level(ALPHA, k, LOOKS)) for k in (1, 10, 40)),
    ]
    found = spread(partial(_power_at, runs, seed), [level for _, level in looks])
    for (name, level), row in zip(looks, found, strict=True):
        yield name, f"{level:.5f}", row.paired, row.unbiased, row.rates, row.paired_repeats


def _power_at(runs: int, seed: int, level: float) -> Power:
    return power(level, runs, seed)


# -- (c) what a verdict costs


@dataclass(frozen=True)
class Cost:
    full: int
    failing_first: int
    passing_first: int
    differing: int
    """Verdicts that were not those of the full evaluation."""


def verdict_cost(policy: str, seed: int) -> Cost:
    """Rollouts of the verdicts of a run of LOOKS looks, with some items lost to errors."""
    world = World(SMALL, seed)
    settings = GateSettings(policy=policy, alpha=ALPHA)  # type: ignore[arg-type]
    skill, current = world.start, world.evaluate(world.start)
    used, differing = [0, 0, 0], 0
    for look in range(1, LOOKS + 1):
        better = world.apply(skill, world.propose(skill, 3))
        candidate = with_errors(world.evaluate(better), world.chance)
        full = decide(settings, current, candidate, current, look=look, looks=LOOKS)
        used[0] += SELECTION
        failing = [item.task_id for item in sorted(current.items, key=lambda item: item.hard)]
        for place, queue in enumerate((failing, failing[::-1]), start=1):
            partly, count = stopped(settings, current, candidate, queue, look=look)
            used[place] += count
            differing += decide(settings, current, partly, current, look=look, looks=LOOKS).action != full.action
        if full.accepted:
            skill, current = better, candidate
    return Cost(*used, differing)


def with_errors(scores: Scores, chance: random.Random, rate: float = 0.02) -> Scores:
    return Scores(tuple(Item(i.task_id, "error") if chance.random() < rate else i for i in scores.items))


def stopped(
    settings: GateSettings, current: Scores, candidate: Scores, queue: Sequence[str], **looks: float
) -> tuple[Scores, int]:
    """The evaluation as the early stop leaves it, and how many tasks were run. A settled prefix stays settled."""
    by_id = {item.task_id: item for item in candidate.items}
    items = [by_id[task_id] for task_id in queue]
    stop = EarlyStop(settings, current, len(items), **{"looks": LOOKS, **looks})  # type: ignore[arg-type]
    low, high = 1, len(items)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if stop.settled(items[:middle]) else (middle + 1, high)
    done = {item.task_id for item in items[:low]}
    kept = (item if item.task_id in done else Item(item.task_id, "not_run") for item in candidate.items)
    return Scores(tuple(kept)), low


def cost_rows(spread: Spread, runs: int, seed: int) -> Iterable[Row]:
    for policy in ("strict", "no_regression", "paired"):
        found = spread(partial(verdict_cost, policy), range(seed, seed + runs))
        full = sum(cost.full for cost in found)
        yield (
            policy,
            LOOKS * runs,
            SELECTION * sum(cost.passing_first for cost in found) / full,
            SELECTION * sum(cost.failing_first for cost in found) / full,
            sum(cost.differing for cost in found),
        )


# -- (d) how good the skill gets


@dataclass(frozen=True)
class Setup:
    """One row: a policy and its options. ``repeats`` are rollouts of each task for the current skill."""

    name: str
    policy: str
    repeats: int = 1
    salvage: int = 0
    early_stop: bool = True


@dataclass(frozen=True)
class Trained:
    start: float
    after_looks: float
    """Truth after LOOKS steps."""
    at_budget: float
    """Truth when the rollouts of LOOKS steps with full evaluations were used up."""
    steps: int
    accepted: int
    useless: int
    """Accepted though the truth did not rise."""
    optimism: float


class Training:
    """A run with one gate, until both LOOKS steps are done and the budget of rollouts is used up."""

    BUDGET = LOOKS * (BATCH + SELECTION)
    MOST_STEPS = 80
    MOST_LOOKS = 60
    """Over which alpha is spent."""

    def __init__(self, kind: Kind, setup: Setup, seed: int) -> None:
        self.world, self.setup = World(kind, seed), setup
        self.settings = GateSettings(policy=setup.policy, alpha=ALPHA)  # type: ignore[arg-type]
        self.skill = self.world.start
        self.scores = self.world.evaluate(self.skill, setup.repeats)
        self.rollouts = SELECTION * setup.repeats
        self.spent = 0.0
        self.accepted = self.useless = 0

    def run(self) -> Trained:
        step, after_looks, at_budget, steps = 0, math.nan, math.nan, 0
        while step < LOOKS or (self.rollouts < self.BUDGET and step < self.MOST_STEPS):
            step += 1
            self.step(step)
            if step == LOOKS:
                after_looks = self.skill.truth
            if math.isnan(at_budget) and (self.rollouts >= self.BUDGET or step == self.MOST_STEPS):
                at_budget, steps = self.skill.truth, step
        optimism = self.scores.hard - self.skill.expected
        start = self.world.start.truth
        return Trained(start, after_looks, at_budget, steps, self.accepted, self.useless, optimism)

    def step(self, step: int) -> None:
        self.rollouts += BATCH
        count = edit_budget("cosine", min(step, LOOKS) - 1, LOOKS, 4, 2)
        edits = self.world.propose(self.skill, count or 0)
        parts = salvage_plan(len(edits), self.setup.salvage)
        look, (whole, each) = min(step, self.MOST_LOOKS), share(len(parts))
        level = {"look": look, "looks": self.MOST_LOOKS, "spent": self.spent}
        better = self.world.apply(self.skill, edits)
        verdict, scores = self.judge(better, **level, share=whole)
        if verdict.accepted:
            return self.take(better, scores)
        skills = [self.world.apply(self.skill, [edits[place] for place in part]) for part in parts]
        tried = [self.judge(skill, **level, share=each) for skill in skills]
        best = best_part([verdict for verdict, _ in tried])
        return None if best is None else self.take(skills[best], tried[best][1])

    def judge(self, skill: Skill, **level: float) -> tuple[Verdict, Scores]:
        scores, used = self.world.evaluate(skill), SELECTION
        if self.setup.early_stop:
            scores, used = stopped(self.settings, self.scores, scores, order(self.scores, self.setup.policy), **level)
        self.rollouts += used
        verdict = decide(self.settings, self.scores, scores, self.scores, **level)  # type: ignore[arg-type]
        self.spent += verdict.level or 0.0 if verdict.action == "reject" else 0.0
        return verdict, scores

    def take(self, skill: Skill, scores: Scores) -> None:
        self.accepted += 1
        self.useless += skill.truth <= self.skill.truth
        if self.setup.repeats > 1:
            scores = self.world.evaluate(skill, self.setup.repeats)
            self.rollouts += SELECTION * self.setup.repeats
        self.skill, self.scores = skill, scores


SETUPS = (
    Setup("strict", "strict"),
    Setup("strict, no early stop", "strict", early_stop=False),
    Setup("strict, salvage 3", "strict", salvage=3),
    Setup("no_regression", "no_regression"),
    Setup("paired", "paired"),
    Setup("paired, salvage 3", "paired", salvage=3),
    Setup("paired, current x5", "paired", repeats=5),
    Setup("off", "off"),
)


def train(kind: Kind, setup: Setup, seed: int) -> Trained:
    return Training(kind, setup, seed).run()


def quality_rows(spread: Spread, runs: int, seed: int, kind: Kind) -> Iterable[Row]:
    for setup in SETUPS:
        found = spread(partial(train, kind, setup), range(seed, seed + runs))
        yield (
            setup.name,
            mean(100 * run.start for run in found),
            mean(100 * run.after_looks for run in found),
            mean(100 * run.at_budget for run in found),
            round(mean(run.steps for run in found)),
            mean(run.accepted for run in found),
            mean(run.useless for run in found),
            mean(100 * run.optimism for run in found),
        )


# -- tables


Spread = Callable[..., list]  # type: ignore[type-arg]
"""A ``map`` over seeds that gives a list."""


def mean(values: Iterable[float]) -> float:
    some = list(values)
    return math.fsum(some) / len(some)


def share_of(hits: Iterable[bool]) -> str:
    return f"{mean(hits):.1%}"


def table(title: str, head: Sequence[str], rows: Iterable[Row]) -> None:
    shown = [tuple(head), *(tuple(f"{c:.2f}" if isinstance(c, float) else str(c) for c in row) for row in rows)]
    widths = [max(len(row[column]) for row in shown) for column in range(len(head))]
    print(f"\n{title}")
    for row in shown:
        print("  " + row[0].ljust(widths[0]) + "".join(f"  {c:>{w}}" for c, w in zip(row[1:], widths[1:], strict=True)))
    sys.stdout.flush()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--runs", type=int, default=60, help="runs behind each row")
    args = options.parse_args()
    with ProcessPoolExecutor() as pool:

        def spread(work: Callable[..., object], inputs: Iterable[object]) -> list[object]:
            return list(pool.map(work, inputs, chunksize=1))

        table(
            f"(a) {LOOKS} looks at useless edits, n = {SELECTION}, alpha = {ALPHA}",
            ("policy", "only look", "ever", "accepted", "optimism (points)"),
            useless_rows(spread, 5 * args.runs, args.seed),
        )
        table(
            f"(b) chance to accept an edit worth +10 points, n = {SELECTION}",
            ("", "level", "paired", "oracle: unbiased", "oracle: knows rates", "paired, current x5"),
            power_rows(spread, 50 * args.runs, args.seed),
        )
        table(
            f"(c) rollouts for a verdict, of {SELECTION}",
            ("policy", "verdicts", "passing first", "failing first", "differing verdicts"),
            cost_rows(spread, args.runs // 3, args.seed),
        )
        for kind in (SMALL, LARGE):
            table(
                f"(d) true score in a world of {kind.name}, in percent; budget {Training.BUDGET} rollouts",
                ("gate", "start", f"{LOOKS} steps", "budget", "steps", "accepted", "useless", "optimism"),
                quality_rows(spread, args.runs, args.seed, kind),
            )


if __name__ == "__main__":
    main()
