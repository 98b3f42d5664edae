"""Aggregate: merge patches level after level, failures and successes apart, then the two with failures first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillgit.concurrency import gather
from skillgit.config import ReflectSettings
from skillgit.errors import OutputError, ProviderError
from skillgit.skill import Edit, EditReport, Patch
from skillgit.stages.ask import Optimizer
from skillgit.stages.proposal import MERGE_SCHEMA, Proposals, read_edits
from skillgit.stages.render import edits_block, meta_block, skill_block


@dataclass(frozen=True, slots=True)
class Merged:
    """One patch of all, reports for merged edits that cannot be read, and what fell back."""

    patch: Patch
    unreadable: tuple[EditReport, ...] = ()
    fallbacks: tuple[str, ...] = ()


async def aggregate(
    optimizer: Optimizer, proposals: Proposals, *, skill: str, meta: str, settings: ReflectSettings
) -> Merged:
    """Merge the patches of all minibatches into one.

    One patch alone is not sent to a merge. A merge that fails is replaced by concatenation, failures first.
    """
    merger = _Merger(optimizer, skill, meta, settings)
    trees = []
    for source in ("failure", "success"):
        patches = [patch for patch in proposals.patches if patch.source == source and patch.edits]
        if patches:
            trees.append(await merger.tree(patches))
    patch = await merger.merge(trees, "merge_final") if len(trees) > 1 else trees[0] if trees else Patch(())
    return Merged(patch, tuple(merger.unreadable), tuple(merger.fallbacks))


class _Merger:
    def __init__(self, optimizer: Optimizer, skill: str, meta: str, settings: ReflectSettings) -> None:
        self._optimizer = optimizer
        self._skill = skill
        self._meta = meta
        self._settings = settings
        self._calls = 0
        self.unreadable: list[EditReport] = []
        self.fallbacks: list[str] = []

    async def tree(self, patches: list[Patch]) -> Patch:
        """Merge in groups until one is left; each level is shorter, as a group holds at least two."""
        size = max(2, self._settings.merge_batch_size)
        while len(patches) > 1:
            groups = [patches[start : start + size] for start in range(0, len(patches), size)]
            merges = [self.merge(group, "merge") for group in groups]
            patches = await gather(merges, self._settings.concurrency)
        return patches[0]

    async def merge(self, patches: Sequence[Patch], stage: str) -> Patch:
        """One patch of several."""
        if len(patches) == 1:
            return patches[0]
        index, self._calls = self._calls, self._calls + 1
        edits = [edit for patch in patches for edit in patch.edits]
        values = {"skill": skill_block(self._skill), "meta": meta_block(self._meta), "edits": edits_block(edits)}
        context = {"stage": "merge", "skill": self._skill, "patches": [[e.as_dict() for e in p.edits] for p in patches]}
        source = patches[0].source
        try:
            return await self._optimizer.ask(
                stage, values, MERGE_SCHEMA, lambda data: self._read(data, edits, source), context=context, index=index
            )
        except (OutputError, ProviderError) as error:
            self.fallbacks.append(f"{stage}: concatenation instead of a merge: {error.message}")
            return Patch(tuple(_distinct(edits)), source=source)

    def _read(self, data: Mapping[str, Any], inputs: Sequence[Edit], source: str) -> Patch:
        edits, unreadable = read_edits(data["edits"])
        rows = [row for row in data["edits"] if isinstance(row, Mapping)]
        sources = iter([_indices(row.get("sources"), len(inputs)) for row in rows])
        backed = [_backed(edit, [inputs[i] for i in next(sources)], source) for edit in edits]
        if inputs and not backed:
            raise ValueError("the merge keeps no edit at all")
        self.unreadable += unreadable
        return Patch(tuple(_distinct(backed)), str(data.get("reasoning") or ""), source)


def _indices(value: Any, count: int) -> list[int]:
    found = value if isinstance(value, list) else []
    return list(dict.fromkeys(i for i in found if isinstance(i, int) and not isinstance(i, bool) and 0 <= i < count))


def _backed(edit: Edit, inputs: Sequence[Edit], source: str) -> Edit:
    """The merged edit with the support, evidence and source of those it stands for."""
    if not inputs:
        return replace(edit, source=source)
    evidence = dict.fromkeys(task_id for origin in inputs for task_id in origin.evidence)
    sources = [origin.source for origin in inputs]
    return replace(
        edit,
        support=sum(origin.support for origin in inputs),
        evidence=tuple(evidence),
        source="failure" if "failure" in sources else sources[0],
        title=edit.title or inputs[0].title,
        reasoning=edit.reasoning or inputs[0].reasoning,
    )


def _distinct(edits: Sequence[Edit]) -> list[Edit]:
    """No two edits that are equal, and no two that change the same text."""
    kept: list[Edit] = []
    digests: set[str] = set()
    taken: set[str] = set()
    for edit in edits:
        changes = edit.target if edit.op in ("replace", "delete") else ""
        if edit.digest() in digests or (changes and changes in taken):
            continue
        digests.add(edit.digest())
        taken.add(changes)
        kept.append(edit)
    return kept
