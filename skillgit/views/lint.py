"""Findings of the lint: for people, and for a workflow's annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skillgit.console import paint
from skillgit.lint.finding import printable

if TYPE_CHECKING:
    from skillgit.lint.finding import Finding

COLOURS = {"error": "red", "warning": "yellow"}


def finding_lines(checked: Sequence[str], findings: Sequence[Finding]) -> list[str]:
    """A line for each finding, as editors follow it, and a count."""
    lines = [
        f"{printable(found.path)}:{found.line}: {paint(found.severity, COLOURS[found.severity])}: {found.message} [{found.rule}]"
        for found in findings
    ]
    errors = sum(found.severity == "error" for found in findings)
    documents = f"{len(checked)} document{'s'[: len(checked) != 1]}"
    return [
        *lines,
        f"{documents}: {errors} errors, {len(findings) - errors} warnings" if lines else f"{documents}: clean",
    ]


def github_lines(findings: Sequence[Finding]) -> list[str]:
    """Workflow commands that GitHub shows at the line of the file."""
    return [
        f"::{found.severity} file={_property(found.path)},line={found.line},title={_property(found.rule)}"
        f"::{_data(found.message)}"
        for found in findings
    ]


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
