from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgit import config, env, scaffold
from skillgit.commented import env_yaml
from skillgit.errors import ConfigError, RepositoryError, TaskError
from skillgit.git.repo import Repo
from skillgit.judges import JUDGES
from skillgit.skill import frontmatter
from skillgit.useryaml import parse
from tests.repos import git

MakeRepo = Callable[..., Path]


@pytest.fixture
def root(repo: MakeRepo) -> Path:
    return repo("other")


def made(root: Path, name: str = "demo", **options: str) -> scaffold.Made:
    with Repo.discover(root) as found:
        return scaffold.init(found, name, **options)


def uncommented(text: str) -> str:
    """Every key in force, without the header and without the options of all judges at once."""
    body = text.split("\n\n", 1)[1].replace("    # and every other key of target\n", "")
    body = re.sub(r"(?m)^  # (?!    ).*\n", "", body)  # the judges' options
    return re.sub(r"(?m)^( *)# (?= *[a-z_]+:(?: |$))", r"\1", body)


def test_a_new_skill_can_be_loaded_and_says_what_is_missing(root: Path) -> None:
    found = made(root)
    assert found.written == tuple(f"skills/demo/{name}" for name in ("SKILL.md", "env.yaml", "tasks.jsonl"))
    folder = root / "skills" / "demo"
    assert frontmatter((folder / "SKILL.md").read_text(encoding="utf-8"))["name"] == "demo"
    loaded = env.load(folder)
    assert [task.answer for task in loaded.tasks()] == ["5", "6"]


def test_every_key_is_in_a_new_env_yaml_with_its_default() -> None:
    text = env_yaml("demo")
    active, everything = config.parse(parse(text)), config.parse(parse(uncommented(text)))
    assert everything.settings == active.settings
    assert {key for key, _, origin in everything.rows() if origin == "default"} == {
        *(f"models.optimizer.{key}" for key in config.ModelSettings.model_fields if key != "model"),
        "models.judge",
        *(f"tasks.{split}" for split in ("train", "selection", "test")),
    }
    assert [(key, origin) for key, _, origin in active.rows() if origin != "default"] == [
        ("judge.kind", "env.yaml"),
        ("models.target.model", "env.yaml"),
        ("models.optimizer.model", "env.yaml"),
    ]


def test_every_option_of_every_judge_is_in_a_new_env_yaml() -> None:
    text = env_yaml("demo")
    for kind, judge in JUDGES.items():
        for name, field in judge.model_fields.items():
            line = re.search(rf"(?m)^  # ({name}: \S+) +# {kind}: {re.escape(str(field.description)[:30])}", text)
            assert line, (kind, name)
            options = parse(line[1])
            default = "NAME" if field.is_required() else field.get_default(call_default_factory=True)
            assert options[name] == (list(default) if isinstance(default, tuple) else default)


@pytest.mark.parametrize("name", ["2048", "on", "null", "1e5", "2024-01-01"])
def test_a_name_that_yaml_would_not_take_for_text_is_quoted(root: Path, name: str) -> None:
    made(root, name)
    made(root, f"{name}-b", env="commit-type")
    for folder in (name, f"{name}-b"):
        text = (root / "skills" / folder / "SKILL.md").read_text(encoding="utf-8")
        assert frontmatter(text)["name"] == folder


def test_a_bundled_environment_is_copied_under_the_new_name(root: Path) -> None:
    found = made(root, "types", env="commit-type")
    assert set(found.written) == {f"skills/types/{name}" for name in ("SKILL.md", "env.yaml", "tasks.jsonl")}
    folder, source = root / "skills" / "types", env.bundled()["commit-type"]
    text = (folder / "SKILL.md").read_text(encoding="utf-8")
    assert text == (source / "SKILL.md").read_text(encoding="utf-8").replace("name: commit-type", "name: types", 1)
    assert (folder / "env.yaml").read_bytes() == (source / "env.yaml").read_bytes()
    assert env.load(folder).splits().selection


@pytest.mark.parametrize(
    ("skill", "expected"),
    [
        (b"---\nname: a\nx: 1\n---\nname: b\n", b"---\nname: new\nx: 1\n---\nname: b\n"),
        (b"---\r\nx: 1\r\nname:   'a b'\r\n---\r\n", b"---\r\nx: 1\r\nname:   new\r\n---\r\n"),
        (b"\xef\xbb\xbf---\nname: a\n---\n", b"\xef\xbb\xbf---\nname: new\n---\n"),
        (b"---\nx: 1\n---\n\nname: b\n", b"---\nx: 1\n---\n\nname: b\n"),
        (b"# no frontmatter\nname: b\n", b"# no frontmatter\nname: b\n"),
    ],
)
def test_only_the_name_in_the_frontmatter_changes(skill: bytes, expected: bytes) -> None:
    assert scaffold.renamed(skill, "new") == expected


def test_nothing_is_ever_overwritten(root: Path) -> None:
    folder = root / "skills" / "demo"
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(b"mine\r\n")
    (folder / "env.yaml").symlink_to(folder / "nowhere")
    found = made(root)
    assert (found.written, found.kept) == (
        ("skills/demo/tasks.jsonl",),
        ("skills/demo/SKILL.md", "skills/demo/env.yaml"),
    )
    assert (folder / "SKILL.md").read_bytes() == b"mine\r\n"
    assert not (folder / "nowhere").exists()
    assert made(root).written == ()


def test_init_touches_nothing_but_its_folder(root: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    made(root, "demo", env="commit-type")
    assert git(root, "status", "--porcelain") == "?? skills/demo/"
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"name": "No Name"}, "is not a skill name"),
        ({"env": "none"}, "there is no bundled environment 'none'; known: commit-type"),
        ({"from_repo": "."}, "--from-repo needs --env"),
        ({"name": "file"}, "skills/file is no plain folder"),
        ({"name": "link"}, "skills/link is no plain folder"),
    ],
)
def test_what_init_refuses(root: Path, options: dict[str, Any], said: str) -> None:
    (root / "skills" / "file").write_text("x", encoding="utf-8")
    (root / "skills" / "link").symlink_to(root)
    before = sorted(root.rglob("*"))
    with pytest.raises(ConfigError) as caught:
        made(root, **options)
    assert said in caught.value.message
    assert sorted(root.rglob("*")) == before


def test_a_bare_repository_has_nowhere_to_write(root: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(root), "bare.git")
    with pytest.raises(RepositoryError, match="a bare repository has no working tree"):
        made(tmp_path / "bare.git")


def plugin(monkeypatch: pytest.MonkeyPatch, folder: Path, mine: str) -> None:
    folder.mkdir()
    models = {"target": "openai:a", "optimizer": "openai:b"}
    (folder / "env.yaml").write_text(yaml.safe_dump({"models": models, "split": {"ratio": "1:1:1"}}), encoding="utf-8")
    if mine:
        (folder / "mine.py").write_text(mine, encoding="utf-8")
    monkeypatch.setattr(env, "bundled", lambda: {"own": folder})


def test_any_environment_may_make_tasks_from_a_repository(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "def make_tasks(repo):\n    head = repo.git('log', '--format=%s').text\n"
        "    return ({'id': n, 'input': f'{head} {n}', 'answer': 'é', 'type': 'odd' if n % 2 else 'even'} for n in range(60))\n"
    )
    plugin(monkeypatch, tmp_path / "own", code)
    found = made(root, env="own", from_repo=str(root))
    tasks = env.load(root / "skills" / "demo").tasks()
    assert (tasks[3].input, tasks[3].answer, len(tasks)) == ("Start 3", "é", 60)
    assert found.written == ("skills/demo/env.yaml", "skills/demo/tasks.jsonl")
    assert re.fullmatch(r"60 tasks from \S+ \(even 30, odd 30\): train \d+, selection \d+, test \d+", found.notes[0])


@pytest.mark.parametrize(
    ("mine", "said"),
    [
        ("", "the environment 'own' cannot make tasks from a repository"),
        (
            "def make_tasks(repo):\n    return 1 / 0\n",
            "make_tasks() failed at mine.py:2 in make_tasks: ZeroDivisionError",
        ),
        ("def make_tasks(repo):\n    return [{'id': 1}]\n", "mine.py: task 1: the task has no 'input'; it has id"),
        ("def make_tasks(repo):\n    return [{'id': 1, 'input': 'x'}]\n", "1 task is too few"),
    ],
)
def test_nothing_is_written_when_no_tasks_can_be_made(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mine: str, said: str
) -> None:
    plugin(monkeypatch, tmp_path / "own", mine)
    with pytest.raises((ConfigError, TaskError), match=re.escape(said)):
        made(root, env="own", from_repo=str(root))
    assert not (root / "skills" / "demo").exists()


def test_tasks_that_are_there_are_not_mined_anew(root: Path) -> None:
    made(root, env="commit-type")
    with pytest.raises(ConfigError, match="exists and is never overwritten"):
        made(root, env="commit-type", from_repo=str(root))


def test_a_summary_is_the_first_sentence_of_a_readme(tmp_path: Path) -> None:
    assert scaffold.summary_of(tmp_path) == ""
    (tmp_path / "README.md").write_text("# T\n\n> quote\n\nDoes this. And that.\n", encoding="utf-8")
    assert scaffold.summary_of(tmp_path) == "Does this"
