"""A run's progress: a live view on a terminal, plain lines elsewhere. Everything goes to stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skillgit import console
from skillgit.views.entries import entry_line, heading, spent_text, tint
from skillgit.views.runs import plan_lines

if TYPE_CHECKING:
    from rich.live import Live

    from skillgit.plan import Plan

REFRESH = 8
"""Redraws a second."""
BAR = 10
"""Characters of a stage's bar: the whole view fits 80."""


class Lines:
    """One plain line for the plan, each entry and each note."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._headed = False
        self.steps = 0

    def plan(self, plan: Plan) -> None:
        self.steps = plan.steps
        for line in [*plan_lines(plan), ""]:
            self._say(line)

    def stage(self, name: str, total: int) -> None: ...

    def advance(self) -> None: ...

    def entry(self, record: Mapping[str, Any], spend: Mapping[str, Any]) -> None:
        if not self._headed:
            self._say(heading(), "dim")
            self._headed = True
        self._say(entry_line(record, spend, self.steps), tint(record))

    def note(self, text: str) -> None:
        console.note(f"note: {text}")

    def close(self) -> None: ...

    def _say(self, text: str, colour: str = "") -> None:
        if not self._quiet:
            console.note(text)


class LiveView(Lines):
    """The same lines, and under them what is going on: step, stage, bar, scores, spend, time so far and time left."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.live import Live

        # the view is drawn from the moment that it exists
        self._began = time.monotonic()
        self._stage, self._total, self._done = "", 0, 0
        self._finished: list[tuple[int, float]] = []
        self._where, self._scores, self._spend = "", "", ""
        self._console = Console(stderr=True, highlight=False)
        self._live: Live = Live(
            console=self._console, refresh_per_second=REFRESH, get_renderable=self._view, transient=True
        )
        self._live.start()

    def stage(self, name: str, total: int) -> None:
        self._stage, self._total, self._done = name, total, 0
        if name == "rollout" and self._finished:
            self._where = f"step {self._finished[-1][0] + 1}/{self.steps}"
        elif name in ("compare", "test"):
            self._where = ""

    def advance(self) -> None:
        self._done += 1

    def entry(self, record: Mapping[str, Any], spend: Mapping[str, Any]) -> None:
        super().entry(record, spend)
        current, best = record["current"], record["best"]
        self._scores = f"score {current['hard']:.3f}"
        if best["commit"] != current["commit"]:
            self._scores += f" (best {best['hard']:.3f})"
        self._finished.append((record["step"], time.monotonic()))
        self._spend = spent_text(spend.get("total", ()))

    def note(self, text: str) -> None:
        self._say(f"note: {text}")

    def close(self) -> None:
        self._live.stop()

    def _say(self, text: str, colour: str = "") -> None:
        self._console.print(text, style=colour or None, markup=False, soft_wrap=True)

    def _view(self) -> Any:
        from rich.text import Text

        time_so_far = console.clock(time.monotonic() - self._began)
        parts = [self._where, self._stage, self._bar(), time_so_far, self._left(), self._scores, self._spend]
        return Text("  ".join(part for part in parts if part), style="dim", no_wrap=True, overflow="ellipsis")

    def _bar(self) -> str:
        if not self._total:
            return ""
        filled = round(BAR * min(1.0, self._done / self._total))
        return f"{'━' * filled}{'╌' * (BAR - filled)} {self._done}/{self._total}"

    def _left(self) -> str:
        """Of the run, once a step is done: as long again for each step as the steps so far took."""
        if not self._finished or self.steps <= self._finished[-1][0]:
            return ""
        (first, began), (last, ended) = self._finished[0], self._finished[-1]
        if last == first:
            return ""
        left = (ended - began) / (last - first) * (self.steps - last) - (time.monotonic() - ended)
        return f"{console.clock(max(0.0, left))} left"


def reporter(*, quiet: bool = False) -> Lines:
    """A live view when stderr is a terminal, else plain lines."""
    return LiveView() if sys.stderr.isatty() and not quiet else Lines(quiet=quiet)


class Bar:
    """A download's progress: a bar on a terminal, a line at each tenth elsewhere."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._tenth = -1
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Bar:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._what, total=None)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def update(self, done: int, total: int) -> None:
        """Bytes so far, of how many."""
        if self._bar:
            self._bar.update(self._task, completed=done, total=total)
        elif total and done * 10 // total > self._tenth:
            self._tenth = done * 10 // total
            console.note(f"{self._what}: {self._tenth * 10} %")
