"""Tokens of a text, estimated: for caps, before a call, and for servers that report none. Pure."""

from __future__ import annotations

from skillgit.models.base import Request
from skillgit.size import tokens as of_text

__all__ = ["TOKENS_PER_IMAGE", "of_request", "of_text"]

TOKENS_PER_IMAGE = 1500


def of_request(request: Request) -> int:
    """Input tokens of a request, images included; schema and tools are not counted."""
    texts = sum(of_text(m.content) + sum(of_text(c.arguments) for c in m.tool_calls) for m in request.messages)
    return texts + TOKENS_PER_IMAGE * sum(len(message.images) for message in request.messages)
