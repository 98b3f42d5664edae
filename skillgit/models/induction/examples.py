"""Worked examples taken from failures, and the removal of examples that do harm. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from skillgit.models.induction.lesson import CODE, OPENINGS, Failure, Proposal, code, codes, ids, outline

LONGEST = 600  # characters of a task that may stand in the skill as an example
ENOUGH = 12  # examples in a skill; from there on a new one takes an old one's place
QUOTED = CODE.pattern
INLINE = re.compile(rf"^{OPENINGS['example']}(?P<task>{QUOTED}) → (?P<answer>{QUOTED})$", re.MULTILINE)
BLOCK = re.compile(
    rf"^{OPENINGS['example']}(?P<answer>{QUOTED}) is right for\n(?P<task>(?:  >.*(?:\n|\Z))+)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example in the skill; ``text`` are its exact lines."""

    text: str
    task: str
    answer: str


def shown(skill: str) -> list[Example]:
    """The examples in the skill, in order."""
    found = [(m.start(), Example(m[0], codes(m["task"])[0], codes(m["answer"])[0])) for m in INLINE.finditer(skill)]
    for match in BLOCK.finditer(skill):
        task = "\n".join(line.removeprefix("  >").removeprefix(" ") for line in match["task"].splitlines())
        found.append((match.start(), Example(match[0].rstrip("\n"), task, codes(match["answer"])[0])))
    return [example for _, example in sorted(found, key=lambda pair: pair[0])]


def line(item: Failure) -> str:
    """A failure as a worked example: on one line, or as a quotation when the task has several."""
    if len(item.input.splitlines()) == 1:
        return f"{OPENINGS['example']}{code(item.input)} → {code(item.answer)}"
    quoted = "\n".join(f"  > {row}".rstrip() for row in item.input.splitlines())
    return f"{OPENINGS['example']}{code(item.answer)} is right for\n{quoted}"


def propose(items: Sequence[Failure], skill: str) -> Iterator[Proposal]:
    """Examples, one an edit, from the kinds of task that fail most; in a full skill each replaces one that failed to help."""
    old = shown(skill)
    known = {example.task for example in old}
    usable = [item for item in items if item.input not in known and len(item.input) <= LONGEST and _readable(item)]
    idle = [example for example in old if _idle(example, items)]
    spare = idle + [example for example in old if example not in idle] if len(old) >= ENOUGH else idle
    for item, place in zip_longest(_round(usable, items, Counter(example.answer for example in old)), spare):
        if item is None:
            break
        reason = f"Answered {item.predicted!r} where {item.answer!r} is right."
        if place is not None:
            reason += f" The example of {place.task!r} has not helped with tasks like it."
        title = f"Work an example of {item.type or item.answer}"
        yield Proposal(
            "replace" if place else "append", line(item), title, reason, (item.id,), place.text if place else ""
        )


def forget(items: Sequence[Failure], skill: str) -> Iterator[Proposal]:
    """Deletes of examples whose answer is repeated where it is wrong and is right nowhere."""
    wanted = {item.answer for item in items}
    repeated: dict[str, list[Failure]] = defaultdict(list)
    for item in items:
        repeated[item.predicted].append(item)
    for example in shown(skill):
        misled = repeated[example.answer]
        if example.answer not in wanted and len(misled) >= 2:
            reason = f"{len(misled)} failures repeat the answer of this example."
            yield Proposal("delete", "", "Forget an example that is parroted", reason, ids(misled), example.text)


def _readable(item: Failure) -> bool:
    """Whether the lines can be found again in the skill; odd backticks or line breaks would hide them."""
    text = "\n".join(line(item).splitlines())
    return [(example.task, example.answer) for example in shown(text)] == [(item.input, item.answer)]


def _idle(example: Example, items: Sequence[Failure]) -> bool:
    """Whether two tasks of the very outline of the example failed in spite of it."""
    return sum(outline(item.input) == outline(example.task) for item in items) >= 2


def _round(usable: Sequence[Failure], items: Sequence[Failure], taught: Mapping[str, int]) -> list[Failure]:
    """One of each kind of task in turn: kinds whose answer has few examples first, then those that fail most.

    The kind is the type; without types the answer, if answers repeat; else the outline of the task.
    """
    types = {item.type for item in items}
    repeated = len({item.answer for item in items}) <= len(items) / 2

    def kind(item: Failure) -> object:
        return item.type if len(types) > 1 else item.answer if repeated else outline(item.input)

    frequent = Counter(map(kind, items))
    groups: dict[object, list[Failure]] = defaultdict(list)
    for item in usable:
        groups[kind(item)].append(item)
    ordered = sorted(groups.values(), key=lambda group: (taught.get(group[0].answer, 0), -frequent[kind(group[0])]))
    return [item for item in chain.from_iterable(zip_longest(*ordered)) if item is not None]
