"""Guidance and reminders: what an epoch's end writes, and what it leaves alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.document import MARKER, clean, regions
from skillgit.lines import trim_blank_lines, unix
from skillgit.skill import appendix_notes, body, deployable, guidance, with_appendix, with_guidance
from tests.documents import APPENDIX, FRONTMATTER, SLOW, contents, documents

S, SE = "<!-- SLOW_UPDATE_START -->", "<!-- SLOW_UPDATE_END -->"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# T\n", f"# T\n\n{S}\nnew\n{SE}\n"),
        ("# T", f"# T\n\n{S}\nnew\n{SE}\n"),
        ("# T\r\n", f"# T\r\n\r\n{S}\r\nnew\r\n{SE}\r\n"),
        (f"# T\n\n{APPENDIX}", f"# T\n\n{S}\nnew\n{SE}\n\n{APPENDIX}"),
        (f"# T\n{SLOW}tail\n", f"# T\n{S}\nnew\n{SE}\ntail\n"),
        (f"# T\n{S}\n{SE}", f"# T\n{S}\nnew\n{SE}"),
        (f"{FRONTMATTER}", f"{FRONTMATTER}\n{S}\nnew\n{SE}\n"),
    ],
)
def test_guidance_takes_its_region_or_makes_one(text: str, expected: str) -> None:
    assert with_guidance(text, "\nnew\n\n") == expected
    assert guidance(expected) == "new"


def test_no_guidance_empties_the_region_and_makes_none() -> None:
    assert with_guidance(f"# T\n{SLOW}", " \n") == f"# T\n{S}\n{SE}\n"
    assert with_guidance("# T\n", "") == "# T\n"
    assert guidance("# T\n") == guidance(f"{S}\n{SE}\n") == ""


@given(documents(), contents())
def test_guidance_comes_back_and_all_else_stays(text: str, new: str) -> None:
    written = with_guidance(text, new)
    assert guidance(written) == (trim_blank_lines(unix(clean(new))) if regions(written).slow else "")
    before, after = without(text, "slow"), without(written, "slow")
    assert after == before or after.replace("\r", "").replace("\n", "") == before.replace("\r", "").replace("\n", "")
    if regions(text).slow:
        assert after == before
    assert appendix_notes(written) == appendix_notes(text)
    assert with_guidance(written, new) == written


def without(text: str, region: str) -> str:
    span = getattr(regions(text), region)
    return text[: span[0]] + text[span[1] :] if span else text


def test_notes_keep_their_lines_and_stand_once_in_order() -> None:
    text = with_appendix("# T\n", ["Read\n\n  deep\ntwice.  ", "b", "<!-- APPENDIX_END -->", " b "])
    assert text == "# T\n\n<!-- APPENDIX_START -->\n- Read\n\n    deep\n  twice.\n- b\n<!-- APPENDIX_END -->\n"
    assert appendix_notes(text) == ("Read\n\n  deep\ntwice.", "b")
    assert with_appendix(text, []) == "# T\n\n<!-- APPENDIX_START -->\n<!-- APPENDIX_END -->\n"
    assert with_appendix("# T\n", []) == "# T\n"


def test_notes_that_are_no_list_are_read_too() -> None:
    text = "<!-- APPENDIX_START -->\nRead\ntwice.\n\nb\n- c\nmore\n\n  yet\n\nd\n<!-- APPENDIX_END -->\n"
    assert appendix_notes(text) == ("Read\ntwice.", "b", "c\nmore\n\nyet", "d")


@given(documents(), st.lists(contents(), max_size=4))
def test_notes_come_back_and_all_else_stays(text: str, notes: list[str]) -> None:
    written = with_appendix(text, notes)
    kept = appendix_notes(written)
    assert len(set(kept)) == len(kept) <= len(notes)
    assert with_appendix(written, kept) == written
    assert appendix_notes(with_appendix(written, (*kept, *kept, "one more"))) == (*kept, *(["one more"]))
    assert guidance(written) == guidance(text)
    assert unix(body(written)).rstrip() == unix(body(text)).rstrip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{FRONTMATTER}# T\n\n{SLOW}\n{APPENDIX}", f"{FRONTMATTER}# T\n\n- Take care.\n\n- Read twice.\n"),
        (f"# T\n\n{S}\n{SE}\n", "# T\n"),
        (f"# T\n\n{S}\n\n{SE}\n\n<!-- APPENDIX_START -->\n<!-- APPENDIX_END -->", "# T\n"),
        (f"# T\n\n{S}\n{SE}\nmore\n", "# T\n\nmore\n"),
        (f"# T\n\n{S}\n{SE}\n\nmore\n", "# T\n\nmore\n"),
        ("# T\r\n\r\n" + SLOW.replace("\n", "\r\n"), "# T\r\n\r\n- Take care.\r\n"),
        ("# T", "# T"),
    ],
)
def test_what_is_deployed_has_no_markers(text: str, expected: str) -> None:
    assert deployable(text) == expected


@given(documents())
def test_what_is_deployed_says_the_same(text: str) -> None:
    text = text.removeprefix("\ufeff")
    shown = deployable(text)
    assert not MARKER.search(shown)
    words = MARKER.sub("", text).split()
    assert shown.split() == words
