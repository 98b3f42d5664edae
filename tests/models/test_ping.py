from __future__ import annotations

import asyncio

import pytest

from skillgit.errors import FatalModelError, ProviderError
from skillgit.models.base import Reply
from skillgit.models.ping import ping
from tests.models.fakes import Queue, reply


@pytest.mark.parametrize(
    "answer", [reply("ready"), reply("not what was asked"), Reply("", stop="length"), Reply("", stop="refusal")]
)
def test_any_sign_of_life_will_do(answer: Reply) -> None:
    assert asyncio.run(ping(Queue([answer]))) is answer


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (ProviderError("503: come back later"), "openai:fake does not answer: 503: come back later"),
        (FatalModelError("401: wrong key"), "401: wrong key"),
        (reply(" \n"), "openai:fake answered with nothing"),
    ],
)
def test_a_model_that_cannot_work_stops_the_run_in_its_own_words(answer: Reply | Exception, said: str) -> None:
    with pytest.raises(FatalModelError) as caught:
        asyncio.run(ping(Queue([answer])))
    assert caught.value.message == said
