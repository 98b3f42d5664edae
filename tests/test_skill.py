"""Edits: where they go, how they end, and what they leave alone."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import SkillError
from skillgit.lines import unix
from skillgit.skill import APPLIED, STATUSES, Edit, apply_edits, body, check_document, frontmatter, regions
from tests.documents import APPENDIX, FRONTMATTER, SLOW, documents, edits

BODY = "# Sums\n\n- Read the question.\n- Answer with a number.\n"
SKILL = f"{FRONTMATTER}{BODY}\n{SLOW}"


def after(text: str, op: str, target: str = "", content: str = "", **options: Any) -> str:
    """The text after one edit, which must be applied."""
    applied = apply_edits(text, [Edit(op, content, target, **options)])  # type: ignore[arg-type]
    assert applied.reports[0].status == "applied", applied.reports[0]
    return applied.text


def status(text: str, op: str, target: str = "", content: str = "", **options: Any) -> str:
    """How one edit ends, which must not be applied."""
    applied = apply_edits(text, [Edit(op, content, target)], **options)  # type: ignore[arg-type]
    assert applied.text == text and applied.texts == ()
    assert applied.reports[0].detail
    return applied.reports[0].status


@pytest.mark.parametrize(
    ("text", "content", "expected"),
    [
        (BODY, "- Check it.", f"{BODY}- Check it.\n"),
        (BODY, "1. Check it.\n", f"{BODY}1. Check it.\n"),
        (BODY, "Check it.", f"{BODY}\nCheck it.\n"),
        (BODY, "\n\n  - Check it.\n\n", f"{BODY}  - Check it.\n"),
        (BODY + "\n\n", "## More\n\ntext", f"{BODY}\n## More\n\ntext\n\n\n"),
        (SKILL, "- Check it.", f"{FRONTMATTER}{BODY}- Check it.\n\n{SLOW}"),
        (BODY + SLOW, "Check it.", f"{BODY}\nCheck it.\n{SLOW}"),
        (f"{BODY}\n{APPENDIX}\n{SLOW}tail\n", "- c", f"{BODY}- c\n\n{APPENDIX}\n{SLOW}tail\n"),
        (f"{SLOW}\n{BODY}", "- c", f"{SLOW}\n{BODY}- c\n"),
        (f"{FRONTMATTER}\n{SLOW}", "- c", f"{FRONTMATTER}\n- c\n\n{SLOW}"),
        (FRONTMATTER.rstrip(), "- c", f"{FRONTMATTER}\n- c"),
        ("# T", "- c", "# T\n\n- c"),
        ("- a", "- c\n", "- a\n- c"),
        ("", "- c", "- c\n"),
        ("\ufeff", "- c", "\ufeff- c\n"),
        ("# T\r\n\r\n- a\r\n", "- b\n- c", "# T\r\n\r\n- a\r\n- b\r\n- c\r\n"),
        ("# T\r- a\r", "- b", "# T\r- a\r- b\r"),
    ],
)
def test_append_goes_to_the_end_of_the_body(text: str, content: str, expected: str) -> None:
    assert after(text, "append", content=content) == expected


@pytest.mark.parametrize(
    ("text", "target", "content", "expected"),
    [
        ("- a\n- b\n", "a", "- n", "- a\n- n\n- b\n"),
        ("- a\n- b\n", "- a\n", "- n\n", "- a\n- n\n- b\n"),
        ("- a\n- b\n", "- a\n- b", "- n", "- a\n- b\n- n\n"),
        ("- a\n- b", "b", "- n", "- a\n- b\n- n"),
        ("- a\n\n- b\n", "- a\n\n", "- n", "- a\n\n- n\n- b\n"),
        ("- a\n- b\n", "a", "  two\n\n  lines\n\n", "- a\n  two\n\n  lines\n\n- b\n"),
        ("- a\r\n- b\r\n", "- a\n- b", "x\ny", "- a\r\n- b\r\nx\r\ny\r\n"),
        ("```py\none\n```\nend\n", "one", "n", "```py\none\n```\nn\nend\n"),
        ("```py\none\n```\nend\n", "```py", "n", "```py\none\n```\nn\nend\n"),
        ("```py\none\n```\nend\n", "one\n```", "n", "```py\none\n```\nn\nend\n"),
        (
            "1. x\n   ~~~~\n   ~~~\n   one\n   ~~~~\nend\n",
            "one",
            "n",
            "1. x\n   ~~~~\n   ~~~\n   one\n   ~~~~\nn\nend\n",
        ),
        ("```py\none\nend\n", "one", "n", "```py\none\nn\nend\n"),
        ("```a\nx\n```\none\n```\ny\n```\n", "one", "n", "```a\nx\n```\none\nn\n```\ny\n```\n"),
        ("``` `no fence\none\n```\n", "one", "n", "``` `no fence\none\nn\n```\n"),
        (f"- a\n```\none\n{SLOW}```\n", "one", "n", f"- a\n```\none\nn\n{SLOW}```\n"),
    ],
)
def test_insert_after_goes_below_the_line_or_the_fence(text: str, target: str, content: str, expected: str) -> None:
    assert after(text, "insert_after", target, content) == expected


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("- a\n- b\n- c\n", "- b", "- a\n- c\n"),
        ("- a\n- b\n- c\n", "b", "- a\n- c\n"),
        ("- a\n- b\n- c\n", "b\n", "- a\n- c\n"),
        ("- a\n- b\n- c\n", "- b\n", "- a\n- c\n"),
        ("- a\n- b\n- c\n", "\n- b\n", "- a\n- c\n"),
        ("- a\n- b\n- c\n", "\n- b", "- a\n- c\n"),
        ("- a\n- b\n- c", "c", "- a\n- b\n"),
        ("  - [ ] b  \r\n- c\r\n", "b", "- c\r\n"),
        ("1. a\n12) b\n", "b", "1. a\n"),
        ("## b\n\nc\n", "b", "\nc\n"),
        ("a\n\n\nb\n\n\nc\n", "b", "a\n\n\n\n\nc\n"),
        ("a\n\nb\n\nc\n", "\nb\n", "a\n\nc\n"),
        ("say b twice\n", " b", "say twice\n"),
        ("say b\nc\n", "b\n", "say \nc\n"),
        ("a\nb now\n", "a\nb", " now\n"),
        ("\ufeff# b\nc\n", "# b", "\ufeffc\n"),
    ],
)
def test_delete_takes_an_emptied_line_along_and_joins_none(text: str, target: str, expected: str) -> None:
    assert after(text, "delete", target) == expected


@pytest.mark.parametrize(
    ("text", "target", "content", "expected"),
    [
        ("- a\n- b\n", "- b", "- c\n  more\n\n  yet", "- a\n- c\n  more\n\n  yet\n"),
        ("a  \n\n\nb\n", "b", "  c  ", "a  \n\n\n  c  \n"),
        ("- a\r\n- b\r\n", "- a\n- b", "- c\n- d", "- c\r\n- d\r\n"),
        ("- a\n- b\n", "- a\r\n- b", "- c", "- c\n"),
        ("- a\n- b\r\n- c\n", "a\nb", "x", None),
        ("é 日本\n", "日", "月", "é 月本\n"),
    ],
)
def test_replace_puts_the_content_there_as_it_is(text: str, target: str, content: str, expected: str | None) -> None:
    if expected is None:
        assert status(text, "replace", target, content) == "no_target"
    else:
        assert after(text, "replace", target, content) == expected


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("- read  the\n  text\n- b\n", "read the text", "- NEW\n- b\n"),
        ("- read the text\n", "read\n\n the\ttext\n", "- NEW\n"),
        ("say “don’t” – never\n", 'say "don\'t" - never', "NEW\n"),
        ('say "don\'t" - never\n', "say “don’t” — never", "NEW\n"),
        ("read\u00a0the text\r\nnow\r\n", "read the text now", "NEW\r\n"),
    ],
)
def test_a_target_that_differs_in_typography_is_found_and_counted_apart(text: str, target: str, expected: str) -> None:
    applied = apply_edits(text, [Edit("replace", "NEW", target)])
    assert (applied.text, applied.reports[0].status) == (expected, "applied_fuzzy")


def test_what_a_fuzzy_target_has_around_it_is_not_put_in_twice() -> None:
    assert apply_edits("- “a”\n- b\n", [Edit("replace", "\n- c\n", '\n- "a"\n')]).text == "- c\n- b\n"


@pytest.mark.parametrize(
    ("text", "op", "target", "content", "expected"),
    [
        ("- a\n- a\n", "delete", "- a", "", "ambiguous"),
        ("aaa\n", "delete", "aa", "", "ambiguous"),
        ("a  b\na   b\n", "delete", "a b", "", "ambiguous"),
        (BODY, "delete", "- Write it down.", "", "no_target"),
        (BODY, "insert_after", "- Write it down.", "x", "no_target"),
        (SKILL, "delete", "- Take care.", "", "protected"),
        (SKILL, "insert_after", "- Take  care.", "x", "protected"),
        (SKILL, "replace", "name: demo", "name: other", "protected"),
        (SKILL, "replace", "a number.\n\n<!-- SLOW", "x", "protected"),
        (SKILL, "delete", "---\n# Sums", "", "protected"),
        (SKILL, "delete", "<!-- SLOW_UPDATE_END -->", "", "protected"),
        (BODY, "append", "", " \n\t\n", "no_op"),
        (BODY, "append", "", "<!-- SLOW_UPDATE_START -->\n<!-- SLOW_UPDATE_END -->", "no_op"),
        (BODY, "replace", "# Sums", "# Sums", "no_op"),
        (BODY, "replace", "# Sums\n", "# Sums  \n\n\n", "no_op"),
        (BODY, "append", "", "- Read the question.", "duplicate"),
        (BODY, "insert_after", "# Sums", "\n- Read the question. \r\n- Answer with a number.\n", "duplicate"),
        (BODY, "replace", "# Sums", "", "invalid"),
        (BODY, "replace", "# Sums", "<!-- APPENDIX_END -->", "invalid"),
        (BODY, "replace", " ", "x", "invalid"),
        (BODY, "delete", "", "", "invalid"),
        (BODY, "delete", BODY, "", "invalid"),
        (SKILL, "delete", BODY, "", "invalid"),
        (BODY, "append", "", "a\0b", "invalid"),
        (BODY, "append", "", "a\ud800b", "invalid"),
        (BODY, "suggest", "# Sums", "x", "invalid"),
        ("# T\n", "replace", "# T", "---\nname: x\n---\nmore", "invalid"),
        ("# T\n", "replace", "# T", "---\nmore", "invalid"),
        ("<!-- SLOW_UPDATE_ ENDS -->\n", "replace", "_ ENDS", "_END", "invalid"),
        (f"{BODY}\n{SLOW}", "replace", "\n\n- Read", " - Read", None),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_reason(
    text: str, op: str, target: str, content: str, expected: str | None
) -> None:
    if expected:
        assert status(text, op, target, content) == expected
    else:
        assert after(text, op, target, content)


def test_ambiguous_places_are_listed() -> None:
    (report,) = apply_edits("a\nb\na\n" + "a\n" * 20, [Edit("delete", target="a")]).reports
    assert report.detail == "the target stands at more than 10 places: lines 1, 3, 4, 5, 6, 7, 8, 9, 10, 11"
    (report,) = apply_edits("a\nb\r\na\n", [Edit("delete", target="a")]).reports
    assert report.detail == "the target stands at 2 places: lines 1, 3"


def test_a_place_in_the_body_counts_though_a_region_says_the_same() -> None:
    text = f"- Take care.\n{SLOW}"
    assert after(text, "replace", "- Take care.", "- Be quick.") == f"- Be quick.\n{SLOW}"


def test_marker_text_in_content_is_taken_out() -> None:
    nested = "<!-- SLOW_<!-- APPENDIX_END -->UPDATE_START -->"
    assert after("# T\n", "append", content=f"<!-- SLOW_UPDATE_START -->\nfoo\n{nested}\nbar") == "# T\n\nfoo\nbar\n"


def test_a_missing_anchor_is_appended_only_when_asked_for_and_counted_apart() -> None:
    applied = apply_edits(BODY, [Edit("insert_after", "- Check it.", "nowhere")], missing_anchor="append")
    assert applied.reports[0].status == "appended_no_anchor"
    assert applied.text == f"{BODY}- Check it.\n"
    assert status("a a\n", "insert_after", "a", "x", missing_anchor="append") == "ambiguous"
    assert status(SKILL, "insert_after", "name: demo", "x", missing_anchor="append") == "protected"
    assert status(BODY, "delete", "nowhere", missing_anchor="append") == "no_target"


def test_the_budget_counts_what_changed_the_text() -> None:
    names = ("Take care", "One", "Two", "Three")
    proposed = [Edit("append", f"- {name}.") for name in names]
    proposed = [Edit("delete", target="nowhere"), *proposed[:2], Edit("append", " "), proposed[1], *proposed[2:]]
    applied = apply_edits(SKILL, proposed, budget=3)
    found = [report.status for report in applied.reports]
    assert found == ["no_target", "applied", "applied", "no_op", "duplicate", "applied", "over_budget"]
    assert len(applied.texts) == 3 and applied.texts[-1] == applied.text
    assert [report.status for report in apply_edits(SKILL, proposed[:2], budget=0).reports] == [
        "no_target",
        "over_budget",
    ]


def test_later_edits_are_tried_after_a_refused_one_and_see_what_came_before() -> None:
    proposed = [Edit("append", "- Three."), Edit("delete", target="zzz"), Edit("replace", "- Four.", "- Three.")]
    applied = apply_edits(BODY, proposed)
    assert applied.text == f"{BODY}- Four.\n"
    assert applied.texts == (f"{BODY}- Three.\n", f"{BODY}- Four.\n")


def test_a_patch_is_taken_to_the_byte() -> None:
    edit = Edit("replace", "a\r\n\n", "a\n", source="patch")
    assert apply_edits("a\nb\r\n", [edit]).text == "a\r\n\nb\r\n"


def test_a_broken_document_is_an_error_not_an_edit_that_fails() -> None:
    with pytest.raises(SkillError, match=r"the skill:2: the SLOW_UPDATE region that starts here never ends"):
        apply_edits("# T\n<!-- SLOW_UPDATE_START -->\n", [Edit("append", "x")])


def test_adverse_repetition_takes_no_quadratic_time() -> None:
    text = "ab " * 100_000 + "\n" + "`" * 100_000 + "\n" + "a" * 100_000
    targets = ("a" * 50_000, "ab  " * 30_000 + "x", "`" * 50_000)
    applied = apply_edits(text, [Edit("delete", target=target) for target in targets])
    assert [report.status for report in applied.reports] == ["ambiguous", "no_target", "ambiguous"]


@given(st.data())
def test_every_edit_ends_in_one_bucket_and_the_document_stays_whole(data: st.DataObject) -> None:
    text = data.draw(documents())
    proposed = data.draw(st.lists(edits(text), max_size=5))
    budget = data.draw(st.one_of(st.none(), st.integers(0, 3)))
    anchor: Any = data.draw(st.sampled_from(["append", "skip"]))
    applied = apply_edits(text, proposed, missing_anchor=anchor, budget=budget)

    assert [report.edit for report in applied.reports] == proposed
    assert set(applied.buckets) == set(STATUSES) and sum(applied.buckets.values()) == len(proposed)
    changing = [report.edit for report in applied.reports if report.status in APPLIED]
    assert len(changing) == len(applied.texts) <= (len(proposed) if budget is None else budget)
    assert applied.text == (applied.texts[-1] if applied.texts else text)
    for edit, (before, then) in zip(changing, pairwise((text, *applied.texts)), strict=True):
        assert then != before
        assert apply_edits(before, [edit], missing_anchor="append").text == then
    if applied.texts:
        check_document(applied.text, "SKILL.md")
        assert body(applied.text).strip()
        applied.text.encode("utf-8")
    assert frontmatter(applied.text) == frontmatter(text)
    assert protected_parts(applied.text) == protected_parts(text)


def protected_parts(text: str) -> list[str]:
    return [text[start:end] for start, end in regions(text).spans]


@given(st.data())
def test_bytes_outside_an_edits_place_are_the_same(data: st.DataObject) -> None:
    text = data.draw(documents())
    edit = data.draw(edits(text))
    applied = apply_edits(text, [edit])
    if not applied.texts:
        return
    then = applied.text
    if edit.op in ("append", "insert_after"):  # nothing is lost: what is new is one piece
        grown = len(then) - len(text)
        assert grown > 0
        assert any(then[:at] + then[at + grown :] == text for at in range(len(text) + 1))
    if edit.op == "delete":  # nothing is new, and the target is in the one piece that went
        lost = len(text) - len(then)
        gone = [text[at : at + lost] for at in range(len(then) + 1) if text[:at] + text[at + lost :] == then]
        assert gone
        if applied.reports[0].status == "applied":
            assert any(unix(edit.target).strip() in unix(piece) for piece in gone)
    text, then, target = unix(text), unix(then), unix(edit.target)  # a line break is one character, CRLF too
    if edit.op == "replace" and applied.reports[0].status == "applied" and text.count(target) == 1:
        head, _, tail = text.partition(target)
        assert then.startswith(head) and then.endswith(tail)
