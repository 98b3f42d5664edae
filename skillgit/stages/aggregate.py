"""Aggregate: merge patches level after level, failures and successes apart, then the two with failures first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from skillgit.concurrency import gather
from skillgit.errors import OutputError, ProviderError
from skillgit.skill import Edit, EditReport, Patch
from skillgit.stages import answers
from skillgit.stages.ask import Optimizer
from skillgit.stages.modes import MODES, Mode, Wording
from skillgit.stages.proposal import Proposals, read_edits
from skillgit.stages.render import edits_block, meta_block, one_line, skill_block

if TYPE_CHECKING:
    from skillgit.config import ReflectSettings


@dataclass(frozen=True, slots=True)
class Merged:
    """One patch of all, reports for merged edits that go no further, and what fell back.

    ``unreadable`` are edits that are none, and those that would change text which an edit before them changes.
    """

    patch: Patch
    unreadable: tuple[EditReport, ...] = ()
    fallbacks: tuple[str, ...] = ()


async def aggregate(
    optimizer: Optimizer,
    proposals: Proposals,
    *,
    skill: str,
    meta: str,
    settings: ReflectSettings,
    mode: Mode = "patch",
) -> Merged:
    """Merge the patches of all minibatches into one, ``merge_batch_size`` at a time.

    One patch alone is not sent to a merge. A merge that fails is replaced by concatenation, failures first; of whole
    rewrites the first is kept. The support of an edit is the number of patches that stand behind it.
    """
    merger = _Merger(optimizer, skill, meta, settings, MODES[mode])
    leaves = [
        _Node(tuple(_Backed(edit, frozenset({number})) for edit in patch.edits), patch.reasoning, patch.source)
        for number, patch in enumerate(proposals.patches)
        if patch.edits
    ]
    if not leaves:
        return Merged(Patch(()))
    groups = [[leaf for leaf in leaves if leaf.source == source] for source in ("failure", "success")]
    trees = await gather([merger.tree(group) for group in groups if group], len(groups))
    node = await merger.merge(merger.mode.merge_final, 0, trees)
    patch = Patch(tuple(backed.counted for backed in node.edits), node.reasoning, node.source)
    return Merged(patch, node.unreadable, node.fallbacks)


@dataclass(frozen=True, slots=True)
class _Backed:
    """An edit, and the numbers of the minibatch patches that stand behind it."""

    edit: Edit
    patches: frozenset[int]

    @property
    def counted(self) -> Edit:
        """The edit with its support; one that the merge made up has that of the merge."""
        return replace(self.edit, support=max(1, len(self.patches)))


@dataclass(frozen=True, slots=True)
class _Node:
    """A patch of the tree, with what was lost below it."""

    edits: tuple[_Backed, ...]
    reasoning: str
    source: str
    unreadable: tuple[EditReport, ...] = ()
    fallbacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Merger:
    optimizer: Optimizer
    skill: str
    meta: str
    settings: ReflectSettings
    mode: Wording

    async def tree(self, nodes: list[_Node]) -> _Node:
        """Merge in groups until one is left; each level is shorter, as a group holds at least two."""
        size = max(2, self.settings.merge_batch_size)
        while len(nodes) > 1:
            groups = [nodes[start : start + size] for start in range(0, len(nodes), size)]
            merges = [self.merge(self.mode.merge, index, group) for index, group in enumerate(groups)]
            nodes = await gather(merges, self.settings.concurrency)
        return nodes[0]

    async def merge(self, stage: str, index: int, nodes: Sequence[_Node]) -> _Node:
        """One patch of several, by the optimizer or else by concatenation."""
        if len(nodes) == 1:
            return nodes[0]
        inputs = [backed for node in nodes for backed in node.edits]
        shown = edits_block([backed.counted for backed in inputs])
        values = {"skill": skill_block(self.skill), "meta": meta_block(self.meta), "edits": shown}
        patches = [[backed.counted.as_dict() for backed in node.edits] for node in nodes]
        context = {"stage": "merge", "skill": self.skill, "patches": patches}
        fallbacks: tuple[str, ...] = ()
        try:
            merged = await self.optimizer.ask(
                stage,
                values,
                self.mode.merged,
                lambda data: _read(data, inputs, self.mode),
                context=context,
                index=index,
            )
        except (OutputError, ProviderError) as error:
            merged, did = self._unmerged(inputs)
            fallbacks = (f"{stage}: {did} instead of a merge: {one_line(error.message)}",)
        edits, conflicts = _distinct(merged.edits)
        return replace(
            merged,
            edits=edits,
            unreadable=(*(r for node in nodes for r in node.unreadable), *merged.unreadable, *conflicts),
            fallbacks=(*(text for node in nodes for text in node.fallbacks), *fallbacks),
        )

    def _unmerged(self, inputs: Sequence[_Backed]) -> tuple[_Node, str]:
        """What stands in for a merge that failed."""
        if not self.mode.whole:
            return _Node(tuple(inputs), "", inputs[0].edit.source), "concatenation"
        lost = tuple(EditReport(backed.edit, "left_out", "rewrites were not merged") for backed in inputs[1:])
        return _Node(tuple(inputs[:1]), "", inputs[0].edit.source, lost), "the first rewrite"


def _read(data: Mapping[str, Any], inputs: Sequence[_Backed], mode: Wording) -> _Node:
    read, unreadable = read_edits(mode.edits(data), mode.ops)
    if not read:
        raise ValueError("the merge keeps no edit at all")
    behind = list(range(len(inputs))) if mode.whole else None
    edits = tuple(_backed(edit, behind or row.get("sources"), inputs) for edit, row in read)
    return _Node(edits, answers.text(data["reasoning"], "reasoning"), inputs[0].edit.source, unreadable)


def _backed(edit: Edit, sources: Any, inputs: Sequence[_Backed]) -> _Backed:
    """A merged edit, backed by the inputs that it says it stands for and by those that are the same."""
    named = answers.indices(sources, len(inputs))
    digest = edit.digest()
    origins = [backed for i, backed in enumerate(inputs) if i in named or backed.edit.digest() == digest]
    if not origins:
        return _Backed(replace(edit, source=inputs[0].edit.source, evidence=()), frozenset())
    return _joined(replace(edit, evidence=()), origins)


def _joined(edit: Edit, origins: Sequence[_Backed]) -> _Backed:
    """The edit with the evidence, source and backing of all that it stands for, and the first one's words if it has none."""
    first = origins[0].edit
    evidence = dict.fromkeys(task_id for origin in origins for task_id in origin.edit.evidence)
    joined = replace(
        edit,
        source="failure" if any(origin.edit.source == "failure" for origin in origins) else first.source,
        evidence=tuple(evidence),
        title=edit.title or first.title,
        reasoning=edit.reasoning or first.reasoning,
    )
    return _Backed(joined, frozenset().union(*(origin.patches for origin in origins)))


def _distinct(edits: Sequence[_Backed]) -> tuple[tuple[_Backed, ...], tuple[EditReport, ...]]:
    """Equal edits as one, and reports for those that would change text which an edit before them changes."""
    kept: dict[str, _Backed] = {}
    taken: set[str] = set()
    conflicts: list[EditReport] = []
    for backed in edits:
        edit, digest = backed.edit, backed.edit.digest()
        changes = edit.target if edit.op in ("replace", "delete") else ""
        if digest in kept:
            kept[digest] = _joined(kept[digest].edit, (kept[digest], backed))
        elif changes in taken:
            conflicts.append(EditReport(edit, "duplicate", "an edit before it changes the same text"))
        else:
            kept[digest] = backed
            taken |= {changes} - {""}
    return tuple(kept.values()), tuple(conflicts)
