"""What is written here is read by an independent implementation, the one that scripts around git use most."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import git

from skillgit.git.repo import Repo
from tests.git.training import Trainer


def test_gitpython_reads_the_history(repo: Callable[..., Path]) -> None:
    trainer = Trainer(repo())
    trainer.step("- eins ü", "- two", hard=0.6)
    trainer.step("- worse", hard=0.4)
    trainer.repo.close()
    with git.Repo(trainer.repo.git_dir.parent) as other:
        branch = other.heads["skill/demo"].commit
        assert branch.hexsha == trainer.tip
        assert branch.author == git.Actor("Ada Author", "author@example.org")
        assert branch.committed_datetime.isoformat() == "2025-06-15T17:06:40+02:00"
        assert branch.trailers_dict["Skill-Edit"] == ["2/2"]
        assert str(branch.parents[0].summary) == "demo: Say - eins ü"
        document = branch.tree / "skills/demo/SKILL.md"
        assert document.data_stream.read().decode().endswith("- eins ü\n- two\n")
        journal = git.Reference(other, trainer.history.journal_ref).commit
        assert [blob.name for blob in journal.tree.blobs] == [
            "candidate.md",
            "config.yaml",
            "patch.yaml",
            "record.yaml",
        ]
        notes = git.Reference(other, "refs/notes/skillgit/rejected").commit.tree
        assert (notes / trainer.tip[:2] / trainer.tip[2:]).data_stream.read().startswith(b"---\nrun: 1\n")


def test_what_gitpython_wrote_is_read_here(repo: Callable[..., Path]) -> None:
    folder = repo()
    with git.Repo(folder) as other:
        (folder / "skills/demo/SKILL.md").write_text("by GitPython ü\n", encoding="utf-8")
        other.index.add(["skills/demo/SKILL.md"])
        commit = other.index.commit("A person's edit ü\n\nBody.")
    with Repo.discover(folder) as found:
        assert found.read_file(commit.hexsha, "skills/demo/SKILL.md") == "by GitPython ü\n".encode()
        assert found.message(commit.hexsha) == "A person's edit ü\n\nBody."
