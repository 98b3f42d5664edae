from __future__ import annotations

from skillgit.models.induction import forms
from skillgit.models.induction.lesson import Failure

DATES = [("3 March 1998", "1998:mar:03"), ("12 July 1951", "1951:jul:12"), ("9 May 1940", "1940:may:09")]
DATES += [("30 June 1966", "1966:jun:30")]
FORM = "- Write the answer in the form of "


def items(*pairs: tuple[str, str], predicted: str = "") -> list[Failure]:
    return [Failure(f"t{n}", task, answer, "", predicted) for n, (task, answer) in enumerate(pairs)]


def told(*pairs: tuple[str, str], skill: str = "") -> list[str]:
    return [proposal.content for proposal in forms.propose(items(*pairs), skill)]


def test_every_part_gets_its_most_exact_description() -> None:
    parts = [
        "4 digits (a number of the task), `:`, 3 small letters (the beginning of a word of the task), `:`",
        "2 digits (a number of the task with zeros in front)",
    ]
    assert told(*DATES) == [f"{FORM}`1998:mar:03`: {', '.join(parts)}."]


def test_three_items_are_too_few_to_say_where_a_part_comes_from() -> None:
    assert told(*DATES[:3]) == [f"{FORM}`1998:mar:03`: 4 digits, `:`, 3 small letters, `:`, 2 digits."]


def test_two_items_are_too_few_for_a_form() -> None:
    assert told(*DATES[:2]) == []


def test_an_accidental_number_is_no_source() -> None:
    """The first three tasks hold the answer's number by chance, the fourth does not."""
    pairs = [("3 boxes", "A-3"), ("7 bags", "B-7"), ("1 tin", "C-1"), ("2 jars", "D-5")]
    assert told(*pairs) == [f"{FORM}`A-3`: 1 capital letter, `-`, 1 digit."]


def test_constant_parts_and_gaps() -> None:
    pairs = [("2 t of sand", "2000 kg"), ("5 t of hay", "5000 kg"), ("40 t of oil", "40000 kg")]
    assert told(*pairs) == [f"{FORM}`2000 kg`: a number, a space, `kg`."]


def test_the_end_of_a_number() -> None:
    pairs = [("made in 1998", "y98"), ("made in 1951", "y51"), ("made in 2012", "y12"), ("made in 1940", "y40")]
    assert told(*pairs) == [f"{FORM}`y98`: `y`, 2 digits (the end of a number of the task)."]


def test_capitals_are_a_form_and_words_are_none() -> None:
    tasks = ["ask oslo", "ask rome", "ask bonn", "ask bern"]
    assert told(*((t, t.split()[1].upper()) for t in tasks)) == [
        f"{FORM}`OSLO`: 4 capital letters (a word of the task)."
    ]
    assert told(("x", "the big house"), ("y", "a small dog"), ("z", "one red fox"), ("u", "two old men")) == []


def test_answers_of_many_forms_have_none() -> None:
    pairs = [
        ("a", "1-2"),
        ("b", "1:2"),
        ("c", "x"),
        ("d", "3 4 5"),
        ("e", "f.g"),
        ("g", "4-5"),
        ("h", "6-7"),
        ("i", "y?"),
    ]
    assert told(*pairs) == []


def test_two_classes_get_a_line_each_the_larger_first() -> None:
    pairs = [("a", "x-1"), ("b", "x-2"), ("c", "x-3"), *DATES]
    assert [line.split("`")[1] for line in told(*pairs)] == ["1998:mar:03", "x-1"]


def test_a_form_that_the_skill_has_is_not_told_again() -> None:
    (line,) = told(*DATES)
    assert told(*DATES, skill=f"# Dates\n\n{line}\n") == []
    assert told(*DATES[:3], ("1 May 1970", "1970:may:01"), skill=line) == []


def test_a_line_that_is_contradicted_says_less() -> None:
    (line,) = told(*DATES)
    new = items(("Mar 1st '98", "1998:mar:01"), ("Apr 2nd '97", "1997:apr:02"), ("Sep 3rd '96", "1996:sep:03"))
    new += items(("Oct 4th '95", "1995:oct:04"))
    (proposal,) = forms.propose(new, f"# Dates\n\n{line}\n")
    assert (proposal.op, proposal.target) == ("replace", line)
    assert proposal.content == line.replace("4 digits (a number of the task)", "4 digits")


def test_a_part_of_another_size_becomes_any_number() -> None:
    (line,) = told(("a", "x-10"), ("b", "x-20"), ("c", "x-30"))
    (proposal,) = forms.propose(items(("d", "x-100"), ("e", "x-200"), ("f", "x-300")), line)
    assert proposal.content == f"{FORM}`x-10`: `x`, `-`, a number."


def test_copied_answers() -> None:
    pairs = [("who wrote it? Ann Lee did", "Ann Lee"), ("the cat sat", "cat"), ("a red house", "red house")]
    assert told(*pairs, ("one old man", "old")) == ["- Copy the answer from the task, letter for letter."]
    assert told(*pairs, ("one old man", "young")) == []


def test_answers_among_other_words() -> None:
    wrapped = items(("a", "Ann Lee"), ("b", "Ann Lee"), predicted="It was Ann Lee.")
    (proposal,) = forms.alone([*wrapped, *items(("c", "Bob"))], "")
    assert proposal.content == "- Give the answer alone, 2 words at most: nothing before it, nothing after it."
    assert list(forms.alone(wrapped, proposal.content)) == []
    longer = items(("a", "Ann Lee Fox"), ("b", "Ann Lee Fox"), predicted="It was Ann Lee Fox.")
    (again,) = forms.alone(longer, proposal.content)
    assert (again.op, again.target) == ("replace", proposal.content)
    assert list(forms.alone(items(("a", "Ann"), ("b", "Bob"), predicted="Eve"), "")) == []
