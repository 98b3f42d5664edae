"""How long a text is for a model, estimated. Pure."""

from __future__ import annotations

BYTES_PER_TOKEN = 3
"""Lower than what tokenizers reach on English (about 4), about right for code and for scripts of three bytes a letter."""
TOKENS_PER_WORD = 2


def tokens(text: str) -> int:
    """Rather too many than too few."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def room(text: str, most: int | None) -> int | None:
    """The words by which a text may grow until it has ``most`` tokens; None without a limit."""
    return None if most is None else max(0, most - tokens(text)) // TOKENS_PER_WORD
