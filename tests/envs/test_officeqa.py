from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from skillgit import env, judges, preparing
from skillgit.env import Environment, Trajectory
from skillgit.errors import ConfigError, RefusedError, TaskError
from skillgit.models import registry
from skillgit.models.base import Reply, Request, ToolCall
from skillgit.sources import Source
from skillgit.splits import Task
from tests.envs.bench import BENCHDATA, LESSON, cases, made, module, needs_benchdata, train
from tests.models.asking import BACKENDS, settings_for
from tests.servers.scripted import Call, Say, Server
from tests.world import Scripted

officeqa: Any = module("officeqa")
scoring: Any = module("officeqa", "scoring.py")
Documents: Any = officeqa.Documents
DOCS = env.bundled()["officeqa"] / "docs"
EARLY, LATE = "harbour_bulletin_1951_03.txt", "harbour_bulletin_1953_06.txt"


def loaded(*options: str) -> Environment:
    return env.load(env.bundled()["officeqa"], options)


def rolled(answer: Any, *options: str, task: int = 0, agent: bool = False) -> tuple[Trajectory, Scripted]:
    environment, model = loaded(*options), Scripted("openai:world", answer, is_agent=agent)
    return asyncio.run(environment.rollout(environment.tasks()[task], "SKILL", model)), model


def call(name: str, **arguments: Any) -> Reply:
    return Reply("", tool_calls=(ToolCall("c1", name, json.dumps(arguments)),))


@needs_benchdata
def test_the_papers_scores_are_met() -> None:
    for case in cases("officeqa"):
        assert (scoring.normalized(case["prediction"]) == scoring.normalized(case["gold"])) == case["em"], case
        assert scoring.f1(case["prediction"], case["gold"]) == pytest.approx(case["f1"], abs=1e-6), case


@pytest.mark.parametrize(
    ("answer", "gold", "reference", "tolerant"),
    [
        ("20.18", "20.18%", 0, 1),
        ("14.40%", "14.4%", 0, 1),
        ("4297.", "4,297", 0, 1),
        ("\u221234", "-34", 0, 1),
        ("(34)", "-34", 0, 1),
        ("(34)", "34", 1, 0),
        ("543 billion", "543 million", 1, 0),
        ("543,000,000", "543 million", 0, 1),
        ("4,297 million", "4,297", 1, 1),
        ("1936, 1935", "[1935, 1936]", 0, 0),
        ("[1935, 1936]", "1935, 1936", 1, 1),
        ("1934-1936", "1934 1936", 0, 1),
        ("It is 5 or 6", "5", 0, 0),
        ("First\n5", "5", 0, 0),
        ("March", "march", 1, 1),
        ("1\nand 2", "1\nand 2", 1, 1),
        ("", "5", 0, 0),
    ],
)
def test_two_scorers(answer: str, gold: str, reference: float, tolerant: float) -> None:
    task = Task("t", "?", gold, fields={"tolerance": 0.0})
    assert (officeqa.reference(task, answer).hard, officeqa.tolerant(task, answer).hard) == (reference, tolerant)


def test_the_tolerance_is_a_share_of_the_reference() -> None:
    """Of 200, a hundredth is 2."""
    for answer, tolerance, hard in (("202", 0.01, 1), ("202.1", 0.01, 0), ("200", 0.0, 1), ("201", 0.0, 0)):
        assert officeqa.tolerant(Task("t", "?", "200", fields={"tolerance": tolerance}), answer).hard == hard
    half = officeqa.tolerant(Task("t", "?", "[1, 2]", fields={}), "1, 3")
    assert (half.hard, half.soft) == (0, 0.5)


@pytest.mark.parametrize(
    ("answer", "gold", "note"),
    [
        ("20.18", "20.18%", "the same in another form"),
        ("34", "-34", "the right number with the wrong sign"),
        ("4.297", "4,297", "the right digits in another unit"),
        ("4300", "4,297", "which is off by 0.07%"),
        ("1936, 1935", "1935, 1936", "the same numbers in another order"),
        ("1 and 2", "3", "which holds 2 numbers where 1 were expected"),
        ("9999", "4,297", ""),
        ("0", "5", ""),
        ("5", "0", ""),
        ("north", "south", ""),
    ],
)
def test_near_misses(answer: str, gold: str, note: str) -> None:
    assert scoring.near_miss(answer, gold) == note


def test_tools_see_the_hinted_files_only_and_nothing_outside(tmp_path: Path) -> None:
    every, one = Documents(DOCS), Documents(DOCS, [EARLY, "nowhere.txt"])
    assert every.glob("*") == f"{EARLY}\n{LATE}"
    assert (one.glob("*"), one.glob("*1953*")) == (EARLY, "no file matches")
    assert Documents(DOCS, ["nowhere.txt"]).glob("*1953*") == LATE
    for path in (LATE, "../jsons/harbour_bulletin_1951_03.json", str(DOCS / "transformed" / EARLY)):
        assert one.call("read", json.dumps({"path": path})) == f"error: there is no file {path} here; glob lists them"
    (tmp_path / "docs").mkdir()
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (tmp_path / "docs" / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert Documents(tmp_path / "docs").glob("*") == "no file matches"
    with pytest.raises(ConfigError, match="there is no folder"):
        Documents(tmp_path / "none")


def test_what_the_tools_give(tmp_path: Path) -> None:
    docs = Documents(DOCS)
    assert docs.grep("DREDGING", LATE) == "23: | Year | Wages | Dredging | Repairs | Total |"
    assert docs.grep("tonnage", LATE) == "no line holds it"
    assert docs.read(LATE, 25, 1) == f"{LATE}, lines 25 to 25 of 27\n25: | 1950 | 301 | 152 | 88 | 541 |"
    (tmp_path / "long.txt").write_text("x" * 99 + "\n" + "y\n" * 199, encoding="utf-8")
    long = Documents(tmp_path)
    assert long.read("long.txt").splitlines()[0] == "long.txt, lines 1 to 80 of 200"
    assert len(long.grep("y", "long.txt").splitlines()) == 21 and long.grep("y", "long.txt").endswith("... 179 more")
    (tmp_path / "wide.txt").write_text("z" * 5000, encoding="utf-8")
    wide = Documents(tmp_path).call("read", '{"path": "wide.txt"}')
    assert wide.endswith("z [cut]") and len(wide) < 4100


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("delete", "{}", "error: there is no tool delete; there are glob, read, grep"),
        ("read", "{", "error: read does not take {"),
        ("read", '{"file": "x"}', 'error: read does not take {"file": "x"}'),
        ("read", "[1]", "error: read does not take [1]"),
        ("grep", json.dumps({"pattern": " ", "path": EARLY}), "error: the pattern is empty"),
        ("read", json.dumps({"path": EARLY, "start": 999}), f"error: {EARLY} has "),
        ("read", json.dumps({"path": EARLY, "start": "two"}), "error: read does not take"),
    ],
)
def test_a_mistake_of_the_target_is_told_to_it(name: str, arguments: str, said: str) -> None:
    assert Documents(DOCS).call(name, arguments).startswith(said)


def test_pages_are_found_by_number_and_cut() -> None:
    pages = module("officeqa", "pages.py")
    shown = pages.oracle_pages(DOCS, [EARLY, "nowhere.txt", LATE], ["x?page=9", "x?page=1", "x?page=8"])
    assert shown.startswith(
        f"### {EARLY}, page 9\n\nShips Entered\n\n(Number, by flag)\n\n| Year | Home | Foreign | All |\n| --- |"
    )
    assert "| 1949 | 1,198 | 977 | 2,175 |" in shown and LATE not in shown
    html = "<table><tr><th colspan=2>A &amp; B</th></tr><tr><td>1</td><td>x|y</td></tr><tr><td>2</td></tr></table>"
    assert pages.table(html) == "| A & B | A & B |\n| --- | --- |\n| 1 | x\\|y |\n| 2 |  |"


@pytest.mark.parametrize(
    ("value", "found"), [("a.txt,b.txt", ["a.txt", "b.txt"]), ('["a", "b"]', ["a", "b"]), ("a\nb\n", ["a", "b"])]
)
def test_names_come_in_many_forms(value: str, found: list[str]) -> None:
    assert module("officeqa", "documents.py").names(value) == module("officeqa", "documents.py").names(found) == found


def test_turns_go_on_until_there_is_an_answer() -> None:
    replies = iter([call("grep", pattern="1949", path=EARLY), Reply("so <answer>498</answer> or <answer>5</answer>")])
    done, model = rolled(lambda request: next(replies))
    assert (done.hard, done.answer, done.reason) == (1, "498", "")
    assert [message.role for message in done.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert done.messages[3].content.endswith("| 1949 | 498 | 121 | 36 | 655 |\n28: | 1949 | 1,198 | 977 | 2,175 |")
    assert "SKILL" in model.asked[0].messages[0].content and "Dues of the Port" in model.asked[0].messages[1].content
    assert [tool.name for tool in model.asked[1].tools] == ["glob", "read", "grep"]


def test_used_up_turns_and_silence_are_told_apart() -> None:
    done, model = rolled(lambda request: call("glob", pattern="*"), "options.max_turns=3")
    assert len(model.asked) == 3 and done.hard == 0
    assert done.reason == "the 3 turns were used up by tool calls; expected '498', got ''"
    assert done.messages[-1].role == "tool"
    assert rolled(lambda request: "498")[0].reason == "no answer and no tool call; expected '498', got ''"


def test_the_protocols_show_what_they_say() -> None:
    def first(*options: str) -> tuple[str, tuple[Any, ...]]:
        _, model = rolled(lambda request: "none", *options)
        return model.asked[0].messages[-1].content, model.asked[0].tools

    plain = first("options.oracle_pages=false", "options.hinted_files=false")[0]
    assert plain == loaded().tasks()[0].input
    assert first("options.oracle_pages=false")[0] == f"{plain}\n\n## Files\n\n- {EARLY}"
    assert first("options.tools=false")[1] == ()


def test_an_agent_gets_the_files_and_the_skill() -> None:
    done, model = rolled(lambda request: "<answer>498</answer>", agent=True)
    request = model.asked[0]
    assert done.hard == 1 and not request.tools and request.skill and request.skill.text == "SKILL"
    assert request.files == {EARLY: str((DOCS / "transformed" / EARLY).resolve())}
    assert "SKILL" not in request.messages[0].content


@pytest.mark.parametrize("option", ["tolerance=-1", "tolerance=x", "max_turns=0", "max_turns=x"])
def test_settings_out_of_range_are_refused(option: str) -> None:
    with pytest.raises(ConfigError, match=f"options.{option.partition('=')[0]} must be a"):
        loaded(f"options.{option}").tasks()


@pytest.mark.parametrize("name", BACKENDS)
def test_tools_travel_over_the_real_protocols(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(key, "sk-test")

    def answer(call: Call) -> Say:
        if "1949 | 498" in json.dumps(call.body):
            return Say("<answer>498</answer>")
        return Say("", "tool_calls", (("t1", "read", {"path": EARLY, "start": 11, "limit": 5}),))

    async def work(server: Server) -> Trajectory:
        environment = loaded("options.oracle_pages=false")
        model = registry.create(settings_for(name, server), "target")
        try:
            return await environment.rollout(environment.tasks()[0], "SKILL", model)
        finally:
            await model.close()

    with Server(answer) as server:
        done = asyncio.run(work(server))
        assert len(server.requests) == 2
    assert (done.hard, done.usage.calls) == (1, 2)


def test_answers_of_the_sample_by_hand() -> None:
    """236 of 673 is 35.07 %, 322 of 611 is 52.70 %, 88 of 541 is 16.27 %; 534 less 530 is 4."""
    tasks = loaded().tasks()
    assert [task.answer for task in tasks[8:11]] == ["35.07%", "52.70%", "16.27%"]
    assert [task.answer for task in tasks[11:]] == ["148", "124", "89", "4", "1949"]
    judges.check(loaded("judge.function=tolerant").judge, tasks)


def test_gated_data_are_never_fetched(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="its owner gives it out"):
        preparing.prepare(env.bundled()["officeqa"], Source(None, tmp_path))
    row = {"uid": "U1", "question": "?", "answer": ""}
    (tmp_path / "rows.json").write_text(json.dumps([row]), encoding="utf-8")
    with pytest.raises(TaskError, match="row U1 of OfficeQA lacks answer; it has uid, question, answer"):
        preparing.prepare(env.bundled()["officeqa"], Source(tmp_path / "rows.json", tmp_path))


@needs_benchdata
def test_csv_and_json_give_the_same_tasks(tmp_path: Path) -> None:
    folder = tmp_path / "csv"
    for split in ("train", "val", "test"):
        (folder / split).mkdir(parents=True)
        text = (BENCHDATA / "officeqa" / split / f"{split}.csv.sample").read_bytes()
        (folder / split / f"{split}.csv").write_bytes(text)
    home = env.bundled()["officeqa"]
    one, _ = preparing.prepare(home, Source(folder, tmp_path / "one"))
    other, _ = preparing.prepare(home, Source(BENCHDATA / "officeqa", tmp_path / "other"))
    assert one.sizes == {"train": 10, "selection": 6, "test": 10} and one.sha256 == other.sha256


@needs_benchdata
def test_a_training_on_real_bulletins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the lesson the target searches, and then gives the answer with a full stop or none at all."""
    rows = {row["question"]: row for row in Source(BENCHDATA / "officeqa", tmp_path).rows()}

    def target(request: Request) -> Reply:
        user = request.messages[1].content
        asked = next(question for question in rows if user.startswith(question))
        gold, file = rows[asked]["ground_truth"], re.findall(r"^- (.*\.txt)$", user, re.MULTILINE)[0]
        if request.messages[-1].role != "tool":
            return call("grep", pattern="total", path=file)
        if LESSON in request.messages[0].content:
            return Reply(f"<answer>{gold}</answer>")
        return Reply(f"<answer>{gold}.</answer>") if len(gold) > 3 else call("glob", pattern="*")

    trained = train(
        "officeqa", tmp_path, monkeypatch, target, BENCHDATA / "officeqa",
        f"options.documents={BENCHDATA / 'officeqa' / 'docs'}", "options.max_turns=4",
    )  # fmt: skip
    [step] = trained.training.records("step")
    assert step["action"] == "accept_new_best"
    assert "expected '4,297', got '4,297.', the same in another form" in trained.shown
    assert "the 4 turns were used up by tool calls; expected '106', got ''" in trained.shown
    assert '[action] grep({"pattern": "total", "path": "treasury_bulletin_1939_09.txt"})' in trained.shown
    assert "## Pages of the sources" in trained.shown and "[obs]" in trained.shown


def test_the_sample_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    golds = {task.input: task.answer for task in loaded().tasks()}

    def target(request: Request) -> str:
        gold = golds[request.messages[-1].content.partition("\n")[0]]
        return f"<answer>{gold}</answer>" if LESSON in request.messages[0].content else "I do not know."

    trained = train("officeqa", tmp_path, monkeypatch, target)
    assert [step["action"] for step in trained.training.records("step")] == ["accept_new_best"]
    assert "no answer and no tool call" in trained.shown
    assert made("officeqa", tmp_path / "other").joinpath("docs/jsons").is_dir()


def test_the_sample_is_what_the_generator_writes() -> None:
    generate, folder = module("officeqa", "generate.py"), DOCS.parent
    lines = (folder / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == list(generate.tasks())
    for name in generate.BULLETINS:
        assert (DOCS / "transformed" / f"{name}.txt").read_text(encoding="utf-8") == generate.text(name)
        assert (DOCS / "jsons" / f"{name}.json").read_text(encoding="utf-8") == generate.parsed(name)
