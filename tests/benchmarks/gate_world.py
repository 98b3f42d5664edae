"""A world to try gates in: tasks with hidden rules, a noisy target, and edits that help, hurt or do nothing.

A task succeeds with a chance that is the logistic of its ease plus the effects of the skill's edits on it. Hidden rules each help
a share of the tasks, once; harmful edits hurt a share; useless ones do nothing. The truth is the mean chance over test tasks
that no gate ever sees.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from skillgit.gate import Item, Scores

SELECTION = 160
TEST = 400
Effect = dict[int, float]
"""How an edit moves the ease of the tasks that it concerns, by their number."""


@dataclass(frozen=True)
class Kind:
    """What sort of world: ``spread`` of the tasks' ease around ``ease``, rules, their shares of the tasks and strength.

    ``helpful`` and ``harmful`` are the chances of an edit to be so (helpful while there are rules left to find).
    """

    name: str
    ease: float
    spread: float
    rules: int
    shares: tuple[float, float]
    strength: float
    helpful: float = 0.3
    harmful: float = 0.25


SMALL = Kind("small edits", ease=0.0, spread=1.8, rules=14, shares=(0.04, 0.2), strength=2.0)
LARGE = Kind("large edits", ease=-1.0, spread=3.0, rules=10, shares=(0.1, 0.3), strength=4.0)
USELESS = Kind("useless edits", ease=0.9, spread=1.8, rules=0, shares=(0, 0), strength=0, helpful=0, harmful=0)


def logistic(ease: float) -> float:
    return 1 / (1 + math.exp(-ease))


class Skill:
    """A version of the skill in this world: each task's ease and chance of success. Tasks below SELECTION are selection."""

    def __init__(self, ease: Sequence[float], found: frozenset[int] = frozenset()) -> None:
        self.ease = tuple(ease)
        self.found = found
        self.chances = tuple(logistic(value) for value in ease)

    @property
    def truth(self) -> float:
        return math.fsum(self.chances[SELECTION:]) / (len(self.chances) - SELECTION)

    @property
    def expected(self) -> float:
        """What the selection score would be without noise."""
        return math.fsum(self.chances[:SELECTION]) / SELECTION


@dataclass(frozen=True)
class Edit:
    effect: Effect
    rule: int | None = None


class World:
    """Hidden rules and tasks, from a seed. ``chance`` is the one source of everything random after that."""

    def __init__(self, kind: Kind, seed: int) -> None:
        self.kind = kind
        self.chance = random.Random(f"{kind.name} {seed}")
        tasks = range(SELECTION + TEST)
        self.start = Skill([self.chance.gauss(kind.ease, kind.spread) for _ in tasks])
        self.rules = [self._effect(kind.shares, kind.strength) for _ in range(kind.rules)]
        self._items = [(Item(f"t{n}", "scored", 0.0, 0.0), Item(f"t{n}", "scored", 1.0, 1.0)) for n in range(SELECTION)]

    def _effect(self, shares: tuple[float, float], strength: float) -> Effect:
        share, size = self.chance.uniform(*shares), strength * self.chance.uniform(0.5, 1.5)
        return {task: size for task in range(SELECTION + TEST) if self.chance.random() < share}

    def propose(self, skill: Skill, count: int) -> tuple[Edit, ...]:
        """A patch of so many edits, as an optimizer of middling skill would write it."""
        edits: list[Edit] = []
        for _ in range(count):
            used = skill.found | {edit.rule for edit in edits}
            left = [rule for rule in range(len(self.rules)) if rule not in used]
            draw = self.chance.random()
            if draw < self.kind.helpful and left:
                rule = self.chance.choice(left)
                edits.append(Edit(self.rules[rule], rule))
            elif draw < self.kind.helpful + self.kind.harmful:
                edits.append(Edit(self._effect((0.05, 0.25), -1.2)))
            else:
                edits.append(Edit({}))
        return tuple(edits)

    def apply(self, skill: Skill, edits: Sequence[Edit]) -> Skill:
        ease = list(skill.ease)
        for edit in edits:
            for task, size in edit.effect.items():
                ease[task] += size
        return Skill(ease, skill.found | {edit.rule for edit in edits if edit.rule is not None})

    def evaluate(self, skill: Skill, repeats: int = 1) -> Scores:
        """One noisy evaluation on the selection tasks."""
        if repeats == 1:
            draw = self.chance.random
            return Scores(tuple(self._items[n][draw() < skill.chances[n]] for n in range(SELECTION)))
        means = (
            sum(self.chance.random() < skill.chances[n] for _ in range(repeats)) / repeats for n in range(SELECTION)
        )
        return Scores(tuple(Item(f"t{n}", "scored", mean, mean, repeats) for n, mean in enumerate(means)))


def worth(skill: Skill, points: float, share: float, chance: random.Random) -> Skill:
    """The skill with an edit on a share of the tasks that is worth exactly so many points (0..100) of expected score."""
    concerned = {task for task in range(len(skill.ease)) if chance.random() < share}
    low, high = 0.0, 60.0
    for _ in range(60):
        size = (low + high) / 2
        better = Skill([ease + size * (task in concerned) for task, ease in enumerate(skill.ease)])
        low, high = (size, high) if better.expected - skill.expected < points / 100 else (low, size)
    return better
