"""The gate: does a candidate measurably help? Verdicts, and the early stop that changes none of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from skillgit import looks as _looks
from skillgit.policies import POLICIES, Case, Ruling, hopeful, standing
from skillgit.results import MARGIN, Item, Joined, Scores, filled, join, mean, samples_of
from skillgit.stats import interval, paired_interval

if TYPE_CHECKING:
    from skillgit.config import GateSettings

__all__ = ["EarlyStop", "Item", "Movement", "Scores", "Verdict", "decide", "interval", "order", "paired_interval"]

Action = Literal["accept", "accept_new_best", "reject", "undecided"]


@dataclass(frozen=True, slots=True)
class Movement:
    """How the tasks scored in both evaluations moved from the current skill to the candidate."""

    fixed: tuple[str, ...]
    broken: tuple[str, ...]
    unchanged: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate said, and on what grounds.

    Scores are means over the ``measured`` tasks, those scored with both skills. ``interval`` is the 95 % interval of
    the paired difference. ``upper_bound``: the evaluation was stopped early, and ``after`` and ``delta`` are what the
    candidate could have reached at most, ``p_value`` at least. ``level`` is this look's share of the run's alpha
    (policy ``paired``). ``shorter``: the candidate wins ties, as it is the shorter text.
    """

    action: Action
    policy: str
    reason: str
    before: float
    after: float
    best: float
    delta: float
    interval: tuple[float, float]
    movement: Movement
    evaluated: int
    total: int
    upper_bound: bool
    p_value: float | None = None
    level: float | None = None
    shorter: bool = False

    @property
    def accepted(self) -> bool:
        return self.action in ("accept", "accept_new_best")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Verdict:
        """The verdict that ``as_dict`` wrote, from YAML or JSON."""
        moved = data["movement"]
        movement = Movement(tuple(moved["fixed"]), tuple(moved["broken"]), moved["unchanged"])
        low, high = data["interval"]
        return cls(**{**data, "movement": movement, "interval": (low, high)})


def decide(
    settings: GateSettings,
    current: Scores,
    candidate: Scores,
    best: Scores,
    *,
    look: int = 1,
    looks: int = 1,
    spent: float | None = None,
    share: float = 1.0,
    shorter: bool = False,
    shorter_than_best: bool = False,
) -> Verdict:
    """Accept the candidate or not, by the tasks that both it and the current skill were scored on.

    A task that could not be measured counts neither as failed nor as solved. But where the policy would say no even if
    every such task were solved, the answer is a reject whatever the coverage; that makes the verdict the same with the
    early stop and without. ``look``, ``looks`` and ``spent`` set the level of ``paired`` (see ``looks.level``), of which
    this test may use ``share`` (see ``salvage.share``). A candidate that is ``shorter`` than the current skill, and than the
    best one, wins a tie with it.
    """
    level = share * _looks.level(settings.alpha, look, looks, spent)
    joined = join(current, candidate, settings.repeats)
    stopped = bool(joined.waiting)
    measured = Case(settings, joined.measured, level, tuple(item.task_id for item in joined.failed), shorter)
    at_best = Case(settings, joined.at_best(), level, shorter=shorter) if joined.open else measured
    policy = POLICIES[settings.policy]
    lost = bool(joined.measured or joined.waiting) and not policy(at_best).accept
    shown = at_best if lost and stopped else measured
    ruling = policy(shown)
    action, reason = _action(settings, joined, shown, ruling, lost)
    rivals = Case(settings, join(best, candidate).measured, level)
    if action == "accept" and rivals.gain > (-MARGIN if shorter_than_best else MARGIN):
        action = "accept_new_best"
    before, after = mean(shown.before), mean(shown.after)
    return Verdict(
        action,
        settings.policy,
        reason,
        before=_shown(before),
        after=_shown(after),
        best=_shown(mean(rivals.before)),
        delta=_shown(after - before),
        interval=_interval(settings, joined, measured),
        movement=_movement(measured),
        evaluated=len(joined.measured),
        total=joined.total,
        upper_bound=lost and stopped,
        p_value=ruling.p_value,
        level=level if settings.policy == "paired" else None,
        shorter=shorter,
    )


def _action(settings: GateSettings, joined: Joined, case: Case, ruling: Ruling, lost: bool) -> tuple[Action, str]:
    reason = f"{standing(case)}: {ruling.why}"
    count = len(joined.measured)
    if lost:
        return "reject", f"at most {reason}" if joined.waiting else reason
    if joined.waiting:
        return "undecided", f"only {count} of {joined.total} tasks were run"
    if joined.coverage < settings.min_coverage:
        return "undecided", f"only {joined.coverage:.0%} of the tasks could be measured"
    if count < settings.min_items:
        return "undecided", f"only {count} tasks were scored with both skills, {settings.min_items} needed"
    if ruling.accept is None:
        return "undecided", reason
    return ("accept" if ruling.accept else "reject"), reason


def _interval(settings: GateSettings, joined: Joined, measured: Case) -> tuple[float, float]:
    """Of the difference; for a stopped evaluation from the worst to the best it could still have become."""
    worst = best = measured.moves
    if joined.waiting:
        worst, best = (Case(settings, pairs, 1.0).moves for pairs in (joined.at_worst(), joined.at_best()))
    low, _ = paired_interval([float(move) for move in worst])
    _, high = paired_interval([float(move) for move in best])
    return round(low, 6), round(high, 6)


def _movement(case: Case) -> Movement:
    moved = [(after.task_id, move) for (_, after), move in zip(case.pairs, case.moves, strict=True) if move]
    fixed = tuple(task_id for task_id, move in moved if move > MARGIN)
    broken = tuple(task_id for task_id, move in moved if move < -MARGIN)
    return Movement(fixed, broken, len(case.pairs) - len(fixed) - len(broken))


def _shown(value: Fraction) -> float:
    return round(float(value), 6)


def order(current: Scores, policy: str = "strict") -> tuple[str, ...]:
    """Task ids in the order that settles a reject soonest: those the current skill fails first.

    A candidate must win there, and most do not: a task that stays failed takes away as much of what it can still reach as
    one that breaks, and is far more frequent. Only ``no_regression`` settles sooner where something can break.
    """
    sign = -1 if policy == "no_regression" else 1
    return tuple(item.task_id for item in sorted(current.items, key=lambda i: (sign * i.hard, sign * i.soft)))


class EarlyStop:
    """Says when no completion of an evaluation could be accepted any more.

    It asks the policy about the best completion. A remaining task can be solved, failed or lost to an error, and a task
    that ended as an error may still be measured again; being solved is the best for the candidate in every policy.
    """

    def __init__(
        self,
        settings: GateSettings,
        current: Scores,
        total: int,
        *,
        look: int = 1,
        looks: int = 1,
        spent: float | None = None,
        share: float = 1.0,
        shorter: bool = False,
    ) -> None:
        self._settings = settings
        self._level = share * _looks.level(settings.alpha, look, looks, spent)
        self._total = total
        self._current = current.scored
        self._shorter = shorter

    def settled(self, prefix: Sequence[Item]) -> bool:
        """Whether a reject is certain after these items, in whatever way the rest ends; before the first one too."""
        if len(prefix) >= self._total:
            return False
        seen = {item.task_id: item for item in prefix if item.scored}
        if not self._current or (prefix and not any(item.task_id in seen for item in self._current)):
            return False  # errors alone settle nothing
        samples = samples_of(prefix, self._settings.repeats)
        pairs = ((item, seen.get(item.task_id) or filled(item.task_id, 1.0, samples)) for item in self._current)
        case = Case(self._settings, tuple(pairs), self._level, shorter=self._shorter)
        return not hopeful(case) and not POLICIES[self._settings.policy](case).accept
