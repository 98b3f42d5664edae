from __future__ import annotations

from typing import Any

from skillgit.models.induction.merge import merge, ranking

WORDS = "- These words point to "
FORM = "- Write the answer in the form of "


def edit(content: str, op: str = "append", target: str = "", support: int = 1) -> dict[str, Any]:
    return {"op": op, "content": content, "target": target, "support": support, "title": "t", "reasoning": "r"}


def merged(*edits: dict[str, Any]) -> list[tuple[str, str, list[int]]]:
    return [(row["op"], row["content"] or row["target"], row["sources"]) for row in merge(edits)]


def test_repeats_are_dropped() -> None:
    example, other = edit("- Example: `a` → `b`"), edit("- Example: `c` → `d`")
    assert merged(example, other, example) == [
        ("append", example["content"], [0, 2]),
        ("append", other["content"], [1]),
    ]


def test_values_are_joined() -> None:
    choices = [edit("- Answer with exactly one of: `b`, `a`."), edit("- Answer with exactly one of: `c`, `a`.")]
    assert merged(*choices) == [("append", "- Answer with exactly one of: `a`, `b`, `c`.", [0, 1])]


def test_words_are_joined_without_those_that_point_two_ways() -> None:
    edits = [edit(f"{WORDS}`x`: `one`, `both`."), edit(f"{WORDS}`x`: `two`, `one`."), edit(f"{WORDS}`y`: `both`.")]
    assert merged(*edits) == [("append", f"{WORDS}`x`: `one`, `two`.", [0, 1])]


def test_forms_agree_on_what_all_say() -> None:
    edits = [
        edit(f"{FORM}`x-10`: `x`, `-`, 2 digits (a number of the task)."),
        edit(f"{FORM}`x-20`: `x`, `-`, 2 digits."),
        edit(f"{FORM}`y-30`: 1 small letter, `-`, 3 digits."),
    ]
    assert merged(*edits[:2]) == [("append", f"{FORM}`x-10`: `x`, `-`, 2 digits.", [0, 1])]
    assert merged(*edits) == [("append", f"{FORM}`x-10`: a word, `-`, a number.", [0, 1, 2])]
    assert len(merged(edits[0], edit(f"{FORM}`1.2`: 1 digit, `.`, 1 digit."))) == 2


def test_the_longest_answer_counts() -> None:
    line = "- Give the answer alone, {} words at most: nothing before it, nothing after it."
    assert merged(edit(line.format(2)), edit(line.format(11)), edit(line.format(3))) == [
        ("append", line.format(11), [0, 1, 2])
    ]


def test_two_edits_in_one_place() -> None:
    first, second = (edit(f"- Example: `{x}` → `1`", "replace", "- Example: `old` → `0`") for x in "ab")
    delete = edit("", "delete", "- Example: `old` → `0`")
    assert merged(first, second, delete) == [("replace", first["content"], [0]), ("append", second["content"], [1])]


def test_edits_of_others_pass() -> None:
    other = edit("Think first.", "insert_after", "# Title")
    assert merged(other, edit("Think first."), other) == [
        ("insert_after", "Think first.", [0, 2]),
        ("append", "Think first.", [1]),
    ]


def test_ranking() -> None:
    """Three examples to a line of words, deletes early, and within a kind the best backed first."""
    edits = [
        edit("- Example: `a` → `b`"),
        edit("- Example: `c` → `d`", support=2),
        edit("", "delete", "- Example: `e` → `f`"),
        edit(f"{WORDS}`x`: `one`."),
        edit(f"{WORDS}`y`: `two`.", support=3),
        edit("- Answer with exactly one of: `x`, `y`."),
        edit(f"{FORM}`x`: `x`."),
        edit("- Example: `g` → `h`"),
        edit("- Example: `i` → `j`"),
    ]
    assert ranking(edits) == [6, 5, 2, 1, 0, 7, 4, 8, 3]
