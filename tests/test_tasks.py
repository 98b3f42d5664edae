from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import TaskError
from skillgit.splits import Task
from skillgit.tasks import make_task, read_tasks

SAME = (Task("1", "one", "a", fields={"note": "n"}), Task("2", "two", "b", "kind", "test", {"note": "m"}))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "t.jsonl",
            '{"id": 1, "input": "one", "answer": "a", "note": "n"}\n\n'
            '{"id": "2", "input": "two", "answer": "b", "type": "kind", "split": "test", "note": "m"}\n',
        ),
        (
            "t.json",
            '[{"id": "1", "input": "one", "answer": "a", "note": "n"},'
            '{"id": "2", "input": "two", "answer": "b", "type": "kind", "split": "test", "note": "m"}]',
        ),
        ("t.csv", "id,input,answer,type,split,note\n1,one,a,,,n\n2,two,b,kind,test,m\n"),
        (
            "t.yaml",
            "- {id: 1, input: one, answer: a, note: n}\n"
            "- {id: '2', input: two, answer: b, type: kind, split: test, note: m}\n",
        ),
    ],
)
def test_every_format_gives_the_same_tasks(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_tasks(tmp_path / name) == SAME


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("t.jsonl", '{"id": 1, "input": "x"}\n{oops\n', "t.jsonl:2: not valid JSON"),
        ("t.jsonl", '{"id": 1, "input": "x"}\n[1]\n', "t.jsonl:2: a task must be an object"),
        ("t.jsonl", '{"input": "x"}\n', "t.jsonl:1: 'id' must be"),
        ("t.jsonl", '{"id": "a b", "input": "x"}\n', "holds white space"),
        ("t.jsonl", '{"id": "a", "input": " "}\n', "t.jsonl:1: 'input' must be text that is not empty"),
        ("t.jsonl", '{"id": "a", "input": "x", "split": "trian"}\n', "unknown split 'trian'"),
        ("t.jsonl", "\n", "holds no tasks"),
        ("t.json", '{"data": 3}', "task 1: a task must be an object"),
        ("t.json", "[1,\n2,,]", "t.json:2: not valid JSON"),
        ("t.csv", "id,input\n1,one,more\n", "t.csv:2: the row does not have 2 columns"),
        ("t.yaml", "- {id: 1\n", "t.yaml:2: not valid YAML"),
        ("t.txt", "x", "task files end in .jsonl"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(TaskError) as caught:
        read_tasks(tmp_path / name)
    assert said in caught.value.message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="No such file"):
        read_tasks(tmp_path / "none.jsonl")
    (tmp_path / "latin.jsonl").write_bytes('{"id": 1, "input": "caf\xe9"}'.encode("latin-1"))
    with pytest.raises(TaskError, match="is not UTF-8"):
        read_tasks(tmp_path / "latin.jsonl")


def test_a_byte_order_mark_is_no_part_of_the_first_task(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(b'\xef\xbb\xbf{"id": "a", "input": "x"}')
    assert read_tasks(tmp_path / "t.jsonl")[0].id == "a"


def test_a_file_that_is_one_split_gives_it_to_its_tasks(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"id": "a", "input": "x"}', encoding="utf-8")
    assert read_tasks(tmp_path / "t.jsonl", "train")[0].split == "train"
    (tmp_path / "t.jsonl").write_text('{"id": "a", "input": "x", "split": "test"}', encoding="utf-8")
    with pytest.raises(TaskError, match="the file is the train split, but the task says test"):
        read_tasks(tmp_path / "t.jsonl", "train")


@pytest.mark.parametrize("name", ["val", "validation", "dev"])
def test_other_names_of_the_selection_split(name: str) -> None:
    record: dict[str, Any] = {"id": "a", "input": "x", "split": name}
    assert make_task(record, "here").split == "selection"
