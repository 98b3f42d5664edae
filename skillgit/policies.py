"""The gate's policies: each is one function from a case to a ruling. Pure.

Every policy is monotone: where it accepts, it accepts too if a task scores higher. The early stop rests on that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from skillgit.results import MARGIN, Item, Pair, mean, total
from skillgit.stats import Counts, quantile, sign_flip_test, sign_test, stratified_test, z_score

if TYPE_CHECKING:
    from skillgit.config import GateSettings


NOTHING = Fraction(0)
TINY = 1e-12
"""A level as good as none: alpha is spent."""


@dataclass(frozen=True)
class Case:
    """What a policy rules on: the tasks scored in both evaluations, and the level of this look (0..1).

    ``unmeasured`` names the tasks that only the current skill has a score for; ``shorter``: the candidate is the shorter
    text, and wins a tie.
    """

    settings: GateSettings
    pairs: tuple[Pair, ...]
    level: float
    unmeasured: tuple[str, ...] = ()
    shorter: bool = False

    @cached_property
    def before(self) -> list[Fraction]:
        """The scores that decide, of the current skill."""
        return [current.value(self.settings.metric, self.settings.mixed_weight) for current, _ in self.pairs]

    @cached_property
    def after(self) -> list[Fraction]:
        """The scores that decide, of the candidate."""
        return [candidate.value(self.settings.metric, self.settings.mixed_weight) for _, candidate in self.pairs]

    @cached_property
    def moves(self) -> list[Fraction]:
        """Candidate minus current, task by task."""
        both = zip(self.before, self.after, strict=True)
        return [NOTHING if after is before else after - before for before, after in both]

    @cached_property
    def gain(self) -> Fraction:
        """Candidate minus current, as a sum over the tasks."""
        return total(self.moves)

    def counts(self) -> list[Counts] | None:
        """Successes and samples on both sides of each task; None when the deciding score is no share of them."""
        if self.settings.metric != "hard":
            return None
        if not all(_is_count(item) for pair in self.pairs for item in pair):
            return None
        return [
            (round(before.hard * before.samples), before.samples, round(after.hard * after.samples), after.samples)
            for before, after in self.pairs
        ]


def _is_count(item: Item) -> bool:
    successes = item.hard * item.samples
    return abs(successes - round(successes)) < 1e-9


@dataclass(frozen=True, slots=True)
class Ruling:
    """Accept or not, and why in a few words; ``accept`` None: the items measured do not allow a ruling."""

    accept: bool | None
    why: str
    p_value: float | None = None


def strict(case: Case) -> Ruling:
    """Accepts a score above the current one; a tie is rejected, unless the candidate is shorter and that counts."""
    gain = case.gain
    if abs(gain) <= MARGIN:
        return Ruling(case.shorter, "a tie, and shorter" if case.shorter else "a tie")
    return Ruling(gain > 0, "higher" if gain > 0 else "lower")


def no_regression(case: Case) -> Ruling:
    """Accepts what ``strict`` accepts if no task scores lower than with the current skill."""
    ruling = strict(case)
    broken = [after.task_id for (_, after), move in zip(case.pairs, case.moves, strict=True) if move < -MARGIN]
    if not ruling.accept or broken:
        return Ruling(False, f"broke {_named(broken)}" if ruling.accept else ruling.why)
    if case.unmeasured:
        return Ruling(None, f"could not be measured: {_named(case.unmeasured)}")
    return Ruling(True, "higher, and no task lower")


def paired(case: Case) -> Ruling:
    """Accepts differences that are significantly positive at the level of this look, by an exact one-sided test."""
    p = _p_value(case)
    accept = p <= case.level and case.gain > MARGIN
    return Ruling(accept, f"p = {p:.2g}, {'within' if accept else 'above'} {case.level:.2g}", p)


def _p_value(case: Case) -> float:
    counts = case.counts()
    if counts is None:
        return float(sign_flip_test(case.moves))
    if any(before_n * after_n > 1 for _, before_n, _, after_n in counts):
        return float(stratified_test(counts))
    wins = sum(after > before for before, _, after, _ in counts)
    losses = sum(after < before for before, _, after, _ in counts)
    return sign_test(wins, losses, len(counts) + len(case.unmeasured))


def hopeful(case: Case) -> bool:
    """Whether a reject is so far away that the exact ruling need not be asked: an early stop asks after every item.

    ``strict`` needs no exact sum to see a clear gain, ``paired`` no exact test (costly for graded scores) to see a large one.
    """
    if case.settings.policy == "strict":
        return _rough_gain(case) > 1e-6
    if case.settings.policy != "paired" or case.level < TINY:
        return False
    return z_score(case.moves) > quantile(1 - case.level) + 1


def _rough_gain(case: Case) -> float:
    """The gain up to rounding, far below 1e-6 for any number of tasks."""
    hard = sum(after.hard - before.hard for before, after in case.pairs)
    if case.settings.metric == "hard":
        return hard
    soft = sum(after.soft - before.soft for before, after in case.pairs)
    weight = case.settings.mixed_weight if case.settings.metric == "mixed" else 1.0
    return (1 - weight) * hard + weight * soft


def off(case: Case) -> Ruling:
    """Accepts always."""
    return Ruling(True, "the gate is off")


Policy = Callable[[Case], Ruling]
POLICIES: dict[str, Policy] = {"strict": strict, "no_regression": no_regression, "paired": paired, "off": off}


def standing(case: Case) -> str:
    """Both scores in words: counts where a task is solved or not, else means."""
    before, after = case.before, case.after
    whole = all(value.denominator == 1 for value in (*before, *after))
    if whole and all(item.samples == 1 for pair in case.pairs for item in pair):
        return f"{sum(after)} of {len(after)} against {sum(before)}"
    return f"{float(mean(after)):.4f} against {float(mean(before)):.4f}"


def _named(task_ids: Sequence[str], most: int = 3) -> str:
    more = f" and {len(task_ids) - most} more" if len(task_ids) > most else ""
    return ", ".join(task_ids[:most]) + more
