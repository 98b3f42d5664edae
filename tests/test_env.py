from __future__ import annotations

import asyncio
import json
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from skillgit import env as environments
from skillgit.env import Environment, Trajectory
from skillgit.errors import ConfigError, ProviderError, TaskError
from skillgit.models.base import Message, Reply, Request, ToolCall, Usage
from tests.world import Scripted

MODELS = {"target": "openai:a", "optimizer": "openai:b"}
ROWS = [
    {"id": f"{s}{n}", "input": f"{s} {n}?", "answer": f"{n}", "split": s, "hint": f"h{n}"}
    for s in ("train", "selection", "test")
    for n in range(5)
]


def make(
    folder: Path, env: dict[str, Any] | None = None, code: str = "", tasks: list[Any] | None = None
) -> Environment:
    folder.mkdir(exist_ok=True)
    (folder / "env.yaml").write_text(json.dumps({"models": MODELS, **(env or {})}), encoding="utf-8")
    (folder / "tasks.jsonl").write_text("\n".join(json.dumps(row) for row in tasks or ROWS), encoding="utf-8")
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
            "rollout() (task 'train0') failed at env.py:2 in rollout: ZeroDivisionError: division by zero",
        ),
        ("def rollout(task, skill, model, env):\n    return 5\n", "must return text, a Reply or a Trajectory, not 5"),
        (
            "import json\nasync def rollout(task, skill, model, env):\n    return clean('{')\n"
            "def clean(text):\n    return json.loads(text)\n",
            "failed at env.py:5 in clean: JSONDecodeError",
        ),
        (
            "from skillgit.env import Trajectory\ndef rollout(task, skill, model, env):\n"
            "    return Trajectory(task, hard=0.5)\n",
            "hard must be 0 or 1",
        ),
        ("def rollout(task, skill, model, env):\n    raise SystemExit(3)\n", "env.py:2 in rollout: SystemExit: 3"),
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
            r"prompt.user uses \{inptu\}; known fields: empty, hint, id, input, picture, skill, type",
        ),
        ({"prompt": {"user": " "}}, "prompt.user is empty"),
        ({"prompt": {"user": "Answer."}}, "the prompt uses no field of a task"),
        ({"prompt": {"user": "{empty}"}}, "the prompt of task 'train0' is empty"),
        ({"prompt": {"user": "{answer}?"}}, "the target must not see the reference answer"),
        ({"prompt": {"images": "pics"}}, "prompt.images names 'pics', which no task has"),
        ({"prompt": {"images": "picture"}}, "task 'test4': there is no image .*none.png"),
        ({"judge": {"kind": "regex", "field": "empty"}}, "task 'train0', field 'empty': the pattern is empty"),
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
        make(tmp_path, env, tasks=[*ROWS[:-1], {**ROWS[-1], "empty": "", "picture": "none.png"}]).splits()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("tasks = []\n", "'tasks' must be a plain function tasks(env)"),
        ("def rollout(task, skill):\n    return ''\n", "must take what it is given: rollout(task, skill, model, env)"),
        ("async def score(task, answer):\n    return 1\n", "'score' must be a plain function score(task, answer)"),
        ("def score(:\n", "env.py failed at env.py:1: SyntaxError"),
        ("from .helper import nothing\n", "env.py failed at env.py:1: ImportError"),
        ("import helper\n", "env.py failed at env.py:1: ModuleNotFoundError"),
    ],
)
def test_a_broken_env_py_is_told_when_it_is_loaded(tmp_path: Path, code: str, said: str) -> None:
    (tmp_path / "helper.py").write_text("X = 1\n", encoding="utf-8")
    with pytest.raises((ConfigError, TaskError)) as caught:
        make(tmp_path, code=code)
    assert said in caught.value.message


def test_a_prompt_of_the_optimizer_can_be_overridden_and_none_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "merge.md").write_text("Join é", encoding="utf-8")
    env = make(tmp_path)
    assert (env.prompt("merge"), env.prompt("slow")) == ("Join é", None)
    (tmp_path / "prompts" / "merge.md").write_bytes(b"\xe9")
    with pytest.raises(ConfigError, match=r"merge.md: byte 0 is not UTF-8"):
        env.prompt("merge")
    (tmp_path / "prompts" / "refelct.md").write_text("x", encoding="utf-8")
    with pytest.raises(
        ConfigError, match=r"prompts/refelct.md: there is no such stage; the stages are reflect_failure"
    ):
        make(tmp_path)
    assert make(tmp_path, code="X = 1\n").prompt("slow") is None


def test_a_score_of_env_py_that_an_empty_answer_passes_is_refused(tmp_path: Path) -> None:
    env = make(tmp_path, code="def score(task, answer):\n    return answer in task.answer\n")
    with pytest.raises(ConfigError, match="passes an empty answer to task 'train0'"):
        env.splits()


def test_loading_env_py_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "helper.py").write_text("X = 1\n", encoding="utf-8")
    before = list(sys.path)
    code = "from .helper import X\ndef score(task, answer):\n    from . import late\n    return X == late.Y == 1\n"
    (tmp_path / "late.py").write_text("Y = 1\n", encoding="utf-8")
    env = make(tmp_path, code=code)
    assert env.score(env.tasks()[0], "x").hard == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "env.py",
        "env.yaml",
        "helper.py",
        "late.py",
        "tasks.jsonl",
    ]
    assert sys.path == before
    assert not {"env", "helper", "late"} & set(sys.modules)
    (tmp_path / "helper.py").write_text("X = 2\n", encoding="utf-8")
    env = environments.load(tmp_path)
    assert env.score(env.tasks()[0], "x").hard == 0


def test_a_rollout_of_env_py_may_take_turns(tmp_path: Path) -> None:
    code = (
        "from skillgit.models.base import Message, Request\n"
        "async def rollout(task, skill, model, env):\n"
        "    said = list(env.render(task, skill))\n"
        "    for turn in range(2):\n"
        "        reply = await model.call(Request(tuple(said)))\n"
        "        said += [Message('assistant', reply.text), Message('user', 'again')]\n"
        "    return reply.text\n"
    )
    env = make(tmp_path, code=code)
    model = Scripted("openai:a", lambda request: str(len(request.messages)))
    trajectory = asyncio.run(env.rollout(env.tasks()[0], "S", model, sample=3))
    assert [message.content for message in trajectory.messages] == ["S", "train 0?", "2", "again", "4"]
    assert (trajectory.output, trajectory.sample, trajectory.usage) == ("4", 3, Usage(20, 10, calls=2))
    assert {request.sample for request in model.asked} == {3}


def test_a_trajectory_of_env_py_is_taken_as_it_is(tmp_path: Path) -> None:
    code = (
        "from skillgit.env import Trajectory\n"
        "def rollout(task, skill, model, env):\n"
        "    if task.id == 'train1':\n        return Trajectory.failed(task, 0, 'the simulator is down')\n"
        "    return Trajectory(task, output='won', hard=1, soft=1)\n"
    )
    rows = [{key: row[key] for key in ("id", "input", "split")} for row in ROWS]
    env = make(tmp_path, code=code, tasks=rows)
    first, second, *_ = env.splits().train
    model = Scripted("openai:a", lambda request: "unused")
    assert asyncio.run(env.rollout(first, "S", model, sample=1)) == Trajectory(first, 1, output="won", hard=1, soft=1)
    assert asyncio.run(env.rollout(second, "S", model)).error == "the simulator is down"


def test_a_model_error_passes_through_env_py(tmp_path: Path) -> None:
    code = (
        "from skillgit.models.base import Request\n"
        "async def rollout(task, skill, model, env):\n"
        "    return (await model.call(Request(env.render(task, skill)))).text\n"
    )
    env = make(tmp_path, code=code)
    with pytest.raises(ProviderError, match="gone"):
        asyncio.run(env.rollout(env.tasks()[0], "S", Scripted("openai:a", lambda request: ProviderError("gone"))))


def test_bundled_environments_load_and_are_sound() -> None:
    found = environments.bundled()
    assert "commit-type" in found
    for folder in found.values():
        assert environments.load(folder).splits().train
        assert (folder / "SKILL.md").is_file() and (folder / "README.md").is_file()


def test_a_plugin_brings_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "mine")

    def points(values: dict[str, str]) -> None:
        entries = [metadata.EntryPoint(name, value, "skillgit.envs") for name, value in values.items()]
        monkeypatch.setattr(metadata, "entry_points", lambda group: entries)

    (tmp_path / "plugin_of_test.py").write_text(f"FOLDER = {str(tmp_path / 'mine')!r}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    points({"mine": "plugin_of_test:FOLDER"})
    assert environments.bundled()["mine"] == tmp_path / "mine"
    points({"broken": "plugin_of_test:NOTHING"})
    with pytest.raises(ConfigError, match="the plugin 'broken'"):
        environments.bundled()


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
    for name in ("helper.py", "prompts/merge.md"):
        path = tmp_path / name.partition(".")[0].replace("/", "-") / name
        path.parent.mkdir(parents=True)
        path.write_text("x", encoding="utf-8")
    others += [make(tmp_path / "helper"), make(tmp_path / "prompts-merge")]
    assert len({base, *(env.fingerprint for env in others)}) == 8


def test_a_fingerprint_does_not_depend_on_line_endings(tmp_path: Path) -> None:
    first = make(tmp_path / "a", code="X = 1\nY = 2\n").fingerprint
    (tmp_path / "a" / "env.py").write_bytes(b"X = 1\r\nY = 2\r\n")
    assert environments.load(tmp_path / "a").fingerprint == first


def test_images_are_paths_in_the_folder_or_urls(tmp_path: Path) -> None:
    rows = [{"id": "a", "input": "x", "pics": ["p.png", "https://example.org/q.png"]}]
    env = make(tmp_path, {"prompt": {"images": "pics"}}, tasks=rows)
    images = env.render(env.tasks()[0], "s")[-1].images
    assert images == (str(tmp_path / "p.png"), "https://example.org/q.png")


def test_a_reply_that_was_cut_off_says_so(tmp_path: Path) -> None:
    env = make(tmp_path)
    trajectory = env.scored(env.tasks()[0], (), Reply("1", stop="length"))
    assert trajectory.reason.startswith("the reply was cut off by the output limit; expected '0'")
