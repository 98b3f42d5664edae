from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import TaskError
from skillgit.splits import Task
from skillgit.tasks import make_task, make_tasks, read_tasks

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
        ("t.jsonl", '{"input": "x"}\n', "t.jsonl:1: the task has no 'id'; it has input"),
        (
            "t.jsonl",
            '{"id": "a b", "input": "x"}\n',
            "t.jsonl:1: 'id' must be a single word that is not empty, not 'a b'",
        ),
        ("t.jsonl", '{"id": true, "input": "x"}\n', "t.jsonl:1: 'id' must be text or a number, not True"),
        ("t.jsonl", '{"id": "a", "input": ["x"]}\n', "t.jsonl:1: 'input' must be text or a number, not ['x']"),
        ("t.jsonl", '{"id": "a", "input": "x", "type": ["u"]}\n', "t.jsonl:1: 'type' must be text or a number"),
        ("t.jsonl", '{"id": "a", "input": "x", "split": ["test"]}\n', "t.jsonl:1: 'split' must be text or a number"),
        ("t.jsonl", '{"id": "a", "input": "x", "id": "b"}\n', "t.jsonl:1: not valid JSON: the key 'id' stands twice"),
        ("t.jsonl", '{"id": "a", "input": "x", "answer": NaN}\n', "t.jsonl:1: not valid JSON: NaN is no number"),
        ("t.jsonl", '{"id": "a", "input": "\\ud83d"}\n', "t.jsonl:1: '\\ud83d' is half a character"),
        ("t.jsonl", "[" * 100_000, "t.jsonl:1: not valid JSON"),
        ("t.jsonl", '{"id": "a", "input": " "}\n', "t.jsonl:1: 'input' must be text that is not empty"),
        ("t.jsonl", '{"id": "a", "input": "x", "split": "trian"}\n', "unknown split 'trian'"),
        ("t.jsonl", "\n", "holds no tasks"),
        ("t.json", '{"data": 3}', "task 1: a task must be an object"),
        ("t.json", "[1,\n2,,]", "t.json:2: not valid JSON"),
        ("t.csv", "id,input\n1,one,more\n", "t.csv:2: 3 cells, but the header names 2"),
        ("t.csv", 'id,input\n1,"one\ntwo"\n2\n', "t.csv:4: 1 cells, but the header names 2"),
        ("t.csv", 'id,input\n1,one\n2,"two\n', "t.csv:3: not valid CSV"),
        ("t.csv", "id,question\n1,one\n", "t.csv:1: the header has no column 'input'; it has: id, question"),
        ("t.csv", "id,input,id\n1,one,2\n", "t.csv:1: the header has the column 'id' twice"),
        ("t.csv", "id,input\n,one\n", "t.csv:2: the task has no 'id'; it has input"),
        ("t.csv", "", "t.csv:1: the header has no column 'id'"),
        ("t.yaml", "- {id: 1\n", "t.yaml:2: not valid YAML"),
        ("t.yaml", "- id: 1\n  input: a\n  id: 2\n", "t.yaml:3: the key 'id' stands twice"),
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


def test_a_cell_of_csv_may_be_long_hold_lines_or_be_missing(tmp_path: Path) -> None:
    long = "x" * 200_000
    (tmp_path / "t.csv").write_text(f'id,input,answer\n1,"a\n""b""",007\n\n2,{long},\n', encoding="utf-8")
    first, second = read_tasks(tmp_path / "t.csv")
    assert (first.input, first.answer) == ('a\n"b"', "007")
    assert (second.input, second.answer, dict(second.fields)) == (long, None, {})


def test_a_line_separator_within_a_text_is_no_new_line(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"id": 1, "input": "a\u2028b"}\r\n{"id": 2, "input": "c"}\r\n', encoding="utf-8")
    assert [task.input for task in read_tasks(tmp_path / "t.jsonl")] == ["a\u2028b", "c"]


def test_yaml_keeps_dates_and_leading_zeros_as_text(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("- {id: 007, input: no, answer: 2024-01-01}\n", encoding="utf-8")
    assert read_tasks(tmp_path / "t.yaml") == (Task("007", "no", "2024-01-01"),)


@pytest.mark.parametrize("text", ['{"data": [{"id": "a", "input": "x"}]}', '{"a": {"input": "x"}}'])
def test_json_may_be_a_list_under_data_or_a_mapping_by_id(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.json").write_text(text, encoding="utf-8")
    assert read_tasks(tmp_path / "t.json") == (Task("a", "x"),)


def test_what_a_function_of_env_py_gave_is_named_by_its_number() -> None:
    given = [{"id": "a", "input": "x"}, Task("b", "y"), {"id": "c", "input": "z", "when": object()}]
    with pytest.raises(TaskError, match=r"^env.py tasks\(\): task 3: task 'c' cannot be written as JSON"):
        make_tasks(given, "env.py tasks()")
    assert make_tasks(given[:2], "") == (Task("a", "x"), Task("b", "y"))


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "id": st.uuids().map(str),
                "input": st.text(min_size=1).filter(str.strip),
                "answer": st.text() | st.integers(),
            },
            optional={"note": st.text(), "n": st.floats(allow_nan=False, allow_infinity=False)},
        ),
        min_size=1,
        unique_by=lambda row: row["id"],
    )
)
def test_what_json_and_yaml_write_is_read_back(rows: list[dict[str, Any]]) -> None:
    expected = make_tasks(rows, "")
    texts = {
        "t.jsonl": "\n".join(json.dumps(row) for row in rows),
        "t.json": json.dumps(rows, ensure_ascii=False),
        "t.yaml": yaml.safe_dump(rows),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            path = Path(folder, name)
            path.write_text(text, encoding="utf-8", newline="\n")
            assert read_tasks(path) == expected


@pytest.mark.parametrize("name", ["val", "validation", "dev"])
def test_other_names_of_the_selection_split(name: str) -> None:
    record: dict[str, Any] = {"id": "a", "input": "x", "split": name}
    assert make_task(record, "here").split == "selection"
