"""Makes a benchmark's task file from its own data: joined, split, checked, and written whole or not at all.

A bundled environment's prepare.py has ``prepare(source)``, which yields task records. It may say ``HUB``, the data set's name on
the hub, ``LICENCE``, and ``SIZES``, those of the paper's splits, and have ``files(source, ids)``, which puts the files there that
the tasks with these ids need.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from skillgit import splits, tasks
from skillgit.env_file import calling, load_module
from skillgit.errors import ConfigError, TaskError
from skillgit.sources import FOLDERS, PARTIAL, Source, local_rows, pinned
from skillgit.splits import SPLITS, Task

SEED = 42
KEYS = ("id", "questionId", "uid", "key")
Sizes = Mapping[str, int]
Place = tuple[str, str]
"""A task's id, and the split that the source puts it in, "" for none."""


@dataclass(frozen=True)
class Prepared:
    """What was made of which source: the record beside the task file, which may be committed and is a list of ids itself.

    ``sizes`` are those of the splits, ``sha256`` is that of the task file.
    """

    environment: str
    source: str
    revision: str
    licence: str
    split_by: str
    sizes: dict[str, int]
    paper_sizes: dict[str, int]
    sha256: str
    splits: dict[str, list[str]]


def prepare(env: Path, source: Source, ids: Path | None = None) -> tuple[Prepared, bool]:
    """Write ``data/tasks.jsonl`` and ``data/prepared.json`` of ``source.into``; returns the record, and whether it is new.

    ``ids`` says which task is in which split: a JSON file {train, val, test} of ids or objects, or a folder of such splits.
    Without it the source's own splits count, and where it has none, tasks are drawn and split as ``by_ratio`` says. Raises
    TaskError for duplicates, for ids that the source lacks and for equal tasks in two splits, ConfigError for an environment
    without data.
    """
    module = load_module(env / "prepare.py")
    if module is None:
        raise ConfigError(f"the environment '{env.name}' brings its tasks along; there is nothing to prepare")
    source = pinned(source, getattr(module, "HUB", ""))
    sizes: Sizes = getattr(module, "SIZES", {})
    found, how = _taken(module, source, read_ids(ids) if ids else {}, sizes)
    splits.assign(found, (2, 1, 7), SEED)
    if hasattr(module, "files"):
        with calling("files()"):
            module.files(source, frozenset(task.id for task in found))
    text = "".join(f"{json.dumps(_record(task), ensure_ascii=False)}\n" for task in found)
    parts = {split: [task.id for task in found if task.split == split] for split in SPLITS}
    made = Prepared(
        environment=env.name,
        source=source.path.resolve().name if source.path else "hub",
        revision=source.revision,
        licence=getattr(module, "LICENCE", "unknown"),
        split_by=how,
        sizes={split: len(names) for split, names in parts.items()},
        paper_sizes=dict(sizes),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        splits=parts,
    )
    return made, _write(source.into / "data", text, made)


def _taken(module: ModuleType, source: Source, wanted: Mapping[str, str], sizes: Sizes) -> tuple[list[Task], str]:
    """The tasks that are taken, each in its split, and by what. The source is read twice, as few of many may be kept."""
    with calling("prepare()"):
        known = [_place(record) for record in module.prepare(source)]
        _refuse_duplicates(name for name, _ in known)
        chosen, how = _chosen(known, wanted, sizes)
        records = (record for record in module.prepare(source) if _place(record)[0] in chosen)
        found = tasks.make_tasks(records, "prepare.py")
    return [replace(task, split=chosen[task.id]) for task in found], how


def read_ids(path: Path) -> dict[str, str]:
    """The split of each id. Raises TaskError for an id that stands twice."""
    if path.is_dir():
        pairs = [(_id_of(row), str(row["split"])) for row in local_rows(path)]
    else:
        pairs = [(_id_of(entry), split) for entry, split in _listed(path)]
    twice = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    if twice:
        raise TaskError(f"{path}: the id {twice[0]} stands more than once")
    return dict(pairs)


def _listed(path: Path) -> list[tuple[Any, str]]:
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise TaskError(f"cannot read {path}: {error}") from None
    data = data.get("splits", data) if isinstance(data, dict) else {}
    found = [
        (entry, FOLDERS[name])
        for name in data
        if name in FOLDERS and isinstance(data[name], list)
        for entry in data[name]
    ]
    if not found:
        raise TaskError(f"{path}: expected {{train, val, test}} with a list of ids each")
    return found


def _id_of(entry: Any) -> str:
    if isinstance(entry, Mapping):
        entry = next((entry[key] for key in KEYS if entry.get(key) not in (None, "")), None)
    if not isinstance(entry, (str, int)):
        raise TaskError(f"an entry of the ids has none of {', '.join(KEYS)}")
    return str(entry)


def by_ratio(ids: Sequence[str], sizes: Sizes) -> dict[str, str]:
    """The splits without a list of ids: shuffled with seed 42 in the order of the source, as many as the paper took, cut 2:1:7.

    Sizes follow the largest remainder; of equal remainders the larger part comes first.
    """
    drawn = list(ids)
    random.Random(SEED).shuffle(drawn)
    drawn = drawn[: sum(sizes.values()) or len(drawn)]
    weights = {"train": 2, "selection": 1, "test": 7}
    counts = {split: len(drawn) * weight // 10 for split, weight in weights.items()}
    rest = sorted(SPLITS, key=lambda split: (-(len(drawn) * weights[split] % 10), -weights[split]))
    for split in rest[: len(drawn) - sum(counts.values())]:
        counts[split] += 1
    names = [split for split in SPLITS for _ in range(counts[split])]
    return dict(zip(drawn, names, strict=True))


def _place(record: Mapping[str, Any]) -> Place:
    task_id = record.get("id")
    if task_id in (None, ""):
        tasks.make_task(record, "prepare.py")  # which says what is wrong
    split = str(record.get("split") or "")
    return str(task_id), tasks.OTHER_NAMES.get(split, split)


def _chosen(known: Sequence[Place], wanted: Mapping[str, str], sizes: Sizes) -> tuple[Mapping[str, str], str]:
    """The split of each task that is taken, and by what."""
    if not wanted and all(split for _, split in known):
        return dict(known), "the source"
    if not wanted:
        return by_ratio([name for name, _ in known], sizes), f"2:1:7 with seed {SEED}"
    missing = wanted.keys() - dict(known).keys()
    if missing:
        first = ", ".join(sorted(missing)[:3])
        raise TaskError(f"{len(missing)} of {len(wanted)} ids are not in the source, such as {first}")
    return wanted, "ids"


def _refuse_duplicates(names: Iterable[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TaskError(f"{len(twice)} ids stand more than once in the source, such as {twice[0]}")


def _record(task: Task) -> dict[str, Any]:
    known = {"id": task.id, "input": task.input, "answer": task.answer, "type": task.type, "split": task.split}
    return {**known, **task.fields}


def _write(folder: Path, text: str, made: Prepared) -> bool:
    """Whether anything changed. The record comes last: without it the task file is not known to be whole."""
    about = json.dumps(asdict(made), indent=1, ensure_ascii=False) + "\n"
    files = {".gitignore": "*\n!prepared.json\n", "tasks.jsonl": text, "prepared.json": about}
    fresh = False
    for name, content in files.items():
        path, data = folder / name, content.encode("utf-8")
        if path.is_file() and path.read_bytes() == data:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_name(name + PARTIAL)
        part.write_bytes(data)
        part.replace(path)
        fresh = True
    return fresh
