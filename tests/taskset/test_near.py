from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from skillgit.taskset.near import FEWEST, RUN, SHARED, WORD, near_pairs

STORY = "A farmer near the river keeps eleven grey geese and sells three of them at the market on Friday. How many are left?"


def test_a_changed_word_is_near_and_another_question_is_not() -> None:
    texts = [
        STORY,
        STORY.replace("left?", "left now?"),
        "Name the capital of the country that lies north of the lake, please.",
    ]
    [(one, other, share)] = near_pairs(texts, ["train", "test", "test"])
    assert (one, other) == (0, 1) and 0.8 <= share < 1
    assert near_pairs(texts, ["train", "train", "test"]) == []


def test_a_common_template_makes_no_two_tasks_near() -> None:
    texts = [f"Please work out with great care what the sum of {n} and {n * 7} is, and say it." for n in range(60)]
    assert near_pairs(texts, ["train" if n % 2 else "test" for n in range(60)]) == []


def test_short_texts_are_never_near() -> None:
    assert near_pairs(["8 July 1950", "8 July 1950"], ["train", "test"]) == []


def brute(texts: list[str], groups: list[str], least: float) -> set[tuple[int, int]]:
    words = [WORD.findall(text.casefold()) for text in texts]
    runs = [{tuple(own[i : i + RUN]) for i in range(len(own) - RUN + 1)} for own in words]
    counts = Counter(run for own in runs for run in own)
    kept = [{run for run in own if counts[run] <= max(2, SHARED * len(texts))} for own in runs]
    return {
        (i, j)
        for j in range(len(texts))
        for i in range(j)
        if groups[i] != groups[j]
        and min(len(kept[i]), len(kept[j])) >= FEWEST
        and len(kept[i] & kept[j]) / len(kept[i] | kept[j]) >= least
    }


@given(
    st.lists(st.tuples(st.lists(st.sampled_from("abc"), min_size=8, max_size=14), st.sampled_from("xy")), max_size=14),
    st.sampled_from([0.3, 0.5, 0.8, 1.0]),
)
def test_no_pair_is_missed_and_none_is_made_up(rows: list[tuple[list[str], str]], least: float) -> None:
    texts, groups = [" ".join(words) for words, _ in rows], [group for _, group in rows]
    assert {(i, j) for i, j, _ in near_pairs(texts, groups, least)} == brute(texts, groups, least)
