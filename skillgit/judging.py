"""The model behind a judge that is a model: made, limited, paid and remembered like the other two."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from skillgit.judges import Rubric
from skillgit.models import registry
from skillgit.models.calls import Caller, Meter
from skillgit.models.prices import demand_price

if TYPE_CHECKING:
    from skillgit.config import ModelSettings
    from skillgit.env import Environment
    from skillgit.models.base import Reply, Request
    from skillgit.models.limiter import Limiters
    from skillgit.replies import Replies


def roles(env: Environment) -> dict[registry.Role, ModelSettings]:
    """The models that an environment uses, by role; ``judge`` where a model judges."""
    models = env.settings.models
    judge: dict[registry.Role, ModelSettings] = {"judge": models.judge} if models.judge and env.judge.asks else {}
    return {"target": models.target, "optimizer": models.optimizer, **judge}


def judge_model(env: Environment, replies: Replies, meter: Meter, limiters: Limiters) -> Caller | None:
    """The model that judges, bound to the judge of the environment; None where no model judges.

    The caller closes it. An answer is paid for once: the same question is found again in the memo.
    """
    settings = env.settings.models.judge
    if settings is None or not isinstance(env.judge, Rubric):
        return None
    demand_price(settings, env.settings.limits, "judge")
    limiter = limiters.get(settings)
    model = Caller(registry.create(settings, "judge"), settings, meter, "judge", limiter=limiter)

    async def ask(request: Request) -> Reply:
        asked = [model.name, model.fingerprint, request.sample, *(asdict(message) for message in request.messages)]
        key = hashlib.sha256(json.dumps(asked, sort_keys=True).encode("ascii")).hexdigest()
        return await replies.get_or_call(f"judge {key}", partial(model.call, request))

    env.judge.bind(ask)
    return model
