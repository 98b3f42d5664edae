"""Tokens of a text, estimated: for caps, before a call, and for servers that report none. Pure."""

from __future__ import annotations

from skillgit.models.base import Request

BYTES_PER_TOKEN = 3
"""Lower than what tokenizers reach on English (about 4), about right for code and for scripts of three bytes a letter."""
TOKENS_PER_IMAGE = 1500


def of_text(text: str) -> int:
    """Rather too many than too few."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def of_request(request: Request) -> int:
    """Input tokens of a request, images included; schema and tools are not counted."""
    texts = sum(of_text(m.content) + sum(of_text(c.arguments) for c in m.tool_calls) for m in request.messages)
    return texts + TOKENS_PER_IMAGE * sum(len(message.images) for message in request.messages)
