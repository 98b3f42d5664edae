from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from skillgit import env, scaffold, tasks
from skillgit.env_file import load_module
from skillgit.errors import RepositoryError, TaskError
from skillgit.git.repo import Repo
from tests.repos import git

MakeRepo = Callable[..., Path]
ADA = "Ada <ada@example.org>"
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
mine: Any = load_module(env.bundled()["commit-type"] / "mine.py")


def history(folder: Path, commits: Sequence[tuple[str, ...]], *, bare: bool = False) -> Path:
    """A repository whose branch main holds commits of (subject, author, *paths), oldest first, then a merge of a side branch."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main", *(["--bare"] if bare else []))
    lines = []
    for number, (subject, author, *paths) in enumerate(commits):
        lines += ["commit refs/heads/main", f"author {author} {10**9 + number} +0000"]
        lines += [f"committer {author} {10**9 + number} +0000", f"data {len(subject.encode())}", subject]
        for path in paths:
            text = f"{number} {path}"
            lines += [f'M 100644 inline "{path}"', f"data {len(text.encode())}", text]
    lines += ["commit refs/heads/side", f"committer {ADA} 1 +0000", "data 4", "Side"]
    lines += ["commit refs/heads/main", f"committer {ADA} {2 * 10**9} +0000", "data 17", "feat: merged work"]
    lines += ["merge refs/heads/side", ""]
    stream = "\n".join(lines).encode()
    done = subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=stream, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return folder


def typed_commits(sizes: dict[str, int]) -> list[tuple[str, ...]]:
    return [
        (f"{kind}(scope): {word} {kind} {n} (#{n})", ADA, f"src/{word}.py", f"docs/{n}.md")
        for kind, size in sizes.items()
        for n, word in zip(range(size), WORDS * 9, strict=False)
    ]


def make(folder: Path) -> list[dict[str, Any]]:
    with Repo.discover(folder) as repo:
        found: list[dict[str, Any]] = mine.make_tasks(repo)
    return found


def test_a_history_becomes_balanced_tasks(tmp_path: Path) -> None:
    found = make(history(tmp_path / "r", typed_commits({"feat": 60, "fix": 30, "docs": 9, "ci": 3})))
    assert Counter(task["answer"] for task in found) == {"feat": mine.MOST_A_TYPE, "fix": 30, "docs": 9}
    assert all(task["choices"] == ["feat", "fix", "docs"] and task["type"] == task["answer"] for task in found)
    one = next(task for task in found if task["input"].startswith("alpha docs 0"))
    assert one["input"] == "alpha docs 0\n\nChanged files:\n  docs/0.md\n  src/alpha.py"
    assert [task["id"] for task in found] == sorted(task["id"] for task in found)


def test_the_same_history_gives_the_same_tasks_and_a_new_commit_moves_few(tmp_path: Path) -> None:
    commits = typed_commits({"feat": 60, "fix": 30})
    first = make(history(tmp_path / "a", commits))
    assert make(history(tmp_path / "b", commits, bare=True)) == first
    later = make(history(tmp_path / "c", [*commits, ("feat: one more", ADA, "x")]))
    assert len({task["id"] for task in first} - {task["id"] for task in later}) <= 1


def test_merges_bots_reverts_versions_and_repeated_subjects_are_left_out(tmp_path: Path) -> None:
    odd = [
        ("feat: by a bot", "dependabot[bot] <x@example.org>", "a"),
        ("fix: by another", "Renovate <renovate@example.org>", "a"),
        ("revert: feat: alpha", ADA, "a"),
        ('Revert "feat: alpha"', ADA, "a"),
        ("fixup! feat: alpha", ADA, "a"),
        ("chore(release): 1.2.3", ADA, "a"),
        ("feat: ALPHA feat 0 (#99)", ADA, "a"),
        ("no type at all", ADA, "a"),
        ("Fix!: loud and \u00e9 (closes #3, #4), see GH-5", ADA, "a b/\u00e9\t.py", *(f"p{n}" for n in range(9))),
    ]
    found = make(history(tmp_path / "r", [*typed_commits({"feat": 30, "fix": 20}), *odd]))
    assert Counter(task["answer"] for task in found) == {"feat": 30, "fix": 21}
    loud = next(task for task in found if task["input"].startswith("loud"))
    shown = "".join(f"\n  {path}" for path in ("a b/\u00e9\t.py", "p0", "p1", "p2", "p3"))
    assert loud["input"] == f"loud and \u00e9\n\nChanged files:{shown}"
    assert not any("merged work" in task["input"] for task in found)
    assert sum(task["input"].casefold().startswith("alpha feat 0\n") for task in found) == 1


@pytest.mark.parametrize(
    ("subject", "rest"),
    [
        ("fix: handle issue #12 in parser", "handle in parser"),
        ("fix: bump foo (closes #12) (#13)", "bump foo"),
        ("fix: bug in foo/bar#3 lookup", "bug in lookup"),
        ("fix: bad colour #ffffff (see docs)", "bad colour #ffffff (see docs)"),
        ("fix:nothing after the colon", None),
        ("fix: #12", None),
        ("chore: release v2.0", None),
        ("a fix: of words", None),
    ],
)
def test_what_is_left_of_a_subject(subject: str, rest: str | None) -> None:
    commit = mine.typed("o", subject)
    assert (commit and commit.subject) == rest


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({}, "too few typed commits among 2 (found: none); needed are 40 in all, and two types with 8 or more"),
        ({"feat": 20, "fix": 19}, "among 40 (found: feat 20, fix 19)"),
        ({"feat": 60, "fix": 7}, "among 68 (found: feat 60, fix 7)"),
    ],
)
def test_too_little_history_says_what_was_found_and_needed(tmp_path: Path, sizes: dict[str, int], said: str) -> None:
    folder = history(tmp_path / "r", typed_commits(sizes) or [("Start", ADA, "a")])
    with pytest.raises(TaskError) as caught:
        make(folder)
    assert said in caught.value.message
    assert str(folder) in caught.value.message


def test_a_shallow_clone_is_told_how_to_get_its_history(tmp_path: Path) -> None:
    origin = history(tmp_path / "r", typed_commits({"feat": 60}))
    git(tmp_path, "clone", "-q", "--depth", "2", origin.as_uri(), "shallow")
    with pytest.raises(TaskError) as caught:
        make(tmp_path / "shallow")
    assert caught.value.hint == "git fetch --unshallow"


def test_the_users_settings_of_git_change_nothing(tmp_path: Path) -> None:
    folder = history(tmp_path / "r", typed_commits({"feat": 30, "fix": 20}))
    first = make(folder)
    for key, value in (
        ("log.showSignature", "true"), ("diff.renames", "copies"), ("core.quotePath", "true"), ("color.ui", "always"),
        ("log.decorate", "full"), ("i18n.logOutputEncoding", "latin-1"), ("diff.relative", "true"), ("log.follow", "true"),
    ):  # fmt: skip
        git(folder, "config", key, value)
    git(folder, "checkout", "-q", "main")
    assert make(folder / "src") == first


def test_init_mines_checks_and_splits(tmp_path: Path, repo: MakeRepo) -> None:
    source, root = history(tmp_path / "r", typed_commits({"feat": 50, "fix": 50, "docs": 50})), repo("other")
    with Repo.discover(root) as found:
        made = scaffold.init(found, "types", env="commit-type", from_repo=str(source))
    assert made.notes[0].startswith(f"120 tasks from {source} (docs 40, feat 40, fix 40): train ")
    loaded = env.load(root / "skills" / "types")
    assert len(loaded.tasks()) == 120
    splits = loaded.splits()
    assert min(len(splits.train), len(splits.selection), len(splits.test)) >= 20


def test_a_folder_without_a_repository_is_one_line(tmp_path: Path, repo: MakeRepo) -> None:
    with Repo.discover(repo("other")) as found, pytest.raises(RepositoryError, match="is not in a git repository"):
        scaffold.init(found, "types", env="commit-type", from_repo=str(tmp_path))


def test_the_sample_is_sound_and_even() -> None:
    folder = env.bundled()["commit-type"]
    loaded = env.load(folder)
    splits = loaded.splits()
    assert (len(splits.train), len(splits.selection), len(splits.test)) == (30, 12, 18)
    assert set(Counter(task.type for task in loaded.tasks()).values()) == {10}


SHARED = Path(__file__).parents[2] / "shared" / "benchdata" / "commit-type" / "tasks.jsonl"


@pytest.mark.skipif(not SHARED.is_file(), reason="the shared sample data is not here")
def test_the_shared_commits_can_be_trained_on(tmp_path: Path) -> None:
    """Its records have no list of choices, as those mined here do: the answers are the set."""
    folder = env.bundled()["commit-type"]
    (tmp_path / "env.yaml").write_bytes((folder / "env.yaml").read_bytes())
    (tmp_path / "tasks.jsonl").write_bytes(SHARED.read_bytes())
    records = [json.loads(line) for line in SHARED.read_text(encoding="utf-8").splitlines()]
    kinds = json.dumps(sorted({record["answer"] for record in records}))
    loaded = env.load(tmp_path, [f"judge.choices={kinds}"])
    assert loaded.splits().selection
    assert tasks.make_tasks(records, "") == loaded.tasks()
