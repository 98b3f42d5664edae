from __future__ import annotations

import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from skillgit.errors import ConfigError, RefusedError, SkillgitError, TaskError
from skillgit.preparing import by_ratio, prepare, read_ids
from skillgit.sources import Source, local_rows, pinned

MODULE = """\
LICENCE = "none stated"
SIZES = {"train": 2, "selection": 1, "test": 7}

def prepare(source):
    for row in source.rows(hub="HUB"):
        yield {"id": row["key"], "input": row["q"], "answer": "a", "split": row.get("split", ""), "extra": [1]}
"""


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    folder = tmp_path / "bench"
    folder.mkdir()
    (folder / "prepare.py").write_text(MODULE, encoding="utf-8")
    return folder


def written(path: Path, count: int = 12) -> Path:
    rows = [{"key": f"k{n}", "q": f"question {n}"} for n in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def prepared(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "data/tasks.jsonl").read_text(encoding="utf-8").splitlines()]


def test_rows_without_splits_are_drawn_and_cut(tmp_path: Path, bench: Path) -> None:
    made, fresh = prepare(bench, Source(written(tmp_path / "rows.jsonl"), tmp_path, "abc"))
    assert fresh and made.sizes == made.paper_sizes == {"train": 2, "selection": 1, "test": 7}
    assert (made.split_by, made.source, made.revision, made.licence) == (
        "2:1:7 with seed 42",
        "rows.jsonl",
        "abc",
        "none stated",
    )
    tasks = prepared(tmp_path)
    assert Counter(task["split"] for task in tasks) == {"train": 2, "selection": 1, "test": 7}
    assert [task["id"] for task in tasks] == sorted((task["id"] for task in tasks), key=lambda name: int(name[1:]))
    assert tasks[0]["extra"] == [1]
    assert json.loads((tmp_path / "data/prepared.json").read_text(encoding="utf-8"))["sha256"] == made.sha256
    assert (tmp_path / "data/.gitignore").read_text(encoding="utf-8") == "*\n!prepared.json\n"
    again, _ = prepare(
        bench, Source(written(tmp_path / "rows.jsonl"), tmp_path / "else"), tmp_path / "data/prepared.json"
    )
    assert again.split_by == "ids" and again.sha256 == made.sha256


def test_the_same_again_writes_nothing_and_a_lost_record_is_made_good(tmp_path: Path, bench: Path) -> None:
    source = Source(written(tmp_path / "rows.jsonl"), tmp_path)
    prepare(bench, source)
    before = (tmp_path / "data/tasks.jsonl").stat().st_mtime_ns
    assert prepare(bench, source)[1] is False
    (tmp_path / "data/prepared.json").unlink()
    (tmp_path / "data/tasks.jsonl.part").write_text("half", encoding="utf-8")
    assert prepare(bench, source)[1] is True
    assert (tmp_path / "data/tasks.jsonl").stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("count", "sizes"),
    [(2000, (400, 200, 1400)), (534, (107, 53, 374)), (92, (18, 9, 65)), (177, (35, 18, 124)), (10, (2, 1, 7))],
)
def test_largest_remainders(count: int, sizes: tuple[int, int, int]) -> None:
    """534: 106.8, 53.4, 373.8. 92: 18.4, 9.2, 64.4, where test comes before train. 177: 35.4, 17.7, 123.9."""
    found = Counter(by_ratio([str(n) for n in range(count)], {}).values())
    assert (found["train"], found["selection"], found["test"]) == sizes


def test_ids_join(tmp_path: Path, bench: Path) -> None:
    ids = tmp_path / "ids.json"
    ids.write_text(
        json.dumps({"train": ["k3", "k1"], "val": [{"uid": "k0"}], "test": [{"id": "k9"}]}), encoding="utf-8"
    )
    made, _ = prepare(bench, Source(written(tmp_path / "rows.jsonl"), tmp_path), ids)
    assert made.split_by == "ids"
    found = {task["id"]: task["split"] for task in prepared(tmp_path)}
    assert found == {"k0": "selection", "k1": "train", "k3": "train", "k9": "test"}


def test_a_folder_of_splits_is_a_source_and_a_list_of_ids(tmp_path: Path, bench: Path) -> None:
    for name, row in (("train", '[{"key": "k1", "q": "x"}]'), ("val", '[{"key": "k2", "q": "y"}]')):
        (tmp_path / "s" / name).mkdir(parents=True)
        (tmp_path / "s" / name / "items.json").write_text(row, encoding="utf-8")
    (tmp_path / "s" / "test").mkdir()
    (tmp_path / "s" / "test" / "test.csv").write_text('key,q\nk3,"two\nlines"\n', encoding="utf-8")
    assert read_ids(tmp_path / "s") == {"k1": "train", "k2": "selection", "k3": "test"}
    made, _ = prepare(bench, Source(tmp_path / "s", tmp_path))
    assert made.split_by == "the source" and made.sizes == {"train": 1, "selection": 1, "test": 1}
    assert prepared(tmp_path)[2]["input"] == "two\nlines"


def test_a_file_may_name_the_split_of_each_row(tmp_path: Path, bench: Path) -> None:
    rows = [{"key": f"k{n}", "q": f"q{n}", "split": split} for n, split in enumerate(("train", "val", "test", "test"))]
    (tmp_path / "rows.json").write_text(json.dumps({"data": rows}), encoding="utf-8")
    made, _ = prepare(bench, Source(tmp_path / "rows.json", tmp_path))
    assert made.split_by == "the source" and made.sizes == {"train": 1, "selection": 1, "test": 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"key": "k0", "q": "x"}\n' * 2, "1 ids stand more than once in the source, such as k0"),
        ('{"key": "k0"', "rows.jsonl: Expecting"),
        ("[1]", "expected a list of objects"),
    ],
)
def test_a_bad_source_writes_nothing(tmp_path: Path, bench: Path, text: str, said: str) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(text, encoding="utf-8")
    with pytest.raises(TaskError, match=said):
        prepare(bench, Source(rows, tmp_path))
    assert not (tmp_path / "data").exists()


def test_ids_that_the_source_lacks_are_named(tmp_path: Path, bench: Path) -> None:
    ids = tmp_path / "ids.json"
    ids.write_text('{"splits": {"train": ["k1", "x2"], "test": ["x1"]}}', encoding="utf-8")
    with pytest.raises(TaskError, match="2 of 3 ids are not in the source, such as x1, x2"):
        prepare(bench, Source(written(tmp_path / "rows.jsonl"), tmp_path), ids)


@pytest.mark.parametrize(
    "text", ["[]", '{"train": []}', "{", '{"train": [{"name": "x"}]}', '{"train": ["a"], "val": ["a"]}']
)
def test_a_bad_list_of_ids_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "ids.json").write_text(text, encoding="utf-8")
    with pytest.raises(TaskError):
        read_ids(tmp_path / "ids.json")


def test_what_cannot_be_prepared_says_why(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="brings its tasks along"):
        prepare(tmp_path, Source(tmp_path, tmp_path))
    with pytest.raises(RefusedError, match="its owner gives it out"):
        Source(None, tmp_path).rows()
    with pytest.raises(ConfigError, match="there is no file or folder"):
        list(local_rows(tmp_path / "nowhere"))
    for missing in (tmp_path, tmp_path / "train"):
        missing.mkdir(exist_ok=True)
        with pytest.raises(TaskError):
            list(local_rows(tmp_path))


def test_files_are_kept_whole_and_once(tmp_path: Path) -> None:
    source = Source(None, tmp_path)
    assert source.keep("images/a.png", b"one") == "data/images/a.png"
    assert source.keep("images/a.png", b"two") == "data/images/a.png"
    (tmp_path / "b").write_bytes(b"three")
    source.keep("images/b.png", tmp_path / "b")
    assert {path.name: path.read_bytes() for path in (tmp_path / "data/images").iterdir()} == {
        "a.png": b"one",
        "b.png": b"three",
    }
    with pytest.raises(TaskError, match="there is no file"):
        source.keep("images/c.png", tmp_path / "c")


def test_the_hub_is_read_by_its_own_library(tmp_path: Path, bench: Path) -> None:
    """A folder has the form of a data set on the hub, so the real library reads it without the network."""
    pytest.importorskip("datasets")
    (tmp_path / "hub").mkdir()
    written(tmp_path / "hub" / "train.jsonl")
    (bench / "prepare.py").write_text(MODULE.replace("HUB", (tmp_path / "hub").as_posix()), encoding="utf-8")
    made, _ = prepare(bench, Source(None, tmp_path))
    assert made.source == "hub" and sum(made.sizes.values()) == 10
    (bench / "prepare.py").write_text(MODULE.replace("HUB", f"{tmp_path.as_posix()}/none"), encoding="utf-8")
    with pytest.raises(SkillgitError):
        prepare(bench, Source(None, tmp_path))


def test_the_hubs_commit_is_recorded(
    tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, bench: Path
) -> None:
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(hub.constants, "ENDPOINT", httpserver.url_for("").rstrip("/"))
    for place, commit in (("/api/datasets/a/b", "1" * 40), ("/api/datasets/a/b/revision/v2", "2" * 40)):
        httpserver.expect_request(place).respond_with_json({"id": "a/b", "sha": commit})
    newest = Source(None, tmp_path)
    assert pinned(newest, "a/b").revision == "1" * 40
    assert pinned(Source(None, tmp_path, "v2"), "a/b").revision == "2" * 40
    assert pinned(newest, "") is newest
    with pytest.raises(TaskError, match="the hub does not give 'a/none'"):
        pinned(newest, "a/none")


def test_without_the_hubs_library_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError) as caught:
        pinned(Source(None, tmp_path), "a/b")
    assert caught.value.hint == "pip install 'skillgit[hub]'"


def test_tasks_are_shuffled_as_the_paper_does() -> None:
    """random.Random(42) shuffles a..j to hdcifgjeab."""
    found = by_ratio(list("abcdefghij"), {})
    assert found == {"h": "train", "d": "train", "c": "selection", **dict.fromkeys("ifgjeab", "test")}
