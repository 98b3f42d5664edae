from __future__ import annotations

from skillgit.contamination import Copied, copied
from skillgit.splits import Task

STORY = "On Monday the old miller of Greenford sold nine sacks of barley to a travelling cook."
TASKS = (
    Task("a", STORY, "nine"),
    Task("b", "How many sacks did the miller sell?", ["the River Greenford Bridge", "short"]),
    Task("c", "Name the ratio.", "supercalifragilistic"),
)


def spans(after: str, before: str = "", words: int = 6) -> list[tuple[str, str]]:
    return [(one.task_id, one.text) for one in copied(before, after, TASKS, words)]


def test_the_longest_copied_span_of_a_task_is_told() -> None:
    after = "- As the OLD miller of Greenford\n  sold nine sacks, count sacks of barley to a travelling cook."
    assert spans(after) == [("a", "the old miller of greenford sold nine sacks")]
    assert spans(after, words=9) == []


def test_what_stood_in_the_skill_before_is_no_copy() -> None:
    assert spans(f"{STORY}\n- New.", before=STORY) == []


def test_a_whole_answer_may_be_shorter() -> None:
    assert spans("- It is the River Greenford Bridge.") == [("b", "the river greenford bridge")]
    assert spans("- Supercalifragilistic is a word.") == [("c", "supercalifragilistic")]
    assert spans("- Nine is a short word.") == []


def test_an_answer_of_several_tasks_is_a_label_and_no_copy() -> None:
    tasks = [Task(str(n), f"mail {n}", "please forward to accounting") for n in range(2)]
    assert copied("", "- Say: please forward to accounting", tasks, 8) == ()
    assert copied("", "- Say: please forward to accounting", tasks[:1], 8) == (
        Copied("0", "please forward to accounting"),
    )


def test_the_common_wording_of_the_tasks_is_no_copy() -> None:
    """It stands in all of ten tasks; what one task alone goes on with is a copy."""
    common = "read the table below and answer with the right number"
    tasks = [Task(str(n), f"{common} row{n} one{n} two{n}") for n in range(10)]
    assert copied("", f"- {common}", tasks, 5) == ()
    (one,) = copied("", f"- {common} row3 one3 two3", tasks, 5)
    assert one == Copied("3", f"{common} row3 one3 two3")


def test_fields_of_a_task_are_looked_at_too() -> None:
    task = Task("t", "ask", fields={"context": {"page": ["one two three four five six"]}})
    assert copied("", "x one two three four five y", [task], 5) == (Copied("t", "one two three four five"),)
