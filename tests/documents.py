"""Strategies for skill documents and edits, to state properties over."""

from __future__ import annotations

from hypothesis import strategies as st

from skillgit.skill import Edit

FRONTMATTER = "---\nname: demo\ndescription: Use it.\n---\n"
SLOW = "<!-- SLOW_UPDATE_START -->\n- Take care.\n<!-- SLOW_UPDATE_END -->\n"
APPENDIX = "<!-- APPENDIX_START -->\n- Read twice.\n<!-- APPENDIX_END -->\n"
# few different lines, so that targets match often, here and there twice
LINES = (
    *("", "  ", "# Title", "- a", "- b", "- a b", "  - a", "text", "“a” – b", "é 日本", "```", "```py", "---", "> a"),
    *("<!-- SLOW_UPDATE_", "START -->", "name: demo", "- Take care.", "a\fb", "\u2028"),
)
MARKERS = ("<!-- SLOW_UPDATE_START -->", "<!-- SLOW_UPDATE_END -->", "<!-- APPENDIX_START -->", "<!--APPENDIX_END-->")

endings = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])


@st.composite
def bodies(draw: st.DrawFn, *, lines: tuple[str, ...] = LINES, size: int = 8) -> str:
    """Lines with one kind of line ending, or now and then a mixture; every third without the last one."""
    ending = draw(st.sampled_from(["\n", "\n", "\r\n", "\r", ""]))
    parts = draw(st.lists(st.tuples(st.sampled_from(lines), endings), max_size=size))
    text = "".join(line + (ending or other) for line, other in parts)
    return text.rstrip("\r\n") if draw(st.integers(0, 2)) == 0 else text


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Valid documents: with and without byte order mark, frontmatter and regions, text around and between them."""
    bom, front, slow, appendix = (draw(st.booleans()) for _ in range(4))
    regions = [*([SLOW] if slow else []), *([APPENDIX] if appendix else [])]
    if draw(st.booleans()):
        regions.reverse()
    ending = draw(endings)
    text = "\ufeff" * bom + (FRONTMATTER if front else "")
    for region in ["", *regions]:
        part = draw(bodies())
        if not front and not text.strip("\ufeff") and part.startswith("---"):
            part = "x" + part
        if part and not part.endswith(("\n", "\r")):
            part += "\n"
        text += region + part
    text = text.replace("\r\n", "\n").replace("\n", ending) if ending != "\n" else text
    return text.rstrip("\r\n") if draw(st.integers(0, 3)) == 0 else text


def contents() -> st.SearchStrategy[str]:
    return st.one_of(
        bodies(lines=(*LINES, *MARKERS), size=4), st.text(max_size=12), st.sampled_from(["\0", "\ud800", ""])
    )


def edits(text: str) -> st.SearchStrategy[Edit]:
    """Edits of this text: most have a target that is a piece of it."""
    ends = st.tuples(st.integers(0, len(text)), st.integers(0, 12))
    pieces = ends.map(lambda pair: text[pair[0] : pair[0] + pair[1]])
    return st.builds(
        Edit,
        op=st.sampled_from(["append", "insert_after", "replace", "delete", "delete", "replace"]),
        content=contents(),
        target=st.one_of(pieces, pieces, pieces, st.sampled_from(LINES), contents()),
        source=st.sampled_from(["failure", "success", "patch"]),
    )
