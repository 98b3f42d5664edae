from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from skillgit.models.induction import examples
from skillgit.models.induction.examples import ENOUGH, LONGEST, Example
from skillgit.models.induction.lesson import Failure

SKILL = "# Dates\n\nRewrite the date.\n"


def failure(task: str, answer: str, type_: str = "", predicted: str = "") -> Failure:
    return Failure(f"id of {task}", task, answer, type_, predicted)


def told(items: list[Failure], skill: str = SKILL) -> list[tuple[str, str, str]]:
    return [(p.op, p.content, p.target) for p in examples.propose(items, skill)]


def test_an_example_is_one_line_or_a_quotation() -> None:
    assert examples.line(failure("3 May", "05-03")) == "- Example: `3 May` → `05-03`"
    assert examples.line(failure("the `x` flag", "fix")) == "- Example: `` the `x` flag `` → `fix`"
    block = "- Example: `docs` is right for\n  > a change\n  >\n  > README.md"
    assert examples.line(failure("a change\n\nREADME.md", "docs")) == block


def test_examples_are_found_again_in_order() -> None:
    items = [failure("a\nb", "x"), failure("3 May", "05-03"), failure("c\n\nd", "y")]
    skill = SKILL + "\n" + "\n".join(examples.line(item) for item in items) + "\n\nMore text.\n"
    assert [(e.task, e.answer) for e in examples.shown(skill)] == [("a\nb", "x"), ("3 May", "05-03"), ("c\n\nd", "y")]
    assert all(skill.count(e.text) == 1 for e in examples.shown(skill))


@given(st.text(max_size=30), st.text(max_size=10))
@example("a` → `b", "c")
@example("a\r\nb", "c")
@example("> a\n\n", "c`d")
def test_an_example_that_is_proposed_can_be_found_again(task: str, answer: str) -> None:
    for _, content, _ in told([failure(task.strip(), answer.strip())]):
        assert examples.shown(f"{SKILL}\n{content}\n") == [Example(content, task.strip(), answer.strip())]


def test_kinds_that_fail_most_come_first_and_in_turn() -> None:
    items = [failure("a", "1", "rare"), failure("b", "2", "often"), failure("c", "3", "often")]
    assert [content.split("`")[1] for _, content, _ in told(items)] == ["b", "a", "c"]


def test_without_types_the_answer_is_the_kind() -> None:
    items = [failure(task, answer) for task, answer in zip("abcdef", "xyyyxy", strict=True)]
    assert [content.split("`")[1] for _, content, _ in told(items)] == ["b", "a", "c", "e", "d", "f"]


def test_what_the_skill_shows_or_cannot_show_is_left_out() -> None:
    known = failure("3 May", "05-03")
    items = [known, failure("x" * (LONGEST + 1), "1"), failure("a", "line\nbreak"), failure("June 4", "06-04")]
    assert told(items, f"{SKILL}\n{examples.line(known)}\n") == [("append", "- Example: `June 4` → `06-04`", "")]


def test_lines_that_people_wrote_are_passed_over() -> None:
    assert examples.shown("- Example: `` → `0`\n- Example: see above\n- Example: `a` → `b` or so\n") == []


def test_an_example_that_does_not_help_gives_up_its_place() -> None:
    idle, fine = examples.line(failure("3 May", "05-03")), examples.line(failure("May 3", "05-03"))
    skill = f"{SKILL}\n{idle}\n{fine}\n"
    items = [failure("4 June", "06-04"), failure("5 July", "07-05")]
    assert told(items, skill) == [
        ("replace", "- Example: `4 June` → `06-04`", idle),
        ("append", "- Example: `5 July` → `07-05`", ""),
    ]
    assert told(items[:1], skill)[0][0] == "append"  # one failure may have another reason


def test_a_full_skill_grows_no_further() -> None:
    lines = [examples.line(failure(f"{'x' * n} {n}", "1")) for n in range(1, ENOUGH + 1)]
    skill = f"{SKILL}\n" + "\n".join(lines) + "\n"
    assert told([failure("new", "2")], skill) == [("replace", "- Example: `new` → `2`", lines[0])]


def test_an_example_that_is_parroted_is_forgotten() -> None:
    line = examples.line(failure("3 May", "05-03"))
    skill = f"{SKILL}\n{line}\n"
    wrong = [failure("4 June", "06-04", predicted="05-03"), failure("5 July", "07-05", predicted="05-03")]
    (proposal,) = examples.forget(wrong, skill)
    assert (proposal.op, proposal.target, proposal.content) == ("delete", line, "")
    assert list(examples.forget(wrong[:1], skill)) == []
    assert list(examples.forget([*wrong, failure("May 3", "05-03", predicted="?")], skill)) == []
