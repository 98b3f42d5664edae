"""The optimizer's answers in the memo: the same question of the same run is paid for once."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

from skillgit.memo import Memo
from skillgit.models.base import Reply
from skillgit.models.transcript import reply_data, reply_from


class Replies:
    """Looks an answer up by its key, else asks for it and keeps it."""

    def __init__(self, memo: Memo) -> None:
        self._memo = memo

    async def get_or_call(self, key: str, call: Callable[[], Awaitable[Reply]]) -> Reply:
        known = self._memo.load("reply", key, lambda stored: reply_from(json.loads(stored)))
        if known is not None:
            return known
        reply = await call()
        self._memo.put("reply", key, json.dumps(reply_data(reply), ensure_ascii=False))
        return reply
