from __future__ import annotations

from skillgit.models.induction import words
from skillgit.models.induction.lesson import Failure

LINE = "- These words point to "
COMMITS = [
    ("mention the guide in README.md", "docs"),
    ("mention one site in README.md", "docs"),
    ("mention us in README.md", "docs"),
    ("add buttons", "feat"),
    ("add an option", "feat"),
    ("add speed", "feat"),
    ("handle empty lists", "fix"),
    ("handle broken links", "fix"),
    ("handle this", "fix"),
    ("bump it", "chore"),
    ("bump all", "chore"),
    ("bump one", "chore"),
]


def items(*pairs: tuple[str, str], predicted: str = "") -> list[Failure]:
    return [Failure(f"t{n}", task, answer, "", predicted) for n, (task, answer) in enumerate(pairs)]


def test_words_of_a_task() -> None:
    assert words.words("Fix docs/read_me.md in 3 a-b") == {"fix", "docs", "read_me", ".md", "in"}


def test_the_closed_set() -> None:
    assert words.values(items(*COMMITS), "") == ("chore", "docs", "feat", "fix")
    assert words.values(items(("a", "x"), ("b", "y"), ("c", "x")), "") == ()  # one repeat may be chance
    assert words.values(items(*[(str(n), str(n % 2)) for n in range(9)]), "") == ()  # numbers are counted, not chosen
    many = items(*[(str(n), chr(97 + n // 2) * 3) for n in range(26)])
    assert words.values(many, "") == ()


EXAMPLES = "".join(f"- Example: `{task}` → `{answer}`\n" for task, answer in COMMITS[::3])


def test_the_set_is_named_when_examples_were_not_enough() -> None:
    outside, inside = items(*COMMITS, predicted="chat"), items(*COMMITS, predicted="feat")
    (line,) = words.choice(outside, EXAMPLES)
    assert line.content == "- Answer with exactly one of: `chore`, `docs`, `feat`, `fix`."
    assert list(words.choice(inside, EXAMPLES)) == []
    assert list(words.choice(outside, "".join(EXAMPLES.splitlines(True)[:2]))) == []
    assert list(words.choice(outside, "Docs, or chore, docs, feat and fix.\n" + EXAMPLES)) == []


def test_the_set_grows() -> None:
    old = "- Answer with exactly one of: `chore`, `docs`, `feat`, `fix`."
    skill = f"{EXAMPLES}- Example: `d` → `docs`\n{old}\n"
    assert list(words.choice(items(*COMMITS[:3], predicted="chat"), skill)) == []
    (wider,) = words.choice(items(("run it", "ci"), predicted="chat"), skill)
    assert (wider.op, wider.target) == ("replace", old)
    assert wider.content == "- Answer with exactly one of: `chore`, `ci`, `docs`, `feat`, `fix`."


def test_clues_are_ranked_by_precision_then_support() -> None:
    pairs = (
        [("alpha beta", "x")] * 4
        + [("alpha gamma", "x"), ("alpha delta", "y")]
        + [("delta", "y")] * 3
        + [("eta", "z")] * 3
    )
    found = [(clue.word, clue.value, round(clue.precision, 2), clue.support) for clue in words.clues(items(*pairs))]
    assert found == [("beta", "x", 1.0, 4), ("delta", "y", 1.0, 4), ("eta", "z", 1.0, 3), ("alpha", "x", 0.83, 5)]


def test_what_may_be_chance_is_no_clue() -> None:
    """'same' stands in two tasks of x by chance, for two thirds of all tasks are x."""
    pairs = [("same one", "x"), ("same two", "x"), ("three", "x"), ("four", "x"), ("five", "y"), ("six", "y")]
    assert words.clues(items(*pairs)) == []


def test_a_line_a_value() -> None:
    lines = [proposal.content for proposal in words.propose(items(*COMMITS), "")]
    assert lines == [
        f"{LINE}`docs`: `.md`, `in`, `mention`, `readme`.",
        f"{LINE}`feat`: `add`.",
        f"{LINE}`chore`: `bump`.",
        f"{LINE}`fix`: `handle`.",
    ]


def test_new_words_join_the_old_line() -> None:
    old = f"{LINE}`feat`: `support`."
    (feat,) = [proposal for proposal in words.propose(items(*COMMITS), old) if "`feat`" in proposal.content]
    assert (feat.op, feat.target, feat.content) == ("replace", old, f"{LINE}`feat`: `support`, `add`.")


def test_words_that_misled_go() -> None:
    failures = items(
        ("tests for parsing", "fix"), ("tests and more", "fix"), ("x", "docs"), ("y", "docs"), predicted="test"
    )
    both = f"{LINE}`test`: `tests`, `spec`."
    (kept,) = [p for p in words.propose(failures, both) if p.target == both]
    assert (kept.op, kept.content) == ("replace", f"{LINE}`test`: `spec`.")
    only = f"{LINE}`test`: `tests`."
    (gone,) = [p for p in words.propose(failures, only) if p.target == only]
    assert (gone.op, gone.content) == ("delete", "")


def test_open_answers_have_no_clues() -> None:
    assert list(words.propose(items(*[(f"task {n}", f"answer {n}") for n in range(9)]), "")) == []
