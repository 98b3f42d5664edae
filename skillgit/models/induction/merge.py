"""Edits of several minibatches into one list, and the order in which edits are worth their place. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from skillgit.models.induction.lesson import OPENINGS, Kind, code, codes, kind_of, outline

Edit = Mapping[str, Any]
FIRST: tuple[Kind, ...] = ("form", "choice", "copy", "bare")


def merge(edits: Sequence[Edit]) -> list[dict[str, Any]]:
    """The edits without repeats, each with ``sources``: the indices of the edits that it stands for.

    Lines on the same thing become one: the union of values, the union of words without those that point two ways, the
    parts of a form that all agree on. Of two edits in one place the second is added at the end instead.
    """
    groups: dict[object, list[int]] = defaultdict(list)
    for index, edit in enumerate(edits):
        groups[_subject(edit)].append(index)
    contested = _contested(edits)
    taken: set[str] = set()
    merged = []
    for indices in groups.values():
        content = _joined([edits[index] for index in indices], contested)
        if content is None:
            continue
        edit = {**edits[indices[0]], "content": content, "sources": indices}
        if edit.get("target") and edit["target"] in taken:
            if edit["op"] == "delete":
                continue
            edit |= {"op": "append", "target": ""}
        taken.add(edit.get("target") or "")
        merged.append(edit)
    return merged


def ranking(edits: Sequence[Edit]) -> list[int]:
    """All indices, best first: what holds for every answer, then deletes, examples and words, the best backed first.

    Three examples come to one line of words, for small models learn more from examples than from rules.
    """
    queues: dict[str, list[int]] = defaultdict(list)
    for index in sorted(range(len(edits)), key=lambda i: -int(edits[i].get("support") or 1)):
        queues[_queue(edits[index])].append(index)
    places = {index: 3.0 * number for number, index in enumerate(queues["delete"])}
    places |= {index: number + 0.5 for number, index in enumerate(queues["example"])}
    places |= {index: 3 * number + 2.75 for number, index in enumerate(queues["words"])}
    places |= {index: FIRST.index(kind_of(edits[index]) or "form") - len(FIRST) for index in queues["first"]}
    return sorted(places, key=lambda index: places[index])


def _queue(edit: Edit) -> str:
    if edit.get("op") == "delete":
        return "delete"
    kind = kind_of(edit)
    return "first" if kind in FIRST else "words" if kind == "words" else "example"


def _subject(edit: Edit) -> object:
    kind, content = kind_of(edit), str(edit.get("content") or "")
    if edit.get("op") == "delete" or kind in (None, "example"):
        return edit.get("op"), edit.get("target") or "", content
    if kind in ("words", "form"):
        return kind, codes(content)[0] if kind == "words" else outline(codes(content)[0])
    return kind


def _contested(edits: Sequence[Edit]) -> set[str]:
    """Words that point to more than one value."""
    pointed: dict[str, set[str]] = defaultdict(set)
    for edit in edits:
        if kind_of(edit) == "words" and edit.get("op") != "delete":
            value, *found = codes(edit["content"])
            for word in found:
                pointed[word].add(value)
    return {word for word, values in pointed.items() if len(values) > 1}


def _joined(edits: Sequence[Edit], contested: set[str]) -> str | None:
    """One content for edits on the same subject; None when nothing is left of it."""
    first, kind = str(edits[0].get("content") or ""), kind_of(edits[0])
    if edits[0].get("op") == "delete":
        return first
    found = [codes(edit["content"]) for edit in edits]
    if kind == "words":
        votes = Counter(word for row in found for word in row[1:] if word not in contested)
        value, kept = found[0][0], list(votes)
        return f"{OPENINGS['words']}{code(value)}: {', '.join(map(code, kept))}." if kept else None
    if kind == "choice":
        return f"{OPENINGS['choice']}{', '.join(map(code, sorted(set(chain.from_iterable(found)))))}."
    if kind == "bare":
        return str(max((edit["content"] for edit in edits), key=lambda text: int(re.findall(r"\d+", text)[0])))
    if kind == "form":
        return _common_form([edit["content"] for edit in edits])
    return first


def _common_form(contents: Sequence[str]) -> str:
    opening, _ = contents[0].split(": ", 1)
    told = [content.removesuffix(".").split(": ", 1)[-1].split(", ") for content in contents]
    if len({len(parts) for parts in told}) > 1:
        return contents[0]
    return f"{opening}: {', '.join(map(_common_part, zip(*told, strict=True)))}."


def _common_part(parts: Sequence[str]) -> str:
    for candidate in _ways(parts):
        if len(set(candidate)) == 1:
            return candidate[0]
    return "a number" if any("digit" in part or "number" in part for part in parts) else "a word"


def _ways(parts: Sequence[str]) -> Iterator[list[str]]:
    """As they are, then without where they come from."""
    yield list(parts)
    yield [part.split(" (")[0] for part in parts]
