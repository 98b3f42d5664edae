"""The form of the answers: what each part looks like, where it comes from in the task, how long it is. Pure.

Answers with the same outline (numbers, words and marks in the same order) are one class. A part is described by the
most exact of its descriptions that is true of every item of the class: a number that happens to stand in one task is
no evidence that numbers are copied. A line that a later item contradicts is corrected to something less exact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from skillgit.models.induction.lesson import OPENINGS, Failure, Proposal, code, codes, lines, outline, runs, write

FEWEST = 3  # items before anything is said about a class
FEWEST_FOR_SOURCE = 4  # items before a part is said to come from the task
MOST_PARTS = 12
MOST_FORMS = 2
MOST_WORDS = 8
CASES = (("small", str.islower), ("capital", str.isupper))


def propose(items: Sequence[Failure], skill: str) -> Iterator[Proposal]:
    """Lines on the form of the answers that the skill does not have yet, the most general lesson first."""
    classes = _classes(items)
    known = {outline(codes(line)[0]): line for line in lines(skill, "form") if codes(line)}
    for shape, group in classes:
        if (proposal := _form(group, known.get(shape, ""), len(items))) is not None:
            yield proposal
    copied = len(items) >= FEWEST_FOR_SOURCE and all(item.answer in item.input for item in items)
    if copied and not classes and not any(lines(skill, "copy")):
        line = f"{OPENINGS['copy']}, letter for letter."
        reason = f"All {len(items)} expected answers stand in their tasks."
        yield write(line, over="", title="Copy the answer", reasoning=reason, from_=items)


def _classes(items: Sequence[Failure]) -> list[tuple[tuple[str, ...], list[Failure]]]:
    """The classes with enough items, the largest first; none when most answers are in no class, as free text is."""
    groups: dict[tuple[str, ...], list[Failure]] = defaultdict(list)
    for item in items:
        groups[outline(item.answer)].append(item)
    telling = [(shape, group) for shape, group in groups.items() if _tells(shape, group)]
    telling = sorted(telling, key=lambda pair: -len(pair[1]))[:MOST_FORMS]
    return telling if 2 * sum(len(group) for _, group in telling) > len(items) else []


def _tells(shape: tuple[str, ...], group: Sequence[Failure]) -> bool:
    """Whether the form says something: a number, a mark or capitals do, words as such do not."""
    marked = any(part not in ("a", " ") for part in shape) or all(item.answer.isupper() for item in group)
    several = len(group) >= FEWEST and len({item.answer for item in group}) > 1
    one_line = all(len(item.answer.splitlines()) == 1 for item in group)
    return marked and several and one_line and len(shape) <= MOST_PARTS


def _form(group: Sequence[Failure], old: str, total: int) -> Proposal | None:
    ladders = _ladders(group)
    told = old.removesuffix(".").split(": ", 1)[-1].split(", ") if old else []
    if len(told) == len(ladders):
        if all(part in ladder for part, ladder in zip(told, ladders, strict=True)):
            return None
        parts = [_corrected(part, ladder) for part, ladder in zip(told, ladders, strict=True)]
        sample, title = codes(old)[0], "Correct the form of the answers"
    else:
        parts, sample, title = [ladder[0] for ladder in ladders], group[0].answer, "Say which form the answers have"
    line = f"{OPENINGS['form']}{code(sample)}: {', '.join(parts)}."
    reason = f"The expected answers of {len(group)} of {total} failures have this form."
    return write(line, over=old, title=title, reasoning=reason, from_=group)


def _corrected(part: str, ladder: Sequence[str]) -> str:
    """The part if it is true, else without where it comes from, else what is always true."""
    return next((text for text in (part, part.split(" (")[0]) if text in ladder), ladder[-1])


def _ladders(group: Sequence[Failure]) -> list[list[str]]:
    """For each part of the answers its true descriptions, from the most exact to one that is always true."""
    tasks = [runs(item.input.casefold()) for item in group]
    return [_ladder(column, tasks) for column in zip(*(runs(item.answer) for item in group), strict=True)]


def _ladder(values: Sequence[str], tasks: Sequence[Sequence[str]]) -> list[str]:
    first, constant = values[0], len(set(values)) == 1
    if first.isspace():
        return ["a space"]
    if not first.isdecimal() and not first.isalpha():
        return [code(first)]
    width = len(first) if len({len(value) for value in values}) == 1 else 0
    number = first.isdecimal()
    sizes = _number_sizes(width) if number else _word_sizes(values, width)
    if constant:
        return [code(first), *sizes]
    if len(values) < FEWEST_FOR_SOURCE:
        return sizes
    sources = (_number_sources if number else _word_sources)([value.casefold() for value in values], tasks, width)
    return [*(f"{sizes[0]} ({source})" for source in sources), *sizes]


def _number_sizes(width: int) -> list[str]:
    return [f"{width} digit{'s' * (width > 1)}", "a number"] if width else ["a number"]


def _word_sizes(values: Sequence[str], width: int) -> list[str]:
    case = next((name for name, is_it in CASES if all(is_it(value) for value in values)), "")
    sizes = [" ".join(filter(None, (str(width), case, "letter" + "s" * (width > 1))))] if width else []
    return [*sizes, f"a word in {case} letters", "a word"] if case else [*sizes, "a word"]


def _number_sources(values: Sequence[str], tasks: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    pairs = [(value, [run for run in task if run.isdecimal()]) for value, task in zip(values, tasks, strict=True)]
    if all(value in numbers for value, numbers in pairs):
        yield "a number of the task"
    if width and all(value.lstrip("0") in {run.lstrip("0") for run in numbers} for value, numbers in pairs):
        yield "a number of the task with zeros in front"
    if width and all(any(run.endswith(value) for run in numbers) for value, numbers in pairs):
        yield "the end of a number of the task"


def _word_sources(values: Sequence[str], tasks: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    pairs = list(zip(values, tasks, strict=True))
    if all(value in task for value, task in pairs):
        yield "a word of the task"
    if width > 1 and all(any(run.startswith(value) for run in task) for value, task in pairs):
        yield "the beginning of a word of the task"


def alone(items: Sequence[Failure], skill: str) -> Iterator[Proposal]:
    """The answer and no more, when targets wrap the right answer in other words."""
    wrapped = [item for item in items if item.answer != item.predicted and item.answer in item.predicted]
    longest = max((len(item.answer.split()) for item in items), default=0)
    old = next(lines(skill, "bare"), "")
    said = bool(old) and any(number.isdecimal() and int(number) >= longest for number in old.split())
    if not said and len(wrapped) >= 2 and 2 * len(wrapped) >= len(items) and longest <= MOST_WORDS:
        line = f"{OPENINGS['bare']}{longest} word{'s' * (longest > 1)} at most: nothing before it, nothing after it."
        reason = f"{len(wrapped)} of {len(items)} failures hold the right answer among other words."
        yield write(line, over=old, title="Give the answer alone", reasoning=reason, from_=wrapped)
