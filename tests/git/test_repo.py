from __future__ import annotations

import os
import select
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.errors import RepositoryError
from skillgit.git.repo import Repo
from tests.repos import git, make_repo

SKILL = "skills/demo/SKILL.md"
Factory = Callable[..., Path]


def test_discover_from_below(repo: Factory) -> None:
    folder = repo()
    with Repo.discover(folder / "skills" / "demo") as found:
        assert found.work_tree == folder
        assert (found.git_dir, found.worktree_dir) == (folder / ".git", folder / ".git")
        assert (found.bare, found.shallow, found.object_format) == (False, False, "sha1")
        assert found.head == git(folder, "rev-parse", "HEAD")
        assert found.state_dir == folder / ".git" / "skillgit"


def test_outside_a_repository(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="is not in a git repository") as caught:
        Repo.discover(tmp_path)
    assert caught.value.hint == "git init"
    with pytest.raises(RepositoryError, match="absent"):
        Repo.discover(tmp_path / "absent")


def test_no_git(repo: Factory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repo()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RepositoryError, match="git is not installed"):
        Repo.discover(folder)


def test_somebody_elses_repository(repo: Factory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repo()
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(RepositoryError, match="belongs to another user") as caught:
        Repo.discover(folder)
    assert caught.value.hint == f"git config --global --add safe.directory '{folder}'"


def test_a_path_with_spaces_and_other_scripts(repo: Factory) -> None:
    folder = repo(folder="mit Leerzeichen/日本 'x'")
    with Repo.discover(folder) as found:
        assert found.work_tree == folder
        assert found.read_file(found.head or "", SKILL)
        assert found.worktrees()[0].path == folder


def test_bare(repo: Factory, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repo()), "bare.git")
    with Repo.discover(tmp_path / "bare.git") as found:
        assert found.bare
        assert found.work_tree is None
        assert found.head and found.read_file(found.head, SKILL)
        assert found.worktrees() == []


def test_linked_worktree(repo: Factory, tmp_path: Path) -> None:
    folder = repo()
    git(folder, "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    git(tmp_path / "linked", "commit", "-q", "--allow-empty", "-m", "Only here")
    with Repo.discover(tmp_path / "linked") as found:
        assert found.git_dir == folder / ".git"
        assert found.worktree_dir == folder / ".git" / "worktrees" / "linked"
        assert found.head == git(tmp_path / "linked", "rev-parse", "HEAD") != git(folder, "rev-parse", "HEAD")
        assert {tree.branch for tree in found.worktrees()} == {"refs/heads/main", "refs/heads/other"}


def test_shallow(repo: Factory, tmp_path: Path) -> None:
    folder = repo()
    git(folder, "commit", "-q", "--allow-empty", "-m", "Second")
    git(tmp_path, "clone", "-q", "--depth=1", folder.as_uri(), "shallow")
    with Repo.discover(tmp_path / "shallow") as found:
        assert found.shallow


def test_unborn_and_detached_head(tmp_path: Path, repo: Factory) -> None:
    git(tmp_path, "init", "-q", "empty")
    with Repo.discover(tmp_path / "empty") as found:
        assert found.head is None
    folder = repo()
    git(folder, "switch", "-q", "--detach")
    with Repo.discover(folder) as found:
        assert found.head == git(folder, "rev-parse", "main")
        assert [tree.branch for tree in found.worktrees()] == [None]


def test_the_environment_of_a_hook_does_not_redirect(
    repo: Factory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run for one repository out of a hook of another one."""
    folder, other = repo(), make_repo(tmp_path / "other", "demo", skill="other\n")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other / ".git" / "objects"))
    with Repo.discover(folder) as found:
        head = found.head
        assert found.git_dir == folder / ".git"
        assert head and found.read_file(head, SKILL) != b"other\n"
        oid = found.write_blob(b"into folder")
        found.objects.flush()
    assert (folder / ".git" / "objects" / oid[:2] / oid[2:]).exists()


def test_git_dir_is_heeded_for_the_current_folder(
    repo: Factory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = repo()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_DIR", str(folder / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(folder))
    with Repo.discover() as found:
        assert (found.git_dir, found.work_tree) == (folder / ".git", folder)


def test_inside_a_real_hook(repo: Factory) -> None:
    """A pre-commit hook sets GIT_INDEX_FILE and GIT_DIR; objects and index of the commit under way stay as they are."""
    folder = repo()
    program = "from skillgit.git.repo import Repo; r = Repo.discover(); print(r.work_tree, r.head); r.close()"
    hook = folder / ".git" / "hooks" / "post-commit"
    hook.write_text(f'#!/bin/sh\n"{sys.executable}" -c "{program}" > seen.txt 2>&1\n', encoding="utf-8")
    hook.chmod(0o755)
    root = str(Path(__file__).parents[2])
    (folder / SKILL).write_text("new\n", encoding="utf-8")
    git(folder, "commit", "-qam", "Change", PYTHONPATH=root)
    assert (folder / "seen.txt").read_text(encoding="utf-8") == f"{folder} {git(folder, 'rev-parse', 'HEAD')}\n"


def test_resolve(repo: Factory) -> None:
    folder = repo()
    git(folder, "tag", "-a", "-m", "Tagged", "v1")
    with Repo.discover(folder) as found:
        head = git(folder, "rev-parse", "HEAD")
        for rev in ("HEAD", "main", "refs/heads/main", "v1", head, head[:8], "HEAD@{0}", ":/Start"):
            assert found.resolve(rev) == head
        for rev in ("nothing", "HEAD~5", "", "two words", "a\nb", "-x", "f" * 40):
            assert found.resolve(rev) is None


def test_an_ambiguous_revision(repo: Factory) -> None:
    with Repo.discover(repo()) as found:
        starts = Counter(found.write_blob(str(n).encode())[:4] for n in range(1000))
        found.objects.flush()
        short, count = starts.most_common(1)[0]
        assert count > 1
        with pytest.raises(RepositoryError, match=f"'{short}' is ambiguous"):
            found.resolve(short)


def test_damaged_refs(repo: Factory) -> None:
    folder = repo()
    heads = folder / ".git" / "refs" / "heads"
    (heads / "garbage").write_text("garbage\n", encoding="utf-8")
    (heads / "dangling").write_text("1" * 40 + "\n", encoding="utf-8")
    with Repo.discover(folder) as found:
        with pytest.raises(RepositoryError, match="the ref refs/heads/garbage is damaged"):
            found.ref("refs/heads/garbage")
        with pytest.raises(RepositoryError, match="refs/heads/dangling points to 1111"):
            found.ref("refs/heads/dangling")
        assert found.ref("refs/heads/absent") is None
        assert found.ref("refs/heads/main") == found.head


def test_replace_file_keeps_mode_and_neighbours(repo: Factory) -> None:
    folder = repo()
    (folder / SKILL).chmod(0o755)
    git(folder, "commit", "-qam", "Executable")
    with Repo.discover(folder) as found:
        head = found.head or ""
        blob = found.write_blob(b"new\r\n")
        commit = found.write_commit(found.replace_file(head, SKILL, blob), [head], "Replace")
        assert found.file_mode(commit, SKILL) == "100755"
        assert found.read_file(commit, SKILL) == b"new\r\n"
        assert found.read_file(commit, "skills/demo/nothing") is None
        assert found.git("diff-tree", "-r", "--name-only", head, commit).text == SKILL


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a//b", ".git/config", "a/.GIT/x", "", "a/./b", "a\0b"])
def test_paths_outside(repo: Factory, path: str) -> None:
    with Repo.discover(repo()) as found, pytest.raises(RepositoryError, match="is not a path inside the repository"):
        found.read_file(found.head or "", path)


def test_links_folders_and_submodules_are_refused(repo: Factory) -> None:
    folder = repo()
    head = git(folder, "rev-parse", "HEAD")
    (folder / "link.md").symlink_to("/etc/passwd")
    (folder / "linked").symlink_to("skills")
    git(folder, "add", ".")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{head},sub.md")
    git(folder, "commit", "-qm", "Odd")
    cases = {
        "link.md": "link.md is a symbolic link, not a regular file",
        "linked/demo/SKILL.md": "linked is a symbolic link, not a folder",
        "skills/demo": "skills/demo is a folder, not a regular file",
        "sub.md": "sub.md is a submodule, not a regular file",
        "skills/demo/SKILL.md/x": "skills/demo/SKILL.md is a file, not a folder",
    }
    with Repo.discover(folder) as found:
        for path, message in cases.items():
            with pytest.raises(RepositoryError, match=message):
                found.replace_file(found.head or "", path, found.write_blob(b"x"))


def test_names_that_differ_in_case_only_are_refused(repo: Factory) -> None:
    folder = repo()
    blob = git(folder, "rev-parse", f"HEAD:{SKILL}")
    for twin in ("Skills/demo/SKILL.md", "skills/demo/cafe\u0301.md", "skills/demo/caf\u00e9.md"):
        git(folder, "update-index", "--add", "--cacheinfo", f"100644,{blob},{twin}")
    git(folder, "commit", "-qm", "Twins")
    with Repo.discover(folder) as found:
        with pytest.raises(RepositoryError, match="skills: 'Skills' and 'skills' differ only in case"):
            found.read_file(found.head or "", SKILL)
        git(folder, "rm", "-q", "--cached", "Skills/demo/SKILL.md")
        git(folder, "commit", "-qm", "No twin folder")
        assert found.read_file(found.head or "", SKILL)
        with pytest.raises(RepositoryError, match="differ only in case or Unicode form"):
            found.read_file(found.head or "", "skills/demo/caf\u00e9.md")


def test_line_endings_are_bytes(repo: Factory) -> None:
    folder = repo(skill=b"a\r\nb\r\n\xef\xbb\xbf")
    git(folder, "config", "core.autocrlf", "true")
    (folder / ".gitattributes").write_text("* text=auto eol=crlf\n", encoding="utf-8")
    with Repo.discover(folder) as found:
        oid = found.write_blob(b"x\r\ny\n")
        found.objects.flush()
        assert found.git("cat-file", "blob", oid).stdout == b"x\r\ny\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
def test_a_git_that_hangs_is_ended_with_its_children(repo: Factory, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with Repo.discover(repo()) as found, pytest.raises(RepositoryError, match=r"git wait did not end within 0\.5 s"):
        found.git("-c", f"alias.wait=!echo on > '{pipe}'; sleep 60 > '{pipe}'", "wait", timeout=0.5)
    os.set_blocking(reading, True)
    assert os.read(reading, 10) == b"on\n"
    assert select.select([reading], [], [], 20)[0], "the sleeping grandchild still lives"
    assert os.read(reading, 10) == b""  # the end of the pipe: nobody can write any more
    os.close(reading)


def test_a_failing_git_is_one_line(repo: Factory) -> None:
    with Repo.discover(repo()) as found, pytest.raises(RepositoryError) as caught:
        found.git("merge-base", "HEAD", "nothing")
    assert caught.value.message == "git merge-base: Not a valid object name nothing"


def test_a_read_only_repository(repo: Factory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repo()
    (folder / ".git" / "skillgit").write_text("a file in the way", encoding="utf-8")
    with Repo.discover(folder) as found, pytest.raises(RepositoryError, match=r"cannot write in .*File exists"):
        assert found.state_dir


def test_a_ref_that_is_made_between_two_questions_is_found(
    repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two skills share the notes refs: the other one may make such a ref right after it was looked up in vain."""
    root = repo()
    head = git(root, "rev-parse", "HEAD")
    with Repo.discover(root) as opened:
        refs = opened.refs

        def made_meanwhile(prefix: str) -> dict[str, str]:
            git(root, "update-ref", "refs/notes/skillgit/scores", head)
            return refs(prefix)

        monkeypatch.setattr(opened, "refs", made_meanwhile)
        assert opened.ref("refs/notes/skillgit/scores") == head
