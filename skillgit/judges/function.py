"""The judge that is a function of env.py, and what such a function may return."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, ClassVar, SupportsFloat

from pydantic import Field, PrivateAttr

from skillgit.errors import ConfigError, TaskError
from skillgit.judges.base import Judge, Judgement
from skillgit.splits import Task


class Python(Judge):
    """A function of env.py: ``function(task, answer)`` gives a bool, a number, (hard, soft) or (hard, soft, reason)."""

    needs_answer: ClassVar[bool] = False
    function: str = Field(description="the name of the function")
    _call: Callable[[Task, str], Any] = PrivateAttr()

    def bind(self, module: Any) -> None:
        """Take the function from the module. Raises ConfigError."""
        function = getattr(module, self.function, None)
        if not callable(function):
            raise ConfigError(f"judge python: env.py has no function '{self.function}'")
        if inspect.iscoroutinefunction(function):
            raise ConfigError(f"judge python: '{self.function}' of env.py must be a plain function, not async")
        self._call = function

    def __call__(self, task: Task, answer: str) -> Judgement:
        from skillgit.env_file import calling

        with calling(f"judge {self.function}", task.id):
            return to_judgement(self._call(task, answer), task)


def to_judgement(result: Any, task: Task) -> Judgement:
    """What a score function returned, as a judgement. A single number below 1 is a soft score of a failure.

    Raises TaskError for anything else, for a hard score that is not 0 or 1, and for a soft one outside 0..1.
    """
    if isinstance(result, Judgement):
        parts: list[Any] = [result.hard, result.soft, result.reason]
    else:
        parts = list(result) if isinstance(result, (tuple, list)) else [result]
    if not 1 <= len(parts) <= 3 or not all(isinstance(part, SupportsFloat) for part in parts[:2]):
        raise TaskError(
            f"task '{task.id}': a score must be a number, (hard, soft) or (hard, soft, reason), not {result!r}"
        )
    soft = float(parts[min(1, len(parts) - 1)])
    hard = float(parts[0]) if len(parts) > 1 else float(soft >= 1)
    demand_scores(hard, soft, task)
    return Judgement(hard, soft, str(parts[2] or "") if len(parts) > 2 else "")


def demand_scores(hard: float, soft: float, task: Task) -> None:
    """Raise TaskError unless hard is 0 or 1 and soft in 0..1."""
    if hard not in (0, 1) or not math.isfinite(soft) or not 0 <= soft <= 1:
        raise TaskError(f"task '{task.id}': hard must be 0 or 1 and soft in 0..1, not {hard!r} and {soft!r}")
