"""The environment of the demo: its tasks, its splits, and that a skill moves the real model."""

from __future__ import annotations

import asyncio
import calendar
import importlib.util
import re
from collections import Counter
from datetime import date
from pathlib import Path
from types import ModuleType

import pytest
from dateutil import parser

from skillgit import env
from skillgit.env import Environment
from skillgit.models.local import LocalModel
from skillgit.skill import check_document, frontmatter

FOLDER = Path(__file__).parents[1] / "envs" / "dates"
MONTHS = [name.lower() for name in calendar.month_abbr]
SKILL = (FOLDER / "SKILL.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def dates() -> Environment:
    return env.load(FOLDER)


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", FOLDER / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tasks_are_what_the_generator_makes(generate: ModuleType) -> None:
    assert (FOLDER / "tasks.jsonl").read_text(encoding="utf-8") == generate.text()
    assert generate.text(seed=1) != generate.text(seed=2)


def test_splits_are_balanced_and_share_no_date(dates: Environment) -> None:
    splits = dates.splits()
    assert [len(split) for split in (splits.train, splits.selection, splits.test)] == [56, 28, 56]
    for split in (splits.train, splits.selection, splits.test):
        assert len(set(Counter(task.type for task in split).values())) == 1
    answers = [task.answer for task in dates.tasks()]
    assert len(set(answers)) == len(answers)


def test_every_answer_is_the_day_that_its_task_names(dates: Environment) -> None:
    for task in dates.tasks():
        text = re.sub(r"'(\d\d)$", r"19\1", task.input)
        day = parser.parse(text.removeprefix("the ").replace(" of ", " "), dayfirst=task.type == "figures").date()
        year, month, number = task.answer.split(":")
        assert day == date(int(year), MONTHS.index(month), int(number))
        assert 1930 <= day.year <= 1999 and len(number) == 2


def test_figures_can_be_read_in_one_way(dates: Environment) -> None:
    figures = [task.input for task in dates.tasks() if task.type == "figures"]
    assert figures and all(int(text.split("/")[0]) > 12 >= int(text.split("/")[1]) for text in figures)


def test_the_seed_is_a_valid_skill_that_does_not_tell_the_format(dates: Environment) -> None:
    check_document(SKILL, "SKILL.md")
    about = frontmatter(SKILL)
    assert set(about) == {"name", "description"}
    assert about["name"] == FOLDER.name and 20 <= len(about["description"]) <= 1024
    assert not re.search(r"\d|:\w", SKILL.split("---")[2])
    assert not any(task.input in SKILL or task.answer in SKILL for task in dates.tasks())


def test_it_needs_no_key(dates: Environment) -> None:
    models = dates.settings.models
    assert models.target.model == "local:qwen2.5-coder-0.5b" and models.optimizer.model == "builtin:induce"


@pytest.mark.model
def test_a_skill_moves_the_real_model(dates: Environment, local_model: Path) -> None:
    """On test tasks: nothing with the seed, most with a form and two examples, as the built-in optimizer writes them."""
    settings = dates.settings.models.target.model_copy(update={"extra": {"n_threads": 1}})
    tasks = [task for task in dates.splits().test if task.type in ("month-first", "weekday", "iso")][:9]
    lesson = (
        "\n- Write the answer in the form of `1950:jul:08`: 4 digits, `:`, 3 small letters, `:`, 2 digits.\n"
        "- Example: `1931-12-23` → `1931:dec:23`\n- Example: `Friday, April 10th 1953` → `1953:apr:10`\n"
    )

    async def score(skill: str) -> float:
        return sum([(await dates.rollout(task, skill, model)).hard for task in tasks])

    async def both() -> tuple[float, float]:
        try:
            return await score(SKILL), await score(SKILL + lesson)
        finally:
            await model.close()

    model = LocalModel(settings, str(local_model))
    before, after = asyncio.run(both())
    assert before == 0 and after >= 6
