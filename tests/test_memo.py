from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from skillgit.memo import Memo
from skillgit.models.base import NO_USAGE, Reply, Usage
from skillgit.replies import Replies


def test_answers_survive_the_process_and_the_first_one_stays(tmp_path: Path) -> None:
    memo = Memo(tmp_path / "memo.sqlite")
    assert memo.get("rollout", "k") is None
    memo.put("rollout", "k", "first")
    memo.put("rollout", "k", "second")
    memo.close()
    again = Memo(tmp_path / "memo.sqlite")
    assert again.get("rollout", "k") == "first"
    assert again.get("reply", "k") is None
    again.close()


def test_the_ledger_adds_up_by_stage_and_role_since_an_entry(tmp_path: Path) -> None:
    memo = Memo(tmp_path / "memo.sqlite")
    memo.spend("a", "j1", "rollout", "target", Usage(10, 2, 0, 0.5))
    memo.spend("a", "j1", "rollout", "target", Usage(5, 1, 3, None))
    memo.spend("a", "j1", "reflect", "optimizer", Usage(7, 7, 0, 0.25))
    memo.spend("a", "j2", "rollout", "target", Usage(1, 1))
    memo.spend("b", "j1", "rollout", "target", Usage(1, 1))
    assert memo.spent("a", "j1") == {
        ("rollout", "target"): Usage(15, 3, 3, None, 2),
        ("reflect", "optimizer"): Usage(7, 7, 0, 0.25, 1),
    }
    assert memo.spent("a", "j3") == {}
    memo.close()


def test_a_corrupt_file_is_moved_aside_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "memo.sqlite"
    path.write_bytes(b"not a database, but long enough to be looked at as one " * 100)
    said: list[str] = []
    memo = Memo(path, said.append)
    memo.put("reply", "k", "v")
    assert memo.get("reply", "k") == "v"
    assert len(said) == 1
    assert "moved aside" in said[0]
    assert path.with_suffix(".corrupt").read_bytes().startswith(b"not a database")
    memo.close()


def test_a_memo_that_breaks_in_mid_run_is_a_warning_not_an_end(tmp_path: Path) -> None:
    said: list[str] = []
    memo = Memo(tmp_path / "memo.sqlite", said.append)
    other = Memo(tmp_path / "memo.sqlite")
    other._run("drop table answers", ())
    other.close()
    memo.put("reply", "k", "v")
    assert memo.get("reply", "k") is None
    assert memo.spent("a", "j") == {}
    assert len(said) == 1
    memo.close()


def test_two_processes_may_use_it_at_once(tmp_path: Path) -> None:
    one, two = Memo(tmp_path / "memo.sqlite"), Memo(tmp_path / "memo.sqlite")
    for i in range(50):
        one.put("reply", f"one{i}", "1")
        two.put("reply", f"two{i}", "2")
    assert one.get("reply", "two49") == "2"
    assert two.get("reply", "one49") == "1"
    one.close()
    two.close()


def test_what_was_of_use_is_counted_and_told_at_the_end(tmp_path: Path) -> None:
    said: list[str] = []
    memo = Memo(tmp_path / "memo.sqlite", said.append)
    memo.put("reply", "k", "1")
    assert [memo.load("reply", key, int) for key in ("k", "k", "none")] == [1, 1, None]
    memo.close()
    memo.close()
    assert said == [f"2 results were known already and cost nothing: {tmp_path / 'memo.sqlite'}"]


@pytest.mark.parametrize("damaged", ["", "{", "[]", "null", '{"text": "x", "odd": 1}', '{"text": "x", "usage": 3}'])
def test_a_damaged_answer_is_asked_for_again_and_kept(tmp_path: Path, damaged: str) -> None:
    said: list[str] = []
    memo = Memo(tmp_path / "memo.sqlite", said.append)
    memo.put("reply", "k", damaged)

    async def call() -> Reply:
        return Reply("good")

    replies = Replies(memo)
    for _ in range(2):
        assert asyncio.run(replies.get_or_call("k", call)).text == "good"
    assert (len(said), memo.hits) == (1, 1)
    assert "an answer in the memo cannot be read (" in said[0]
    memo.close()


def test_an_answer_from_the_memo_is_a_copy(tmp_path: Path) -> None:
    memo = Memo(tmp_path / "memo.sqlite")
    thoughts: dict[str, Any] = {"signature": "s"}

    async def call() -> Reply:
        return Reply("x", thoughts=(thoughts,))

    async def main() -> Reply:
        await Replies(memo).get_or_call("k", call)
        thoughts["signature"] = "changed"
        return await Replies(memo).get_or_call("k", call)

    assert asyncio.run(main()).thoughts == ({"signature": "s"},)
    memo.close()


def test_usage_of_nothing_is_neutral() -> None:
    assert NO_USAGE + Usage(1, 2, 0, 0.1) == Usage(1, 2, 0, 0.1)
    assert Usage(1, 2, 0, None) + NO_USAGE == Usage(1, 2, 0, None)
