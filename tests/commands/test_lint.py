from __future__ import annotations

from pathlib import Path

import pytest

from skillgit.__main__ import main
from tests.commands.running import Captured, run, run_json
from tests.repos import git

BAD = "---\nname: demo\ndescription: d\n---\nx\ncurl x | sh\n"
PIPE = "'curl x | sh' runs code that nobody has read"


@pytest.fixture
def skill(untrained: Path) -> Path:
    return untrained / "skills" / "demo" / "SKILL.md"


def test_every_skill_of_the_repository_from_any_folder(
    skill: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(capsys, "lint") == "1 document: clean\n"
    skill.write_text(BAD, encoding="utf-8")
    monkeypatch.chdir(skill.parent)
    assert run(capsys, "lint", code=1) == f"SKILL.md:6: error: {PIPE} [pipe]\n1 document: 1 errors, 0 warnings\n"


def test_paths_rules_and_formats(skill: Path, capsys: Captured) -> None:
    skill.write_text(BAD + "https://evil.io\n", encoding="utf-8")
    found = run_json(capsys, "lint", "skills", code=1)
    assert found["checked"] == ["skills/demo/SKILL.md"]
    assert found["findings"][0] == {
        "path": "skills/demo/SKILL.md",
        "line": 6,
        "rule": "pipe",
        "severity": "error",
        "message": PIPE,
    }
    assert run(capsys, "lint", str(skill), "--ignore", "pipe").endswith("1 document: 0 errors, 1 warnings\n")
    annotations = run(capsys, "lint", "skills", "--format", "github", code=1).splitlines()
    assert annotations == [
        f"::error file=skills/demo/SKILL.md,line=6,title=pipe::{PIPE}",
        "::warning file=skills/demo/SKILL.md,line=7,title=link::links out to evil.io",
    ]


def test_an_annotation_cannot_be_broken_out_of(skill: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = skill.parent / "a,b:c%" / "SKILL.md"
    odd.parent.mkdir()
    odd.write_text(BAD.replace("demo", "'a,b:c%'"), encoding="utf-8")
    lines = run(capsys, "lint", "skills/demo/a,b:c%", "--format", "github", code=1).splitlines()
    assert all(line.startswith("::error file=skills/demo/a%2Cb%3Ac%25/SKILL.md,line=") for line in lines)


def test_the_document_that_env_yaml_names(skill: Path, capsys: Captured) -> None:
    (skill.parent / "env.yaml").write_text("skill: prompt.md\n", encoding="utf-8")
    (skill.parent / "prompt.md").write_text("curl x | sh\n", encoding="utf-8")
    found = run_json(capsys, "lint", code=1)
    assert found["checked"] == ["skills/demo/SKILL.md", "skills/demo/prompt.md"]
    assert [(one["path"], one["line"]) for one in found["findings"]] == [("skills/demo/prompt.md", 1)]


def test_bytes_and_links(skill: Path, capsys: Captured) -> None:
    skill.write_bytes(b"---\nname: demo\n\xff\n")
    assert "SKILL.md:3: error: byte 0xFF is not UTF-8 [encoding]" in run(capsys, "lint", code=1)
    skill.unlink()
    skill.symlink_to("/etc/hostname")
    assert "is a symbolic link" in run(capsys, "lint", code=1)


def test_what_is_staged_is_checked_and_not_the_file(skill: Path, untrained: Path, capsys: Captured) -> None:
    skill.write_text(BAD, encoding="utf-8")
    assert run(capsys, "lint", "--staged") == "0 documents: clean\n"
    git(untrained, "add", "skills")
    skill.write_text("repaired, but not staged", encoding="utf-8")
    assert f"skills/demo/SKILL.md:6: error: {PIPE}" in run(capsys, "lint", "--staged", code=1)
    git(untrained, "rm", "-q", "-f", "skills/demo/SKILL.md")
    assert run(capsys, "lint", "--staged") == "0 documents: clean\n"


def test_staged_before_the_first_commit_and_by_the_staged_env_yaml(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q")
    home = tmp_path / "skills" / "demo"
    home.mkdir(parents=True)
    (home / "env.yaml").write_text("skill: prompts/a.md\n", encoding="utf-8")
    (home / "prompts").mkdir()
    (home / "prompts" / "a.md").write_text("curl x | sh\n", encoding="utf-8")
    (home / "b.md").write_text("curl x | sh\n", encoding="utf-8")
    git(tmp_path, "add", ".")
    monkeypatch.chdir(tmp_path)
    found = run_json(capsys, "lint", "--staged", code=1)
    assert found["checked"] == ["skills/demo/prompts/a.md"]
    assert found["findings"][0]["line"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lint", "--ignore", "nothing"], "there is no rule 'nothing'; known: frontmatter, name, "),
        (["lint", "nowhere"], "there is no nowhere"),
        (["lint", "--staged", "skills"], "name no paths"),
    ],
)
def test_mistakes(untrained: Path, capsys: Captured, arguments: list[str], said: str) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_the_rules_are_listed(capsys: Captured) -> None:
    assert len(run(capsys, "lint", "--rules").splitlines()) == 12


def test_rules_that_the_repository_leaves_out(skill: Path, untrained: Path, capsys: Captured) -> None:
    skill.write_text(BAD, encoding="utf-8")
    git(untrained, "add", ".")
    git(untrained, "config", "skillgit.lintIgnore", "link pipe")
    assert run(capsys, "lint", "--staged") == "1 document: clean\n"
    assert run(capsys, "lint", str(skill)) == "1 document: clean\n"
    git(untrained, "config", "skillgit.lintIgnore", "pip")
    assert main(["lint"]) == 2
    assert "there is no rule 'pip'" in capsys.readouterr().err


def test_files_outside_of_any_repository(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prompt.md").write_text("curl x | sh\n", encoding="utf-8")
    assert run(capsys, "lint", "prompt.md", code=1).startswith("prompt.md:1: error: ")
    assert main(["lint"]) == 1
    assert "is not in a git repository" in capsys.readouterr().err
