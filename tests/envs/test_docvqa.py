from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgit import env, preparing
from skillgit.errors import TaskError
from skillgit.models.base import Request
from skillgit.models.images import data
from skillgit.sources import Source
from skillgit.splits import Task
from tests.envs.bench import BENCHDATA, LESSON, cases, module, needs_benchdata, train

docvqa: Any = module("docvqa")
prepare: Any = module("docvqa", "prepare.py")


@needs_benchdata
def test_the_papers_scores_are_met() -> None:
    for case in cases("docvqa")["cases"]:
        assert docvqa.anls(case["prediction"], case["gold"]) == pytest.approx(case["anls"], abs=1e-6), case


@needs_benchdata
def test_the_papers_means_over_nine_models_are_met() -> None:
    paths = sorted((BENCHDATA / "docvqa" / "manifest_text_only").glob("*/items.json"))
    items = [item for path in paths for item in json.loads(path.read_text(encoding="utf-8"))]
    for model, expected in cases("docvqa")["per_model"].items():
        scores = [docvqa.anls(item["model_predictions"][model], item["answers"]) for item in items]
        assert len(scores) == expected["n"]
        assert sum(scores) / len(scores) == pytest.approx(expected["mean_anls"], abs=1e-6), model
        assert sum(score >= 0.999 for score in scores) / len(scores) == pytest.approx(expected["hard"], abs=1e-6), model


@pytest.mark.parametrize(
    ("answer", "gold", "hard", "soft", "lenient", "note"),
    [
        ("Paul", "paul", 1, 1, 1, ""),
        ("paul.", "Paul", 0, 0.8, 1, ", the same but for an article, a currency sign or a mark at its ends"),
        ("$394", "394", 0, 0.75, 1, ", the same but for an article, a currency sign or a mark at its ends"),
        ("12 May 1954", "12 May", 0, 6 / 11, 0, ", which holds the expected answer and more"),
        ("May 1954", "12 May 1954", 0, 8 / 11, 0, ", which is only a part of the expected answer"),
        ("0.24", "0.28", 0, 0.75, 0, ", which is near it (ANLS 0.750)"),
        ("no", "yes", 0, 0, 0, ""),
        (" ", "yes", 0, 0, 0, ""),
    ],
)
def test_two_scorers_and_reasons_for_near_misses(
    answer: str, gold: str, hard: float, soft: float, lenient: float, note: str
) -> None:
    task = Task("t", "?", [gold])
    judgement = docvqa.reference(task, answer)
    assert (judgement.hard, judgement.soft) == (hard, pytest.approx(soft))
    assert docvqa.lenient(task, answer).hard == lenient
    assert judgement.reason == ("" if hard else f"expected '{gold}', got {answer!r}{note}")


def test_distances_by_hand() -> None:
    known = {("kitten", "sitting"): 3, ("flaw", "lawn"): 2, ("", "abc"): 3, ("same", "same"): 0}
    distance = module("docvqa", "anls.py").distance
    assert {pair: distance(*pair) for pair in known} == known


@pytest.mark.parametrize(
    ("value", "golds"),
    [("['a', 'A']", ["a", "A"]), ("a, b", ["a, b"]), (["x", " "], ["x"]), (5, ["5"])],
)
def test_answers_come_as_lists_literals_or_text(value: Any, golds: list[str]) -> None:
    assert prepare._golds({"id": 1, "answer": value}) == golds


@pytest.mark.parametrize("value", ["", "['a'", [" "], None])
def test_a_question_without_an_answer_is_named(value: Any) -> None:
    with pytest.raises(TaskError, match="row 7 of DocVQA"):
        prepare._golds({"id": 7, "answer": value})


def test_a_page_that_is_missing_leaves_no_task_file(tmp_path: Path) -> None:
    row = {"question": "Q document_path: x", "answers": ["a"], "image_path": "pages/p.png"}
    rows = [{**row, "questionId": n, "question": f"Q {n}"} for n in range(12)]
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    source = Source(tmp_path / "rows.json", tmp_path / "skill")
    folder = env.bundled()["docvqa"]
    with pytest.raises(TaskError, match=r"there is no file .*p\.png"):
        preparing.prepare(folder, source)
    assert not (tmp_path / "skill/data/tasks.jsonl").exists()


def test_images_of_the_hub_become_files(tmp_path: Path) -> None:
    """A folder with pictures has the form of a data set on the hub, so the real library reads it without the network."""
    pytest.importorskip("datasets")
    pytest.importorskip("PIL")
    hub = tmp_path / "hub"
    hub.mkdir()
    rows = []
    for number, page in enumerate(sorted((env.bundled()["docvqa"] / "images").iterdir())):
        (hub / page.name).write_bytes(page.read_bytes())
        rows.append(
            {"file_name": page.name, "questionId": str(number), "question": f"Q{number}?", "answers": ["a"], "docId": 9}
        )
    (hub / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    fetched = module("docvqa", "prepare.py")
    fetched.HUB, fetched.PART = str(hub), {}
    source = Source(None, tmp_path)
    found = list(fetched.prepare(source))
    fetched.files(source, {"0", "3"})
    assert [task["image"] for task in found][:2] == ["data/images/q0_d9.png", "data/images/q1_d9.png"]
    assert {path.name for path in (tmp_path / "data/images").iterdir()} == {"q0_d9.png", "q3_d9.png"}
    assert data(str(tmp_path / "data/images/q0_d9.png"))[0] == "image/png"


def test_the_sample_runs_and_the_target_sees_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    golds = {
        (task.input, Path(task.fields["image"]).name): task.answer[0]
        for task in env.load(env.bundled()["docvqa"]).tasks()
    }

    def target(request: Request) -> str:
        message = request.messages[-1]
        assert data(message.images[0])[0] == "image/png"
        gold = golds[message.content.partition("\n")[0], Path(message.images[0]).name]
        return f"<answer>{gold}{'' if LESSON in request.messages[0].content else '.'}</answer>"

    trained = train("docvqa", tmp_path, monkeypatch, target)
    assert [step["action"] for step in trained.training.records("step")] == ["accept_new_best"]
    assert "with 1 image(s), not shown here" in trained.shown


@needs_benchdata
def test_a_training_on_real_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = list(Source(BENCHDATA / "docvqa", tmp_path).rows())
    golds = {(row["question"].strip(), Path(row["image_path"]).name): prepare._golds(row)[0] for row in rows}

    def target(request: Request) -> str:
        message = request.messages[-1]
        gold = golds[message.content.partition("\n")[0], Path(message.images[0]).name]
        return f"<answer>{gold}</answer>" if LESSON in request.messages[0].content else f"so:\nThe {gold}."

    trained = train("docvqa", tmp_path, monkeypatch, target, BENCHDATA / "docvqa")
    [step] = trained.training.records("step")
    assert step["action"] == "accept_new_best"
    assert "got 'The Paul.', the same but for an article, a currency sign or a mark at its ends" in trained.shown
    assert "type: handwritten|form" in trained.shown and "score: hard 0, soft 0." in trained.shown


def test_the_sample_is_what_the_generator_writes() -> None:
    pytest.importorskip("PIL")
    generate = module("docvqa", "generate.py")
    lines = (env.bundled()["docvqa"] / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    pages = generate.PAGES.split("== ")[1:]
    assert [json.loads(line) for line in lines] == [task for page in pages for task in generate.tasks(page)]
