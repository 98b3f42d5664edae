"""What a run tells whoever watches it; the loop knows nothing of terminals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from skillgit.plan import Plan


class Reporter(Protocol):
    """Receives a run's events, in order."""

    def plan(self, plan: Plan) -> None:
        """What the run is going to take, before anything is spent."""
        ...

    def stage(self, name: str, total: int) -> None:
        """A stage begins; ``total`` is how many items it has (0: unknown)."""
        ...

    def advance(self) -> None:
        """One item of the stage is done."""
        ...

    def entry(self, record: Mapping[str, Any], spend: Mapping[str, Any]) -> None:
        """An entry was published to the journal."""
        ...

    def note(self, text: str) -> None:
        """A remark or a warning, one line."""
        ...


class Silent:
    """Tells nobody."""

    def plan(self, plan: Plan) -> None: ...

    def stage(self, name: str, total: int) -> None: ...

    def advance(self) -> None: ...

    def entry(self, record: Mapping[str, Any], spend: Mapping[str, Any]) -> None: ...

    def note(self, text: str) -> None: ...
