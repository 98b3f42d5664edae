from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from skillgit.errors import FatalModelError, LimitReached, OutputError, ProviderError
from skillgit.models.base import Reply, Usage
from skillgit.stages.answers import META
from skillgit.stages.ask import Optimizer
from tests.stages.asking import Env, opt

VALUES = dict.fromkeys(("before", "after", "meta", "pairs"), "v")


def ask(optimizer: Optimizer, **more: Any) -> str:
    def check(data: dict[str, Any]) -> str:
        if not isinstance(data["meta_skill"], str):
            raise ValueError("meta_skill must be text")
        return data["meta_skill"]

    return asyncio.run(optimizer.ask("meta", VALUES, META, check, context={}, **more))


def test_an_unusable_answer_is_asked_for_again_with_what_was_wrong() -> None:
    answers = iter(["no json at all", '{"meta_skill": 5}', '{"meta_skill": "good"}'])
    optimizer, model = opt(lambda request: next(answers))
    assert (ask(optimizer), optimizer.parse_failures) == ("good", 2)
    assert [message.role for message in model.asked[2].messages] == ["system", "user", "assistant", "user"]
    assert "holds no JSON object" in model.asked[1].messages[-1].content
    assert "meta_skill must be text" in model.asked[2].messages[-1].content


def test_three_unusable_answers_are_an_output_error() -> None:
    optimizer, model = opt(lambda request: "never")
    with pytest.raises(OutputError, match=r"no usable answer in 3 tries \(meta\): the answer holds no JSON object"):
        ask(optimizer)
    assert (len(model.asked), optimizer.parse_failures) == (3, 3)


def test_an_answer_that_was_cut_off_gets_twice_the_room() -> None:
    """Also when what there is of it could be read: nobody knows what is missing."""
    whole = '{"meta_skill": "good"}'
    answers = iter([Reply(whole, Usage(1, 5000), "length"), Reply("{", Usage(1, 9000), "length"), Reply(whole)])
    optimizer, model = opt(lambda request: next(answers))
    assert ask(optimizer) == "good"
    assert [request.max_tokens for request in model.asked] == [None, 10_000, 20_000]
    assert model.asked[1].messages == model.asked[0].messages
    assert optimizer.parse_failures == 2


def test_where_the_provider_counts_no_tokens_the_configured_limit_is_doubled() -> None:
    answers = iter([Reply("{", Usage(0, 0), "length"), Reply('{"meta_skill": ""}')])
    optimizer, model = opt(lambda request: next(answers))
    ask(optimizer)
    assert model.asked[1].max_tokens == 2 * Env().settings.models.optimizer.max_tokens


def test_a_refusal_is_not_asked_again() -> None:
    optimizer, model = opt(lambda request: Reply("no", stop="refusal"))
    with pytest.raises(OutputError, match="refused"):
        ask(optimizer)
    assert len(model.asked) == 1


@pytest.mark.parametrize("kind", [FatalModelError, LimitReached, ProviderError])
def test_errors_of_the_provider_and_of_limits_pass_through(kind: type[Exception]) -> None:
    optimizer, model = opt(lambda request: kind("stop"))
    with pytest.raises(kind, match="stop"):
        ask(optimizer)
    assert len(model.asked) == 1


class Kept:
    """A cache that remembers its keys."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply] = {}

    async def get_or_call(self, key: str, call: Callable[[], Awaitable[Reply]]) -> Reply:
        if key not in self.replies:
            self.replies[key] = await call()
        return self.replies[key]


def test_a_question_is_paid_for_once_a_run_bad_answers_too() -> None:
    answers = iter(["bad", '{"meta_skill": "good"}', '{"meta_skill": "other"}'])
    cache = Kept()
    first, model = opt(lambda request: next(answers), cache=cache)
    assert ask(first) == "good"
    again, unasked = opt(lambda request: pytest.fail("it is known"), cache=cache)
    assert (ask(again), again.parse_failures, unasked.asked) == ("good", 1, [])
    assert len(model.asked) == 2
    assert ask(opt(lambda request: next(answers), cache=cache, run=2)[0]) == "other"


def test_what_may_change_the_answer_changes_the_key() -> None:
    answer = '{"meta_skill": "a"}'
    cache = Kept()
    ask(opt(lambda request: answer, cache=cache)[0])
    ask(opt(lambda request: answer, cache=cache)[0], index=1)
    other_prompt = Env({"meta": "Other: {{after}} {{pairs}}"})
    ask(opt(lambda request: answer, other_prompt, cache=cache)[0])
    other_model, model = opt(lambda request: answer, cache=cache)
    model.fingerprint = "g"
    ask(other_model)
    assert len(cache.replies) == 4


def test_the_request_carries_schema_and_context() -> None:
    optimizer, model = opt(lambda request: json.dumps({"meta_skill": ""}))
    asyncio.run(optimizer.ask("meta", VALUES, META, lambda data: None, context={"stage": "meta"}))
    (request,) = model.asked
    assert (request.schema, request.schema_name, request.context) == (META, "meta", {"stage": "meta"})
