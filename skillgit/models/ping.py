"""One tiny real call: does this model answer at all?"""

from __future__ import annotations

from skillgit.errors import FatalModelError, ProviderError
from skillgit.models.base import Message, Model, Reply, Request


async def ping(model: Model) -> Reply:
    """Ask for a word. Raises FatalModelError with the provider's own words when nothing comes back."""
    request = Request(
        (Message("user", "Answer with the single word: ready"),), max_tokens=256, context={"stage": "ping"}
    )
    try:
        reply = await model.call(request)
    except ProviderError as error:
        raise FatalModelError(f"{model.name} does not answer: {error.message}", hint="skillgit doctor") from None
    if not reply.text.strip() and reply.stop == "stop":
        raise FatalModelError(f"{model.name} answered with nothing", hint="skillgit doctor")
    return reply
