"""The appendix at an epoch's end: reminders that waited for it, and one call that compacts a long list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skillgit.errors import OutputError, ProviderError
from skillgit.skill import appendix_notes
from skillgit.stages import answers
from skillgit.stages.ask import Optimizer
from skillgit.stages.render import fenced, one_line, skill_block


async def appendix(
    optimizer: Optimizer, *, skill: str, waiting: Sequence[str], above: int
) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """(the new notes, fallbacks); None when the appendix stays as it is. More than ``above`` notes are compacted."""
    old = appendix_notes(skill)
    notes = tuple(dict.fromkeys((*old, *waiting)))
    fallbacks: tuple[str, ...] = ()
    if len(notes) > above:
        notes, fallbacks = await consolidate(optimizer, notes, skill=skill)
    return (None if notes == old else notes), fallbacks


async def consolidate(
    optimizer: Optimizer, notes: Sequence[str], *, skill: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(fewer notes that say the same, fallbacks); a failed call leaves them as they were."""
    shown = fenced("\n".join(f"- {note}" for note in notes))
    values = {"skill": skill_block(skill), "notes": shown}
    context = {"stage": "consolidate", "skill": skill, "notes": list(notes)}

    def read(data: dict[str, Any]) -> tuple[str, ...]:
        found = [answers.text(note, "note") for note in answers.rows(data["notes"], "notes")]
        kept = tuple(dict.fromkeys(note for note in found if note))
        if not 0 < len(kept) < len(notes):
            raise ValueError(f"there must be fewer than {len(notes)} notes, and one at least; these are {len(kept)}")
        return kept

    try:
        return await optimizer.ask("consolidate", values, answers.CONSOLIDATE, read, context=context), ()
    except (OutputError, ProviderError) as error:
        return tuple(notes), (f"appendix: left as it was: {one_line(error.message)}",)
