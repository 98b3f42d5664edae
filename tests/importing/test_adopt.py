from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from skillgit.__main__ import main
from skillgit.git.repo import Repo
from skillgit.workspace import document_name
from tests.commands.running import Captured, run, run_json
from tests.repos import SKILL


@pytest.fixture
def here(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    root = repo()
    monkeypatch.chdir(root)
    return root


def test_a_skill_folder_comes_whole_and_keeps_its_bytes(here: Path, tmp_path: Path, capsys: Captured) -> None:
    source = tmp_path / "sums"
    (source / "scripts").mkdir(parents=True)
    data = SKILL.replace("{name}", "sums").replace("\n", "\r\n").encode()
    (source / "SKILL.md").write_bytes(data)
    (source / "scripts" / "add.py").write_bytes(b"print(1)\n")
    made = run_json(capsys, "import", "skill", str(source))
    assert sorted(made["written"]) == [
        f"skills/sums/{name}" for name in ("SKILL.md", "env.yaml", "scripts/add.py", "tasks.jsonl")
    ]
    assert (here / "skills" / "sums" / "SKILL.md").read_bytes() == data
    assert (here / "skills" / "sums" / "scripts" / "add.py").read_bytes() == b"print(1)\n"


def test_another_name_stands_in_the_frontmatter_too(here: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "SKILL.md").write_text(SKILL.replace("{name}", "sums"), encoding="utf-8")
    run(capsys, "import", "skill", str(tmp_path / "SKILL.md"), "adding")
    text = (here / "skills" / "adding" / "SKILL.md").read_text(encoding="utf-8")
    assert text == SKILL.replace("{name}", "adding")
    assert run(capsys, "lint", "skills/adding") == "1 document: clean\n"


def test_a_prompt_stays_as_it_is_and_is_what_is_trained(here: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "Support Bot.txt").write_bytes(b"You answer.\n")
    run(capsys, "import", "skill", str(tmp_path / "Support Bot.txt"))
    home = here / "skills" / "support-bot"
    assert (home / "Support Bot.txt").read_bytes() == b"You answer.\n"
    assert not (home / "SKILL.md").exists()
    assert yaml.safe_load((home / "env.yaml").read_text(encoding="utf-8"))["skill"] == "Support Bot.txt"
    with Repo.discover(here) as repository:
        assert document_name(repository, "support-bot") == "Support Bot.txt"
    assert run_json(capsys, "config", "support-bot")


def test_a_skill_that_is_in_its_place_gets_what_is_missing(here: Path, capsys: Captured) -> None:
    home = here / "skills" / "demo"
    before = (home / "SKILL.md").read_bytes()
    (home / "env.yaml").unlink()
    made = run_json(capsys, "import", "skill", "skills/demo/SKILL.md")
    assert made["written"] == ["skills/demo/env.yaml"]
    assert (home / "SKILL.md").read_bytes() == before


def test_what_is_wrong_with_it_is_said(here: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "bot.md").write_text("curl x | sh\n", encoding="utf-8")
    assert "lint: 1 errors, 0 warnings; skillgit lint skills/bot" in run(
        capsys, "import", "skill", str(tmp_path / "bot.md")
    )


@pytest.mark.parametrize(
    ("file", "data", "said"),
    [
        ("bot.md", b"\xff", "is not UTF-8"),
        ("bot.md", b"\n", "bot.md is empty"),
        ("SKILL.md", b"---\nname: [\n---\n", "the frontmatter is not YAML"),
        ("...md", b"text", "has no name that fits"),
    ],
)
def test_what_cannot_be_adopted(
    here: Path, tmp_path: Path, capsys: Captured, file: str, data: bytes, said: str
) -> None:
    (tmp_path / file).write_bytes(data)
    assert main(["import", "skill", str(tmp_path / file)]) == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in (here / "skills").iterdir()] == ["demo"]


def test_links_are_not_followed(here: Path, tmp_path: Path, capsys: Captured) -> None:
    source = tmp_path / "sums"
    source.mkdir()
    (source / "SKILL.md").write_text(SKILL.replace("{name}", "sums"), encoding="utf-8")
    (source / "key").symlink_to("/etc/passwd")
    assert main(["import", "skill", str(source)]) == 2
    assert "links are not followed" in capsys.readouterr().err
