"""A run's progress: a live view on a terminal, plain lines elsewhere. Everything goes to stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skillgit import console
from skillgit.views import entry_line, plan_lines, spent_text

if TYPE_CHECKING:
    from rich.live import Live

    from skillgit.plan import Plan

REFRESH = 8
"""Redraws a second."""


class Lines:
    """One plain line for the plan, each entry and each note."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self.steps = 0

    def plan(self, plan: Plan) -> None:
        self.steps = plan.steps
        for line in plan_lines(plan):
            self._say(line)

    def stage(self, name: str, total: int) -> None: ...

    def advance(self) -> None: ...

    def entry(self, record: Mapping[str, Any], spend: Mapping[str, Any]) -> None:
        self._say(entry_line(record, spend, self.steps))

    def note(self, text: str) -> None:
        console.note(f"note: {text}")

    def close(self) -> None: ...

    def _say(self, text: str) -> None:
        if not self._quiet:
            console.note(text)


class LiveView(Lines):
    """The same lines, and under them what is going on: stage, bar, time left of the stage, time since the start."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.live import Live

        # the view is drawn from the moment that it exists
        self._began = self._stage_began = time.monotonic()
        self._stage, self._total, self._done = "", 0, 0
        self._where, self._scores, self._spend = "", "", ""
        self._console = Console(stderr=True, highlight=False)
        self._live: Live = Live(
            console=self._console, refresh_per_second=REFRESH, get_renderable=self._view, transient=True
        )
        self._live.start()

    def stage(self, name: str, total: int) -> None:
        self._stage, self._total, self._done, self._stage_began = name, total, 0, time.monotonic()

    def advance(self) -> None:
        self._done += 1

    def entry(self, record: Mapping[str, Any], spend: Mapping[str, Any]) -> None:
        super().entry(record, spend)
        current, best = record["current"], record["best"]
        self._scores = f"current {current['hard']:.3f}  best {best['hard']:.3f}"
        self._where = f"step {record['step']}/{self.steps}" if self.steps else ""
        self._spend = spent_text(spend.get("total", ()))

    def note(self, text: str) -> None:
        self._say(f"note: {text}")

    def close(self) -> None:
        self._live.stop()

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)

    def _view(self) -> Any:
        from rich.text import Text

        parts = [self._where, self._stage, self._bar(), self._left(), self._scores, self._spend]
        parts.append(console.duration(time.monotonic() - self._began))
        return Text("  ".join(part for part in parts if part), style="dim", no_wrap=True, overflow="ellipsis")

    def _bar(self) -> str:
        if not self._total:
            return ""
        filled = round(16 * min(1.0, self._done / self._total))
        return f"{'━' * filled}{'╌' * (16 - filled)} {self._done}/{self._total}"

    def _left(self) -> str:
        if not self._total or self._done < 3 or self._done >= self._total:
            return ""
        each = (time.monotonic() - self._stage_began) / self._done
        return f"{console.duration(each * (self._total - self._done))} left"


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
