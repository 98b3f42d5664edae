from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.errors import RepositoryError
from skillgit.git import signing
from skillgit.git.history import SkillHistory
from skillgit.git.repo import Repo
from skillgit.git.signing import check_signing
from skillgit.git.trailers import CommitMessage
from tests.repos import git

Factory = Callable[..., Path]


def ssh_signing(folder: Path, home: Path, passphrase: str = "") -> None:
    if not shutil.which("ssh-keygen"):
        pytest.skip("needs ssh-keygen")
    key = home / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", "x", "-f", str(key)], check=True, timeout=60
    )
    (home / "allowed").write_text(f"author@example.org,committer@example.org {key.with_suffix('.pub').read_text()}")
    git(folder, "config", "gpg.format", "ssh")
    git(folder, "config", "user.signingKey", str(key))
    git(folder, "config", "gpg.ssh.allowedSignersFile", str(home / "allowed"))
    git(folder, "config", "commit.gpgSign", "true")


def count_objects(folder: Path) -> int:
    return len(git(folder, "cat-file", "--batch-all-objects", "--batch-check").splitlines())


def test_training_commits_are_signed(repo: Factory, isolated: Path) -> None:
    folder = repo()
    ssh_signing(folder, isolated)
    with Repo.discover(folder) as found:
        check_signing(found)
        history = SkillHistory(found, "demo")
        start = history.start()
        messages = [CommitMessage("one", "Körper", {"Skill-Run": "1"}), CommitMessage("two")]
        first, second = history.edit_commits(start, ["a\n", "b\n"], messages)
        assert found.parents(second) == (first,)
        assert history.text(second) == "b\n"
    assert git(folder, "log", "--format=%G? %s|%an %cn %aI", "-2", second).splitlines() == [
        f"G demo: {word}|Ada Author Carl Committer 2025-06-15T17:06:40+02:00" for word in ("two", "one")
    ]
    assert git(folder, "log", "-1", "--format=%B", first) == "demo: one\n\nKörper\n\nSkill-Run: 1\n"


def test_never(repo: Factory, isolated: Path) -> None:
    folder = repo()
    ssh_signing(folder, isolated)
    with Repo.discover(folder) as found:
        history = SkillHistory(found, "demo", sign="never")
        (commit,) = history.edit_commits(history.start(), ["a\n"], [CommitMessage("x")])
        found.objects.flush()
    assert git(folder, "log", "-1", "--format=%G?", commit) == "N"


def test_off_by_default_costs_nothing(repo: Factory) -> None:
    with Repo.discover(repo()) as found:
        check_signing(found)
        assert not signing.wanted(found, "inherit")


def test_the_check_leaves_nothing_behind(repo: Factory, isolated: Path) -> None:
    folder = repo()
    ssh_signing(folder, isolated)
    before = count_objects(folder)
    with Repo.discover(folder) as found:
        check_signing(found)
    assert count_objects(folder) == before


def test_a_passphrase_is_not_asked_for(repo: Factory, isolated: Path) -> None:
    folder = repo()
    ssh_signing(folder, isolated, passphrase="secret")
    with Repo.discover(folder) as found, pytest.raises(RepositoryError, match="cannot sign training commits") as caught:
        check_signing(found)
    assert caught.value.hint == "-o git.sign=never"
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("script", "said"), [("echo no card >&2; exit 1", "failed to sign"), ("sleep 60", "did not end within 0.5 s")]
)
def test_a_failing_or_hanging_signer(
    repo: Factory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    folder = repo()
    signer = tmp_path / "signer"
    signer.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    signer.chmod(0o755)
    git(folder, "config", "gpg.program", str(signer))
    git(folder, "config", "commit.gpgsign", "yes")
    monkeypatch.setattr(signing, "SIGNER_TIMEOUT", 0.5)
    with Repo.discover(folder) as found:
        history = SkillHistory(found, "demo")
        with pytest.raises(RepositoryError, match=said) as caught:
            check_signing(found)
        assert caught.value.hint == "-o git.sign=never"
        with pytest.raises(RepositoryError, match=said):
            history.edit_commits(history.start(), ["a\n"], [CommitMessage("x")])
