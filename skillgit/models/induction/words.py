"""Answers out of a small closed set: which values there are, and which words of a task point to one of them. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillgit.models.induction.examples import shown
from skillgit.models.induction.lesson import OPENINGS, Failure, Proposal, code, codes, ids, lines, write

MOST_VALUES = 12
FEWEST_REPEATS = 2  # failures whose expected answer is another failure's too
MOST_WORDS = 4  # for one value
LEAST_PRECISION = 0.8
LEAST_SUPPORT = 2
MOST_CHANCE = 0.3  # words that would pass by accident, of all that stand in enough tasks
OUTSIDE = 0.25  # share of failures that answer outside the set although the skill shows examples
LESSONS = (OPENINGS["example"], OPENINGS["words"], "  >")
WORD = re.compile(r"\.?[^\W\d_]{2,}(?:[-_][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Clue:
    """A word that points to ``value``: its precision over all failures with the word, and their number with the value."""

    word: str
    value: str
    precision: float
    support: int
    tasks: tuple[str, ...]


def values(items: Sequence[Failure], skill: str) -> tuple[str, ...]:
    """The closed set of answers as far as it is known, in alphabetical order; empty if the answers are open."""
    told = {value for line in lines(skill, "choice") for value in codes(line)}
    seen = {item.answer for item in items}
    closed = len(items) - len(seen) >= FEWEST_REPEATS and not all(value.isdecimal() for value in seen)
    short = all(len(value.split()) <= 3 and len(value.splitlines()) == 1 for value in seen)
    known = told | seen if told or (closed and short) else set()
    return tuple(sorted(known)) if len(known) <= MOST_VALUES else ()


def choice(items: Sequence[Failure], skill: str) -> Iterator[Proposal]:
    """The line that names the closed set, when examples alone did not keep the target inside it.

    Small models answer worse with the bare list than with examples alone, so the list has to wait for them.
    """
    known = values(items, skill)
    outside = sum(item.predicted not in known for item in items)
    if not known or len(shown(skill)) < len(known) or outside < OUTSIDE * len(items):
        return
    prose = "\n".join(line for line in skill.splitlines() if not line.startswith(LESSONS))
    if not all(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", prose) for value in known):
        line = f"{OPENINGS['choice']}{', '.join(map(code, known))}."
        reason = f"{outside} of {len(items)} failures answer something else, and the skill does not name every answer."
        yield write(
            line, over=next(lines(skill, "choice"), ""), title="Name the answers", reasoning=reason, from_=items
        )


def propose(items: Sequence[Failure], skill: str) -> Iterator[Proposal]:
    """A line a value with the words that point to it, the surest value first; words that misled are taken out."""
    if not values(items, skill):
        return
    told = {codes(line)[0]: line for line in lines(skill, "words") if len(codes(line)) > 1}
    found: dict[str, list[Clue]] = defaultdict(list)
    for clue in clues(items):
        found[clue.value].append(clue)
    misled = _misled(items, told)
    for value in [*found, *(value for value in misled if value not in found)]:
        old = told.get(value, "")
        before = codes(old)[1:]
        kept = [word for word in before if word not in misled[value]]
        new = [clue for clue in found[value] if clue.word not in kept][: max(0, MOST_WORDS - len(kept))]
        chosen = [*kept, *(clue.word for clue in new)]
        if chosen == before:
            continue
        reason = _reason(new, misled[value], value)
        if not chosen:
            yield Proposal("delete", "", f"Forget the words for {value}", reason, ids(items), old)
            continue
        line = f"{OPENINGS['words']}{code(value)}: {', '.join(map(code, chosen))}."
        shown = {task for clue in new for task in clue.tasks} or set(ids(items))
        sample = [item for item in items if item.id in shown]
        yield write(line, over=old, title=f"Words that point to {value}", reasoning=reason, from_=sample)


def clues(items: Sequence[Failure]) -> list[Clue]:
    """The words that point to one expected answer, the most precise first, then the best supported."""
    share = {value: count / len(items) for value, count in Counter(item.answer for item in items).items()}
    holders: dict[str, list[Failure]] = defaultdict(list)
    for item in items:
        for word in sorted(words(item.input)):
            holders[word].append(item)
    candidates = sum(len(holding) >= LEAST_SUPPORT for holding in holders.values())
    found = []
    for word, holding in holders.items():
        value, support = Counter(item.answer for item in holding).most_common(1)[0]
        precision = support / len(holding)
        sure = precision >= LEAST_PRECISION and support >= LEAST_SUPPORT
        if sure and share[value] ** support * candidates <= MOST_CHANCE:
            found.append(Clue(word, value, precision, support, ids(i for i in holding if i.answer == value)))
    return sorted(found, key=lambda clue: (-clue.precision, -clue.support, clue.word))


def words(text: str) -> set[str]:
    """The words of a task in small letters; the ending of a file name is one, with its dot."""
    return set(WORD.findall(text.casefold()))


def _misled(items: Sequence[Failure], told: Mapping[str, str]) -> Mapping[str, set[str]]:
    """For each value the told words that stood in tasks where this value was answered and another one was right."""
    misled: dict[str, set[str]] = defaultdict(set)
    for item in items:
        if item.predicted in told and item.predicted != item.answer:
            misled[item.predicted] |= set(codes(told[item.predicted])[1:]) & words(item.input)
    return misled


def _reason(new: Sequence[Clue], misled: set[str], value: str) -> str:
    parts = [f"{clue.word}: {clue.support} failures, {clue.precision:.0%} of them {value}" for clue in new]
    parts += [f"{word} misled" for word in sorted(misled)]
    return "; ".join(parts)
