from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from skillgit import env as environments
from skillgit.env import Environment, Trajectory
from skillgit.errors import ConfigError, TaskError
from skillgit.models.base import Message, Reply, Request, ToolCall, Usage
from tests.world import Scripted

MODELS = {"target": "openai:a", "optimizer": "openai:b"}


def make(
    folder: Path, env: dict[str, Any] | None = None, code: str = "", tasks: list[Any] | None = None
) -> Environment:
    folder.mkdir(exist_ok=True)
    (folder / "env.yaml").write_text(json.dumps({"models": MODELS, **(env or {})}), encoding="utf-8")
    rows = tasks or [
        {"id": f"{s}{n}", "input": f"{s} {n}?", "answer": f"{n}", "split": s, "hint": f"h{n}"}
        for s in ("train", "selection", "test")
        for n in range(5)
    ]
    (folder / "tasks.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    if code:
        (folder / "env.py").write_text(code, encoding="utf-8")
    return environments.load(folder)


def roll(env: Environment, answer: str, *, agent: bool = False) -> tuple[Trajectory, Request]:
    model = Scripted("openai:a", lambda request: answer, is_agent=agent)
    trajectory = asyncio.run(env.rollout(env.tasks()[0], "THE SKILL {input}", model))
    return trajectory, model.asked[0] if model.asked else Request(())


def test_a_rollout_is_asked_scored_and_kept(tmp_path: Path) -> None:
    env = make(tmp_path, {"prompt": {"system": "{skill}\nend", "user": "{input} ({hint})"}})
    trajectory, request = roll(env, " 0 ")
    assert [message.content for message in request.messages] == ["THE SKILL {input}\nend", "train 0? (h0)"]
    assert (trajectory.hard, trajectory.answer, trajectory.reason) == (1.0, "0", "")
    assert trajectory.messages[-1] == Message("assistant", " 0 ")


def test_a_failure_says_why(tmp_path: Path) -> None:
    env = make(tmp_path, {"answer": {"extract": "answer_tag"}})
    assert roll(env, "0")[0].reason == "the reply has no <answer> tag; expected '0', got ''"


def test_an_agent_gets_the_skill_as_a_file_and_not_in_the_prompt(tmp_path: Path) -> None:
    trajectory, request = roll(make(tmp_path), "0", agent=True)
    assert trajectory.hard == 1
    assert [message.role for message in request.messages] == ["user"]
    assert request.skill is not None
    assert request.skill.text == "THE SKILL {input}"


def test_a_trajectory_survives_json(tmp_path: Path) -> None:
    env = make(tmp_path)
    calls = (ToolCall("1", "f", "{}"),)
    kept = Trajectory(
        env.tasks()[0], 2, (Message("assistant", "é", ("a.png",), calls), Message("tool", "r", tool_call_id="1")),
        "out", "a", 0.0, 0.25, "why", usage=Usage(1, 2, 1, 0.5),
    )  # fmt: skip
    assert Trajectory.from_json(kept.to_json(), kept.task) == kept


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "def rollout(task, skill, model, env):\n    return 1 / 0\n",
            "rollout() (task 'train0') failed at env.py:2: ZeroDivisionError",
        ),
        ("def rollout(task, skill, model, env):\n    return 5\n", "must return text or a Trajectory, not int"),
        ("def score(task, answer):\n    return 'good'\n", "a score must be a number"),
    ],
)
def test_a_mistake_in_env_py_is_one_line_and_no_zero(tmp_path: Path, code: str, said: str) -> None:
    with pytest.raises(TaskError) as caught:
        roll(make(tmp_path, code=code), "x")
    assert said in caught.value.message


def test_env_py_that_does_not_load_names_its_line(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"env.py failed at env.py:1: ModuleNotFoundError"):
        make(tmp_path, code="import no_such_module\n")


def test_env_py_may_give_tasks_rollout_and_score(tmp_path: Path) -> None:
    code = (
        "SPLITS = ('train', 'selection', 'test')\ndef tasks(env):\n"
        "    return [{'id': f'{s}{n}', 'input': f'{s}{n}', 'split': s} for s in SPLITS for n in range(5)]\n"
        "async def rollout(task, skill, model, env):\n    return skill + task.id\n"
        "def score(task, answer):\n    return (answer.endswith(task.id), 0.5)\n"
    )
    env = make(tmp_path, code=code)
    assert len(env.splits().train) == 5
    trajectory = asyncio.run(env.rollout(env.tasks()[0], "S", Scripted("openai:a", lambda r: "unused")))
    assert (trajectory.output, trajectory.hard, trajectory.soft) == ("Strain0", 1.0, 0.5)


@pytest.mark.parametrize(
    ("env", "said"),
    [
        (
            {"prompt": {"user": "{inptu}"}},
            r"prompt.user uses \{inptu\}; known fields: answer, hint, id, input, skill, type",
        ),
        ({"prompt": {"user": " "}}, "prompt.user is empty"),
        ({"prompt": {"system": "no skill"}}, "the target would not see the skill"),
        ({"judge": {"kind": "number"}, "tasks": "words.jsonl"}, "fails the reference answer"),
        ({"gate": {"min_items": 6}}, "too few"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_spent(tmp_path: Path, env: dict[str, Any], said: str) -> None:
    words = [
        {"id": f"{s}{n}", "input": f"{s} {n}", "answer": "w", "split": s}
        for s in ("train", "selection", "test")
        for n in range(5)
    ]
    (tmp_path / "words.jsonl").write_text("\n".join(json.dumps(row) for row in words), encoding="utf-8")
    with pytest.raises((ConfigError, TaskError), match=said):
        make(tmp_path, env).splits()


def test_a_fingerprint_changes_with_prompt_judge_and_code_only(tmp_path: Path) -> None:
    base = make(tmp_path / "a").fingerprint
    assert make(tmp_path / "b", {"train": {"epochs": 9}}).fingerprint == base
    others = [
        make(tmp_path / "c", {"prompt": {"user": "{input}!"}}),
        make(tmp_path / "d", {"judge": {"kind": "contains"}}),
        make(tmp_path / "e", {"answer": {"extract": "last_line"}}),
        make(tmp_path / "f", code="X = 1\n"),
        make(tmp_path / "g", {"options": {"x": 1}}),
    ]
    assert len({base, *(env.fingerprint for env in others)}) == 6


def test_images_are_paths_in_the_folder_or_urls(tmp_path: Path) -> None:
    rows = [{"id": "a", "input": "x", "pics": ["p.png", "https://example.org/q.png"]}]
    env = make(tmp_path, {"prompt": {"images": "pics"}}, tasks=rows)
    images = env.render(env.tasks()[0], "s")[-1].images
    assert images == (str(tmp_path / "p.png"), "https://example.org/q.png")


def test_a_reply_that_was_cut_off_says_so(tmp_path: Path) -> None:
    env = make(tmp_path)
    trajectory = env.scored(env.tasks()[0], (), Reply("1", stop="length"))
    assert trajectory.reason.startswith("the reply was cut off by the output limit; expected '0'")
