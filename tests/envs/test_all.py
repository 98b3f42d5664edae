"""What an environment has: a seed that is a valid skill, a README, a sample that can be trained on."""

from __future__ import annotations

import pytest

from skillgit import env
from skillgit.env_file import load_module
from skillgit.scaffold import summary_of
from skillgit.skill import check_document, frontmatter
from skillgit.stages.prompts import Prompts

BENCHMARKS = ("docvqa", "livemathematicianbench", "officeqa", "searchqa")
"""Those that need no package of their own."""
FOLDERS = {name: env.bundled()[name] for name in ("commit-type", "dates", *BENCHMARKS)}


@pytest.mark.parametrize("name", FOLDERS)
def test_an_environment_is_whole(name: str) -> None:
    folder = FOLDERS[name]
    loaded = env.load(folder)
    splits = loaded.splits()
    assert len(splits.selection) >= loaded.settings.gate.min_items
    seed = (folder / "SKILL.md").read_text(encoding="utf-8")
    check_document(seed, "SKILL.md")
    about = frontmatter(seed)
    assert about["name"] == name and 20 <= len(about["description"]) <= 1024
    assert not any(task.input in seed for task in loaded.tasks())
    assert 20 <= len(summary_of(folder)) <= 240
    assert Prompts(loaded.prompt).render("meta", {"after": "", "pairs": "", "before": "", "meta": ""})


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_says_whose_it_is_and_keeps_the_papers_settings(name: str) -> None:
    module = load_module(FOLDERS[name] / "prepare.py")
    assert module is not None and set(module.SIZES) == {"train", "selection", "test"} and len(module.LICENCE) > 3
    settings = env.load(FOLDERS[name]).settings
    edits, batch = settings.edits, (settings.train.epochs, settings.train.batch_size)
    assert (*batch, edits.budget, edits.min_budget, edits.schedule) == (4, 40, 4, 2, "cosine")
    assert (settings.gate.metric, settings.split.ratio) == ("hard", (2, 1, 7))
    text = (FOLDERS[name] / "README.md").read_text(encoding="utf-8")
    for part in ("**Source and licence.**", "**Like the paper's reference code:**", "**Known flaws.**"):
        assert part in text
    assert f"skillgit envs prepare {name}" in text


def test_no_file_that_prepare_made_is_bundled() -> None:
    assert not [
        path for folder in FOLDERS.values() for path in (folder / "data", folder / "prepared.json") if path.exists()
    ]
