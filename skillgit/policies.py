"""The gate's policies: each is one function from a case to a ruling. Pure.

Every policy is monotone: where it accepts, it accepts too if a task scores higher. The early stop rests on that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from skillgit.results import MARGIN, Item, Pair, mean
from skillgit.stats import Counts, sign_flip_test, stratified_test

if TYPE_CHECKING:
    from skillgit.config import GateSettings


@dataclass(frozen=True, slots=True)
class Case:
    """What a policy rules on: the tasks scored in both evaluations, the level of this look (0..1).

    ``unmeasured`` names the tasks that only the current skill has a score for.
    """

    settings: GateSettings
    pairs: tuple[Pair, ...]
    level: float
    unmeasured: tuple[str, ...] = ()

    def values(self, side: int) -> list[Fraction]:
        """The deciding scores of the current skill (0) or the candidate (1)."""
        return [pair[side].value(self.settings.metric, self.settings.mixed_weight) for pair in self.pairs]

    def moves(self) -> list[Fraction]:
        """Candidate minus current, task by task."""
        return [after - before for before, after in zip(self.values(0), self.values(1), strict=True)]

    def gain(self) -> Fraction:
        """Candidate minus current, as a sum over the tasks."""
        return sum(self.moves(), Fraction(0))

    def counts(self) -> list[Counts] | None:
        """Successes and samples on both sides of each task; None when the deciding score is no share of them."""
        if self.settings.metric != "hard":
            return None
        rows = [(*_successes(before), *_successes(after)) for before, after in self.pairs]
        whole = all(s.denominator == t.denominator == 1 for s, _, t, _ in rows)
        return [(int(s), n, int(t), m) for s, n, t, m in rows] if whole else None


def _successes(item: Item) -> tuple[Fraction, int]:
    return item.value("hard", 0) * item.samples, item.samples


@dataclass(frozen=True, slots=True)
class Ruling:
    """Accept or not, and why in a few words; ``accept`` None: the items measured do not allow a ruling."""

    accept: bool | None
    why: str
    p_value: float | None = None


def strict(case: Case) -> Ruling:
    """Accepts a score above the current one; a tie is rejected."""
    gain = case.gain()
    if abs(gain) <= MARGIN:
        return Ruling(False, "a tie")
    return Ruling(gain > 0, "higher" if gain > 0 else "lower")


def no_regression(case: Case) -> Ruling:
    """Accepts what ``strict`` accepts if no task scores lower than with the current skill."""
    ruling = strict(case)
    broken = [after.task_id for (_, after), move in zip(case.pairs, case.moves(), strict=True) if move < -MARGIN]
    if not ruling.accept or broken:
        return Ruling(False, f"broke {_named(broken)}" if ruling.accept else ruling.why)
    if case.unmeasured:
        return Ruling(None, f"could not be measured: {_named(case.unmeasured)}")
    return Ruling(True, "higher, and no task lower")


def paired(case: Case) -> Ruling:
    """Accepts differences that are significantly positive at the level of this look, by an exact one-sided test."""
    counts = case.counts()
    p = stratified_test(counts) if counts is not None else sign_flip_test(case.moves())
    accept = p <= case.level and case.gain() > MARGIN
    return Ruling(accept, f"p = {float(p):.2g}, {'within' if accept else 'above'} {case.level:.2g}", float(p))


def off(case: Case) -> Ruling:
    """Accepts always."""
    return Ruling(True, "the gate is off")


Policy = Callable[[Case], Ruling]
POLICIES: dict[str, Policy] = {"strict": strict, "no_regression": no_regression, "paired": paired, "off": off}


def standing(case: Case) -> str:
    """Both scores in words: counts where a task is solved or not, else means."""
    before, after = case.values(0), case.values(1)
    whole = all(value in (0, 1) for value in (*before, *after))
    if whole and all(item.samples == 1 for pair in case.pairs for item in pair):
        return f"{sum(after)} of {len(after)} against {sum(before)}"
    return f"{float(mean(after)):.4f} against {float(mean(before)):.4f}"


def _named(task_ids: Sequence[str], most: int = 3) -> str:
    more = f" and {len(task_ids) - most} more" if len(task_ids) > most else ""
    return ", ".join(task_ids[:most]) + more
