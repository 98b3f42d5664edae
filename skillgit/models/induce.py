"""``builtin:induce``, the optimizer that needs no key: it learns from what the failed tasks should have answered.

It reads the data behind each question (``Request.context``) instead of the prompt, and answers in the same JSON. The
skill's own lines are its only memory, nothing is drawn by chance, and it knows nothing about any task. What it proposes
passes the same merge, selection, budget and gate as any model's edits.

Reflect, on the failures of a minibatch that show an expected answer, in this order:

1. Form (``induction.forms``). Answers with one outline are a class. Each part of the outline gets the most exact
   description that is true of every item: the same text, a length, a case, a copy of a number or a word of the task.
2. Worked examples (``induction.examples``), one an edit, from the kinds of task that fail most. So a part of the gain
   is few-shot examples, all of them train tasks. An example in spite of which tasks like it fail gives up its place,
   one that is parroted is deleted.
3. Closed set (``induction.words``). If answers repeat, words that point to one value, in turn with the examples:
   precision first, then support, and only where chance is an unlikely reason. If examples do not keep the target inside
   the set, its values are named.

Lines that later failures contradict are corrected. What the context lists as rejected is never proposed again.
Successes teach it nothing. It writes no epoch guidance and no advice to itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from skillgit.errors import FatalModelError
from skillgit.lines import unix
from skillgit.models.base import Reply, Request, Usage
from skillgit.models.induction import examples, forms, words
from skillgit.models.induction.lesson import failures
from skillgit.models.induction.merge import merge, ranking
from skillgit.models.induction.patterns import patterns
from skillgit.skill import Edit

if TYPE_CHECKING:
    from skillgit.config import ModelSettings

VERSION = "1"
"""Rises when the same context may get another answer."""

Answer = dict[str, Any]


class Induce:
    """An optimizer only. Takes no options."""

    is_agent = False

    def __init__(self, settings: ModelSettings, name: str = "induce") -> None:
        self.name = settings.model
        self.fingerprint = f"builtin:induce {VERSION}"
        if name != "induce":
            raise FatalModelError(f"there is no builtin:{name}", hint="builtin:induce is the only one")

    async def call(self, request: Request) -> Reply:
        """The answer to an optimizer's question. Raises FatalModelError for any other."""
        answer = STAGES.get(request.context.get("stage", ""))
        if answer is None:
            hint = "it can only be models.optimizer; choose a language model as the target"
            raise FatalModelError("builtin:induce answers no prompts", hint=hint)
        return Reply(json.dumps(answer(request.context), ensure_ascii=False), Usage(usd=0.0))

    async def close(self) -> None:
        """Nothing to release."""


def reflect(context: Mapping[str, Any]) -> Answer:
    """Patterns and edits for a minibatch of failures; nothing for successes."""
    items = failures(context["trajectories"]) if context["kind"] == "failure" else ()
    if not items:
        return {"patterns": [], "reasoning": "No failure shows an expected answer to learn from.", "edits": []}
    skill = unix(context["skill"])
    closed = bool(words.values(items, skill))
    proposed = [
        *([] if closed else forms.propose(items, skill)),
        *forms.alone(items, skill),
        *words.choice(items, skill),
        *words.propose(items, skill),
        *examples.forget(items, skill),
        *examples.propose(items, skill),
    ]
    rejected = {_digest(edit) for edit in context.get("rejected", ())}
    edits = [edit for edit in (proposal.as_dict() for proposal in proposed) if _digest(edit) not in rejected]
    best = [edits[index] for index in ranking(edits)][: context["budget"]]
    return {"patterns": patterns(items), "reasoning": f"Learned from {len(items)} expected answers.", "edits": best}


def _digest(edit: Mapping[str, Any] | str) -> str:
    if isinstance(edit, str):
        return edit
    return Edit(edit["op"], edit.get("content") or "", edit.get("target") or "").digest()


def _merge(context: Mapping[str, Any]) -> Answer:
    edits = [edit for patch in context["patches"] for edit in patch]
    return {"reasoning": "Lines on the same thing joined, repeats dropped.", "edits": merge(edits)}


def _select(context: Mapping[str, Any]) -> Answer:
    return {"reasoning": "The form of all answers before examples and words.", "ranking": ranking(context["edits"])}


def _budget(context: Mapping[str, Any]) -> Answer:
    return {"reasoning": "The gate decides.", "budget": min(len(context["edits"]), context["budget"])}


STAGES: Mapping[str, Callable[[Mapping[str, Any]], Answer]] = {
    "ping": lambda context: {"ready": True},
    "reflect": reflect,
    "merge": _merge,
    "select": _select,
    "budget": _budget,
    "slow": lambda context: {"reflection": "This optimizer writes no guidance.", "guidance": ""},
    "meta": lambda context: {"meta_skill": ""},
}
