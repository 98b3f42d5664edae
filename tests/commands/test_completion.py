"""Completion, asked the way the shells ask."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skillgit.completing import rejoin

BASH = shutil.which("bash")


def offered(root: Path, *words: str) -> list[str]:
    """What bash would offer for the last of the words, typed after ``skillgit``."""
    program = root.parent / "bin" / "skillgit"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m skillgit "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    environ = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    script = subprocess.run(
        [program], env={**environ, "_SKILLGIT_COMPLETE": "source_bash"}, capture_output=True, text=True, check=True
    ).stdout
    typed = " ".join(f"'{word}'" for word in ("skillgit", *words))
    ask = f"COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _skillgit_completion skillgit"
    bash = [str(BASH), "--norc", "-c", f'{script}\n{ask}; printf "%s\\n" "${{COMPREPLY[@]}}"']
    done = subprocess.run(bash, env=environ, cwd=root, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if line]


@pytest.mark.skipif(BASH is None or sys.platform == "win32", reason="no bash here")
def test_bash_completes_commands_skills_and_revisions(trained: Path) -> None:
    assert offered(trained, "rej") == ["rejected"]
    assert offered(trained, "show", "de") == ["demo"]
    # bash takes @ for a word of its own and puts what is offered after it
    assert offered(trained, "show", "demo", "@") == [
        *("best", "base", "epoch-2", "step-4", "step-3", "epoch-1", "step-2", "step-1"),
    ]
    assert offered(trained, "show", "demo", "@", "ep") == ["epoch-2", "epoch-1"]
    assert offered(trained, "diff", "demo", "@", "base", "de") == ["demo"]
    assert offered(trained, "diff", "demo", "@", "base", "demo", "@", "b") == ["best", "base"]
    assert offered(trained, "show", "other", "@") == []


def test_nothing_is_offered_outside_a_repository(tmp_path: Path) -> None:
    assert offered(tmp_path, "show", "d") == []


def test_words_of_other_shells_are_left_alone() -> None:
    environ = {"_SKILLGIT_COMPLETE": "complete_zsh", "COMP_WORDS": "a\n@\nb", "COMP_CWORD": "2"}
    assert not rejoin(environ)
    assert environ["COMP_WORDS"] == "a\n@\nb"
