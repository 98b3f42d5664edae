"""Patches: git takes ours, and ours does what git would do with anyone's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.errors import SkillError
from skillgit.lines import is_blank
from skillgit.patchfile import edits_from_diff, quoted, touches_protected, unified_diff, unquoted
from skillgit.skill import APPLIED, apply_edits, body
from tests.documents import FRONTMATTER, SLOW, bodies
from tests.repos import git

PATH = "skills/demo/SKILL.md"
BODY = "# T\n\n- a\n- b\n- c\n"
MANY = "".join(f"- rule {n}\n" for n in range(20))
UNUSUAL = (
    "SKILL.md",
    "a b/SKILL.md",
    "größe/日本.md",
    'q"uote/b\\ack.md',
    "tab\there.md",
    "a/SKILL.md",
    " lead.md",
    "\x7f.md",
)


def git_apply(folder: Path, old: str, diff: str, path: str = PATH) -> str:
    """What the file is after ``git apply``; what git says when it refuses."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(old.encode())
    (folder / "the.patch").write_bytes(diff.encode())
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "the.patch"], cwd=folder, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr.decode()
    return file.read_bytes().decode() if file.exists() else ""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("patch")
    git(made, "init", "-q")
    return made


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (BODY, BODY.replace("b", "B")),
        (BODY, BODY.rstrip("\n")),
        (BODY.rstrip("\n"), BODY),
        (BODY.rstrip("\n"), BODY + "- d"),
        (BODY.replace("\n", "\r\n"), BODY.replace("\n", "\r\n") + "- d\r\n"),
        (BODY, BODY.replace("\n", "\r\n")),
        ("a\rb\n", "a\rc\n"),
        ("a\u2028b\fc\n", "a\u2028b\fd\n"),
        ("\ufeffa\n", "\ufeffb\n"),
        ("", "a\n"),
        (MANY, MANY.replace("rule 2\n", "x\n").replace("rule 18", "y")),
        ("--- a/x\n+++ b/x\n", "-- a/x\n++ b/x\n"),
    ],
)
def test_git_takes_our_patch(folder: Path, old: str, new: str) -> None:
    assert git_apply(folder, old, unified_diff(old, new, PATH)) == new


@pytest.mark.parametrize("path", UNUSUAL)
def test_unusual_paths_are_written_and_read_as_git_does(tmp_path: Path, path: str) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(BODY, encoding="utf-8")
    git(tmp_path, "add", ".")
    new = BODY + "- d\n"
    (tmp_path / path).write_text(new, encoding="utf-8")
    gits = git(tmp_path, "diff")
    ours = unified_diff(BODY, new, path).splitlines()
    assert [ours[0], *ours[1:3]] == [line for line in gits.splitlines() if not line.startswith("index ")][:3]
    for diff in (gits, "\n".join(ours), git(tmp_path, "-c", "diff.mnemonicPrefix=true", "diff")):
        assert apply_edits(BODY, edits_from_diff(diff, BODY, path)).text == new
    assert git_apply(tmp_path, BODY, unified_diff(BODY, new, path), path) == new


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8))
def test_a_quoted_name_is_read_back(name: str) -> None:
    assert unquoted(quoted(f"a/{name}")) == name
    assert quoted(f"a/{name}").isascii()


def test_equal_texts_have_no_patch() -> None:
    assert unified_diff(BODY, BODY, PATH) == ""


@pytest.mark.parametrize(
    ("old", "new", "ops"),
    [
        (BODY, BODY + "- d\n", ["insert_after"]),
        (BODY, BODY.replace("- b\n", ""), ["delete"]),
        (BODY, BODY.replace("- b", "- B"), ["replace"]),
        (BODY, "intro\n" + BODY, ["replace"]),
        (BODY, BODY.replace("\n\n", "\n"), ["replace"]),
        (MANY, MANY.replace("rule 2\n", "x\n").replace("- rule 18\n", ""), ["replace", "delete"]),
        ("- a\n- b\n- a\n- c\n", "- a\n- b\n- a\n- n\n- c\n", ["replace"]),
        ("x\n" * 9, "x\n" * 10, ["replace"]),
        ("x\n" * 9, "x\n" * 4 + "y\n" + "x\n" * 5, ["replace"]),
        ("```\ncode\n```\n", "```\ncode\nmore\n```\n", ["replace"]),
        ("- a\n- b\n", "- a\n- b\n- a\n", ["replace"]),
    ],
)
def test_a_hunk_is_the_plainest_edit_that_does_it(old: str, new: str, ops: list[str]) -> None:
    edits = edits_from_diff(unified_diff(old, new, PATH), old, PATH)
    assert [edit.op for edit in edits] == ops
    assert all(edit.source == "patch" for edit in edits)
    assert apply_edits(old, edits).text == new


@st.composite
def changed(draw: st.DrawFn) -> tuple[str, str]:
    """A document and the same with another body, frontmatter and regions alike."""
    front, ahead = draw(st.sampled_from(["", "\ufeff", FRONTMATTER])), draw(st.booleans())
    region = draw(st.sampled_from(["", "", SLOW]))
    lines = ("", "- a", "- b", "- a b", "```", "text", " ", "- Take care.")
    old, new, rest = (draw(bodies(lines=lines)) for _ in range(3))
    if region:
        old, new = (part + "\n" if part and not part.endswith("\n") else part for part in (old, new))
    before, after = (front + part + region + rest for part in (old, new))
    return (after, before) if ahead else (before, after)


@given(changed())
def test_the_edits_do_what_the_patch_does(pair: tuple[str, str]) -> None:
    old, new = pair
    if old == new or is_blank(old) or not body(new).strip():
        return
    diff = unified_diff(old, new, PATH)
    edits = edits_from_diff(diff, old, PATH)
    applied = apply_edits(old, edits)
    assert applied.text == new
    assert len(edits) == diff.count("\n@@ ") == len(applied.texts)
    if not any(text.startswith("\ufeff<!--") for text in pair):  # to git, a byte order mark is part of its line
        assert touches_protected(diff, old) == []


@settings(max_examples=25)
@given(pair=changed(), context=st.integers(0, 4))
def test_so_do_those_of_gits_own_diff(folder: Path, pair: tuple[str, str], context: int) -> None:
    old, new = pair
    (folder / "old").write_bytes(old.encode())
    (folder / "new").write_bytes(new.encode())
    diff = git(folder, "diff", "--no-index", f"-U{context}", "old", "new", check=False)
    if not diff or not body(new).strip() or is_blank(old):
        return
    diff = diff.replace("a/old", f"a/{PATH}").replace("b/new", f"b/{PATH}")
    assert git_apply(folder, old, unified_diff(old, new, PATH)) == new
    applied = apply_edits(old, edits_from_diff(diff, old, PATH))
    assert applied.text == new, applied.reports


def test_a_hunk_that_has_moved_is_found_where_it_alone_fits() -> None:
    diff = unified_diff(MANY, MANY.replace("rule 9\n", "rule nine\n").replace("rule 19", "last"), PATH)
    grown = "# Title\n\n" + MANY
    expected = grown.replace("rule 9\n", "rule nine\n").replace("rule 19", "last")
    assert apply_edits(grown, edits_from_diff(diff, grown, PATH)).text == expected


SECOND = unified_diff(MANY, MANY.replace("rule 2\n", "x\n").replace("rule 18", "y"), PATH)
HEADER = f"diff --git a/{PATH} b/{PATH}\n"
ONE = "@@ -1 +1 @@\n-# T\n+# U\n"


@pytest.mark.parametrize(
    ("diff", "current", "problem"),
    [
        ("", BODY, "the patch is empty"),
        ("Dear all,\n\nplease apply.\n", BODY, "the patch is empty"),
        ("@@ -1 +1 @@\n-a\n+b\n", BODY, "the patch is not a unified diff: Unexpected hunk found"),
        (f"--- a/{PATH}\n+++ b/{PATH}\n@@ -1,2 +1 @@\n-a\n", BODY, "the patch is not a unified diff: Hunk is shorter"),
        (
            f"{HEADER}index 1..2 100644\nBinary files a/{PATH} and b/{PATH} differ\n",
            BODY,
            f"the patch of {PATH} is binary",
        ),
        (f"{HEADER}index 1..2 100644\nGIT binary patch\nliteral 3\nabc\n\n", BODY, f"the patch of {PATH} is binary"),
        (f"{HEADER}old mode 100644\nnew mode 100755\n", BODY, f"the patch changes the name or mode of {PATH}"),
        (
            f"{HEADER}deleted file mode 100644\n--- a/{PATH}\n+++ /dev/null\n{ONE}",
            BODY,
            f"the patch makes or removes {PATH}",
        ),
        (
            f"{HEADER}new file mode 100644\n--- /dev/null\n+++ b/{PATH}\n{ONE}",
            BODY,
            f"the patch makes or removes {PATH}",
        ),
        (f"diff --git a/x b/{PATH}\nrename from x\nrename to {PATH}\n", BODY, f"the patch touches {PATH}"),
        (unified_diff(BODY, "x\n", "README.md"), BODY, f"the patch touches README.md; it may only touch {PATH}"),
        (SECOND + unified_diff(BODY, "x\n", "a b.md"), MANY, f"the patch touches a b.md; it may only touch {PATH}"),
        (SECOND + SECOND, MANY, f"the patch has 2 parts for {PATH}, not one with hunks"),
        (HEADER, BODY, f"the patch has 1 parts for {PATH}, not one with hunks"),
        (
            SECOND,
            MANY.replace("rule 18", "rule 81"),
            f"hunk 2 of 2 for {PATH} does not fit: line 19 is '- rule 81\\n', the patch expects '- rule 18\\n'",
        ),
        (
            SECOND,
            MANY[:53],
            f"hunk 1 of 2 for {PATH} does not fit: line 6 is '- rule 5', the patch expects '- rule 5\\n'",
        ),
        (SECOND, "", f"hunk 1 of 2 for {PATH} does not fit: line 1 is missing"),
        (SECOND, MANY.replace("\n", "\r\n"), f"hunk 1 of 2 for {PATH} does not fit: line 1 is '- rule 0\\r\\n'"),
        (
            f"{HEADER}--- a/{PATH}\n+++ b/{PATH}\n@@ -9 +9 @@\n-x\n+y\n",
            "x\nx\n",
            f"hunk 1 of 1 for {PATH} does not fit: fits 2",
        ),
    ],
)
def test_a_patch_that_cannot_be_meant_is_refused(diff: str, current: str, problem: str) -> None:
    with pytest.raises(SkillError) as caught:
        edits_from_diff(diff, current, PATH)
    assert caught.value.message.startswith(problem)
    assert "\n" not in caught.value.message and caught.value.hint


@given(
    st.one_of(
        st.text(max_size=60), st.lists(st.sampled_from([*SECOND.splitlines(True), "\n", "@@", "\\ x\n"])).map("".join)
    )
)
def test_no_patch_is_a_bug(diff: str) -> None:
    try:
        edits = edits_from_diff(diff, MANY, PATH)
    except SkillError:
        return
    assert apply_edits(MANY, edits).reports


def test_plain_diff_of_the_same_file_name_is_fine() -> None:
    diff = "--- SKILL.md.orig\t2020-01-01\n+++ SKILL.md\t2020-01-02\n" + ONE
    assert apply_edits(BODY, edits_from_diff(diff, BODY, PATH)).text == BODY.replace("T", "U")


SKILL = f"{FRONTMATTER}# T\n- a\n{SLOW}"


@pytest.mark.parametrize(
    ("new", "hunks"),
    [
        (SKILL.replace("demo", "other"), [1]),
        (SKILL.replace("Take care", "Do not"), [1]),
        (SKILL.replace("<!-- SLOW", "x\n<!-- SLOW", 1), []),
        (SKILL.replace("-->\n- Take", "-->\nx\n- Take"), [1]),
        (SKILL + "more\n", []),
        (SKILL.rstrip(), []),
        (SKILL.replace("- a", "- b"), []),
        (SKILL + "<!-- APPENDIX_START -->\n<!-- APPENDIX_END -->\n", [1]),
        (FRONTMATTER + "- n\n" * 20 + SLOW.replace("Take", "Do"), [1]),
    ],
)
def test_hunks_that_touch_a_region_are_named(new: str, hunks: list[int]) -> None:
    diff = unified_diff(SKILL, new, PATH)
    assert touches_protected(diff, SKILL) == hunks
    applied = apply_edits(SKILL, edits_from_diff(diff, SKILL, PATH))
    if hunks:
        assert {report.status for report in applied.reports}.isdisjoint(APPLIED)
    else:
        assert applied.text == new


def test_hunks_around_a_refused_one_are_still_done() -> None:
    old = MANY + SLOW + "- x\n" * 10 + "- y\n"
    new = old.replace("rule 3\n", "three\n").replace("Take", "Do").replace("- y", "- z")
    diff = unified_diff(old, new, PATH)
    applied = apply_edits(old, edits_from_diff(diff, old, PATH))
    assert touches_protected(diff, old) == [2]
    assert [report.status for report in applied.reports] == ["applied", "protected", "applied"]
    assert applied.text == old.replace("rule 3\n", "three\n").replace("- y", "- z")
