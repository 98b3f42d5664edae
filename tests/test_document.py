"""The document: its regions, its frontmatter, and what is wrong with a broken one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.document import MARKER, clean, protected, segments, with_body
from skillgit.errors import SkillError
from skillgit.lines import is_blank, newline, unix
from skillgit.skill import body, check_document, digest, frontmatter, regions, strip_markers
from tests.documents import APPENDIX, FRONTMATTER, SLOW, contents, documents

S, SE = "<!-- SLOW_UPDATE_START -->", "<!-- SLOW_UPDATE_END -->"
A, AE = "<!-- APPENDIX_START -->", "<!-- APPENDIX_END -->"


def test_regions_are_whole_lines_without_the_last_break() -> None:
    text = f"\ufeff{FRONTMATTER}# T\n\n  {S} \nx\n{SE}\nbetween\n{APPENDIX}tail\n"
    found = regions(text)
    assert found.frontmatter and found.slow and found.appendix
    assert text[slice(*found.frontmatter)] == "\ufeff" + FRONTMATTER.rstrip("\n")
    assert text[slice(*found.slow)] == f"  {S} \nx\n{SE}"
    assert text[slice(*found.appendix)] == APPENDIX.rstrip("\n")
    assert body(text) == "# T\n\nbetween\ntail\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_any_line_ending_does(ending: str) -> None:
    text = f"{FRONTMATTER}# T\n{SLOW}".replace("\n", ending)
    assert frontmatter(text) == {"name": "demo", "description": "Use it."}
    assert body(text) == f"# T{ending}"
    assert newline(text) == ending


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"# T\n{S}\nx\n", "f.md:2: the SLOW_UPDATE region that starts here never ends"),
        (f"# T\n\n{AE}\n", f"f.md:3: {AE} has no start marker before it"),
        (f"{SE}\nx\n{S}\n", f"f.md:1: {SE} has no start marker before it"),
        (f"{S}\n{A}\n{AE}\n{SE}\n", f"f.md:2: {A} stands inside the region that starts in line 1"),
        (f"{S}\n{S}\n{SE}\n", f"f.md:2: {S} stands inside the region that starts in line 1"),
        (f"{S}\n{AE}\n", f"f.md:2: {AE} has no start marker before it"),
        (f"# T\r\n{SLOW}\r{SLOW}", f"f.md:6: {S} starts a second such region, and one is allowed"),
        (f"say {S}\n{SE}\n", f"f.md:1: {S} does not stand alone on its line"),
        (f"```\n{S}\n```\n", "f.md:2: the SLOW_UPDATE region that starts here never ends"),
        (f"---\nname: {S}\n---\n", f"f.md:2: {S} stands in the frontmatter"),
        ("---\nname: x\n", "f.md:1: the frontmatter that starts here never ends"),
        ("---\nname: x\nother: [\n---\n", "f.md:4: the frontmatter is not YAML: "),
        ("---\nname\n---\n# T\n", "f.md:1: the frontmatter is a str, not a mapping"),
        ("---\nday: 2024-13-45\n---\n# T\n", "f.md:2: the frontmatter is not YAML: month must be in 1..12"),
        ("---\nname: \x01\n---\n# T\n", "f.md:2: the frontmatter is not YAML: "),
        ("\ufeff \n", "f.md is empty"),
    ],
)
def test_a_broken_document_is_refused_with_file_and_line(text: str, problem: str) -> None:
    with pytest.raises(SkillError) as caught:
        check_document(text, "f.md")
    assert caught.value.message.startswith(problem)
    assert "\n" not in caught.value.message and caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "# T\n",
        "----\nname: x\n",
        "# T\n\n---\n\nmore\n",
        "---\n---\n# T\n",
        "--- \nname: x\n---\t\n",
        FRONTMATTER,
        f"{SLOW}{APPENDIX}",
        "<!-- SLOW_UPDATE_STARTS --> `SLOW_UPDATE_START`\n",
    ],
)
def test_a_sound_document_passes(text: str) -> None:
    check_document(text, "f.md")


def test_frontmatter_is_only_at_the_very_beginning() -> None:
    assert frontmatter("\n---\nname: x\n---\n") == {}
    assert frontmatter("---\n---\n") == {}
    assert frontmatter("\ufeff---\r\n1: x\r\n---") == {"1": "x"}


@given(documents())
def test_the_parts_are_the_whole(text: str) -> None:
    spans = sorted([*segments(text), *regions(text).spans])
    assert "".join(text[start:end] for start, end in spans) == text
    assert not MARKER.search(body(text))


@given(contents())
def test_no_marker_and_nothing_unwritable_is_left_in_new_content(content: str) -> None:
    assert not MARKER.search(strip_markers(content))
    cleaned = clean(content)
    assert "\0" not in cleaned
    cleaned.encode("utf-8")


def test_a_line_of_markers_goes_whole_and_other_text_stays() -> None:
    assert strip_markers(f"a\n  {S} {SE}\nb {A}c\n") == "a\nb c\n"
    assert strip_markers("<!-- SLOW_<!-- SLOW_UPDATE_END -->UPDATE_END --> x") == " x"
    assert strip_markers("<!-- other -->\n") == "<!-- other -->\n"


def test_digest_is_that_of_the_lines() -> None:
    assert digest("a\r\nb\rc\n") == digest("a\nb\nc\n")
    assert digest("a\nb") != digest("a\nb\n")
    assert len(digest("\ud800")) == 16


@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        (f"{FRONTMATTER}\n# T\n\nold\n\n\n{SLOW}", "# N\n\nnew\n", f"{FRONTMATTER}\n# N\n\nnew\n\n\n{SLOW}"),
        ("# T", "\n\n  new", "  new"),
        ("\ufeff# T\r\n\r\nold\r\n", "# N\nnew\n\n", "\ufeff# N\r\nnew\r\n"),
        (f"{FRONTMATTER}{SLOW}", "new", f"{FRONTMATTER}\nnew\n{SLOW}"),
        (f"one\n{SLOW}two\n{APPENDIX}three\n", "new", f"new\n{SLOW}\n{APPENDIX}"),
        (f"{SLOW}\none\n\n{APPENDIX}\n", "new", f"{SLOW}\nnew\n\n{APPENDIX}\n"),
        (f"{FRONTMATTER}one\n{SLOW}", f"---\nname: evil\n---\n\nnew\n\n{APPENDIX}", f"{FRONTMATTER}new\n{SLOW}"),
        (f"one\n{SLOW}", f"new\n{S}\nleft open\n", f"new\nleft open\n{SLOW}"),
        (f"{FRONTMATTER}one\n", "---\n---\ntext\n", f"{FRONTMATTER}---\n---\ntext\n"),
        (f"{FRONTMATTER}one\n", "---\nsome text\n---\n", f"{FRONTMATTER}---\nsome text\n---\n"),
    ],
)
def test_a_rewrite_takes_the_bodys_place(text: str, new: str, expected: str) -> None:
    assert with_body(text, new) == expected


@pytest.mark.parametrize(
    ("text", "new", "problem"),
    [
        ("# T\n", " \n", "the new body is empty"),
        ("# T\n", f"{FRONTMATTER}{SLOW}", "the new body is empty"),
        ("# T\n", "---\ntext\n---\nmore\n", "the new body would be read as frontmatter"),
        ("# T\n", "---\ntext\n", "the new body would be read as frontmatter"),
    ],
)
def test_a_rewrite_that_leaves_no_skill_is_refused(text: str, new: str, problem: str) -> None:
    with pytest.raises(SkillError, match=problem):
        with_body(text, new)


@given(documents(), st.one_of(contents(), documents()))
def test_a_rewrite_keeps_frontmatter_and_regions(text: str, new: str) -> None:
    try:
        changed = with_body(text, new)
    except SkillError:
        return
    assert protected(changed) == protected(text)
    assert frontmatter(changed) == frontmatter(text)
    assert body(changed).strip()
    assert unix(with_body(changed, new)) == unix(changed)


@given(documents())
def test_a_rewrite_to_the_same_body_changes_nothing(text: str) -> None:
    blank = [is_blank(text[start:end]) for start, end in segments(text)]
    if blank.count(False) == 1 and not body(text).lstrip().startswith("---"):
        assert unix(with_body(text, body(text))) == unix(text)
