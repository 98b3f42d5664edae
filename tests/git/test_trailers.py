from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillgit.git.trailers import CommitMessage, cut, format_message, parse_message
from tests.repos import git

TRAILERS = {"Skill-Run": "2", "Skill-Edit": "2/3", "Skill-Evidence": "train-017 train-044", "Skill-Target": "a:b"}
LINES = st.sampled_from(
    [
        "Skill-Run: 99",
        "Signed-off-by: A <a@b>",
        "(cherry picked from commit abc)",
        "---",
        "--- a/file",
        "---\tx",
        "# ------------------------ >8 ------------------------",
        "# comment",
        "#",
        "Conflicts:",
        "\tfile",
        " folded",
        "```",
        "~~~ python",
        "- item",
        "",
        " ",
        "\u2028",
        "\x0c",
        "\x85x: y",
        "diff --git a/x b/x",
        "key:value",
        "日本語のテキスト" * 12,
        "word " * 40,
        "> quote " * 20,
        "- - --- " * 15,
        "x" * 200,
    ]
)
BODIES = st.lists(LINES | st.text(), max_size=8).map("\n".join)


def as_git_reads(message: str, folder: Path) -> list[str]:
    path = folder / "message"
    path.write_bytes(message.encode("utf-8", "replace"))
    return git(folder, "interpret-trailers", "--parse", str(path)).splitlines()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=BODIES)
def test_git_finds_our_trailers_and_no_other(body: str, tmp_path: Path) -> None:
    message = format_message("demo: do it", body, TRAILERS)
    assert as_git_reads(message, tmp_path) == [f"{key}: {value}" for key, value in TRAILERS.items()]
    assert parse_message(message).trailers == TRAILERS


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=st.text() | BODIES, subject=st.text() | BODIES)
def test_any_value_and_subject_stay_on_their_line(value: str, subject: str, tmp_path: Path) -> None:
    message = CommitMessage(subject, "", {"Skill-Op": "append", "Skill-Gate": value}).render("demo")
    found = as_git_reads(message, tmp_path)
    assert [line.partition(":")[0] for line in found] == ["Skill-Op", "Skill-Gate"]
    first = message.split("\n", 1)[0]
    assert first.startswith("demo: ") and 6 < len(first) <= 72


@given(body=st.text(alphabet=st.characters(blacklist_categories=["Cs", "Cc"])))
def test_wrapping_keeps_every_word(body: str) -> None:
    message = format_message("demo: x", body, {})
    assert message.split()[2:] == body.split()


@given(subject=st.text(min_size=1))
def test_a_message_is_read_back(subject: str) -> None:
    message = CommitMessage(subject, "Because of this.\n\nAnd that.", TRAILERS).render("demo")
    parsed = parse_message(message)
    assert parsed.subject == message.split("\n")[0]
    assert (parsed.body, parsed.trailers) == ("Because of this.\n\nAnd that.", TRAILERS)


def test_prose_is_wrapped_but_code_is_not() -> None:
    code = "x = " + "y + " * 30 + "z"
    body = f"- {'word ' * 20}\n\n```\n{code}\n```"
    lines = format_message("demo: x", body, {}).splitlines()[2:]
    assert code in lines
    assert lines[1].startswith("  word")
    assert all(len(line) <= 72 for line in lines if line != code)


@pytest.mark.parametrize(
    ("given_subject", "expected"),
    [
        ("short", "short"),
        ("two\nlines\t here", "two lines here"),
        ("a" * 80, "a" * 71 + "…"),
        ("word " * 20, "word word word word word word word word word word word word word word…"),
        ("", ""),
    ],
)
def test_cut(given_subject: str, expected: str) -> None:
    assert cut(given_subject) == expected


def test_the_name_is_not_doubled_and_an_empty_subject_has_a_word() -> None:
    assert CommitMessage("demo: add it").render("demo") == "demo: add it\n"
    assert CommitMessage(" ").render("demo") == "demo: edit\n"
    assert len(CommitMessage("add a rule that says much").render("n" * 64).rstrip("\n")) <= 72


def test_a_foreign_last_paragraph_is_body() -> None:
    parsed = parse_message("Fix it\n\nNote: this matters.\nIt is prose, though.\n")
    assert parsed.trailers == {}
    assert parsed.body.endswith("It is prose, though.")


def test_what_a_server_adds_does_not_hide_the_trailers() -> None:
    message = format_message("demo: x", "", TRAILERS) + "(cherry picked from commit 1234)\nCo-authored-by: A <a@b>\n"
    assert parse_message(message).trailers == {**TRAILERS, "Co-authored-by": "A <a@b>"}


def test_a_bad_key_is_a_bug() -> None:
    with pytest.raises(ValueError, match="bad key"):
        format_message("x", "", {"bad key": "x"})


def test_git_log_reads_well(repo: Callable[..., Path]) -> None:
    folder = repo()
    score = "hard 0.7125 -> 0.7625, soft 0.7810 -> 0.8021 (160 tasks)"
    message = CommitMessage("Add units", "Reason: none\nKey: value", {**TRAILERS, "Skill-Score": score}).render("demo")
    git(folder, "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", message)
    line = git(folder, "log", "-1", "--format=%h %s %(trailers:key=Skill-Score,valueonly)").strip()
    assert re.fullmatch(rf"[0-9a-f]+ demo: Add units {re.escape(score)}", line)
