"""Task files: JSONL, JSON, CSV and YAML, with every mistake named by file and line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from skillgit.errors import TaskError
from skillgit.splits import SPLITS, Task

READERS = ".jsonl, .json, .csv, .yaml, .yml"
Row = tuple[str, Any]
"""Where a record stands (``tasks.jsonl:3``), and the record."""


def read_tasks(path: Path, split: str = "") -> tuple[Task, ...]:
    """The tasks of a file; ``split`` is given to each of them when the file is one split's own."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise TaskError(f"cannot read the task file {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise TaskError(f"{path}: byte {error.start} is not UTF-8", hint="save the file as UTF-8") from None
    tasks = tuple(make_task(record, where, split) for where, record in _rows(path, text))
    if not tasks:
        raise TaskError(f"{path} holds no tasks")
    return tasks


def _rows(path: Path, text: str) -> Iterator[Row]:
    kind = path.suffix.lower()
    if kind in (".jsonl", ".ndjson"):
        return _jsonl(path, text)
    if kind == ".json":
        return _listed(path, _json(path, text))
    if kind == ".csv":
        return _csv(path, text)
    if kind in (".yaml", ".yml"):
        return _listed(path, _yaml(path, text))
    raise TaskError(f"{path}: task files end in {READERS}, not '{kind}'")


def _jsonl(path: Path, text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"{path.name}:{number}", _json(path, line, number)


def _json(path: Path, text: str, line: int = 0) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        place = line or getattr(error, "lineno", 1)
        raise TaskError(f"{path.name}:{place}: not valid JSON: {getattr(error, 'msg', error)}") from None


def _yaml(path: Path, text: str) -> Any:
    import yaml

    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = mark.line + 1 if mark else 1
        raise TaskError(f"{path.name}:{place}: not valid YAML: {getattr(error, 'problem', error)}") from None


def _listed(path: Path, data: Any) -> Iterator[Row]:
    if isinstance(data, Mapping) and isinstance(data.get("data"), list):
        data = data["data"]
    elif isinstance(data, Mapping):
        data = [{"id": key, **value} if isinstance(value, Mapping) else value for key, value in data.items()]
    if not isinstance(data, list):
        raise TaskError(f"{path.name}: expected a list of tasks, not {type(data).__name__}")
    for number, record in enumerate(data, start=1):
        yield f"{path.name}: task {number}", record


def _csv(path: Path, text: str) -> Iterator[Row]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for record in reader:
            where = f"{path.name}:{reader.line_num}"
            if None in record or None in record.values():
                raise TaskError(
                    f"{where}: the row does not have {len(reader.fieldnames or ())} columns like the header"
                )
            yield where, record
    except csv.Error as error:
        raise TaskError(f"{path.name}:{reader.line_num}: not valid CSV: {error}") from None


def make_task(record: Any, where: str, split: str = "") -> Task:
    """The task of a record with ``id``, ``input`` and, where the judge needs one, ``answer``."""
    if not isinstance(record, Mapping):
        raise TaskError(f"{where}: a task must be an object with id and input, not {type(record).__name__}")
    fields = dict(record)
    task_id, asked = fields.pop("id", None), fields.pop("input", None)
    if not isinstance(task_id, (str, int)) or isinstance(task_id, bool) or not str(task_id).strip():
        raise TaskError(f"{where}: 'id' must be a name or a number that is not empty, not {task_id!r}")
    if any(char.isspace() for char in str(task_id)):
        raise TaskError(f"{where}: the id {str(task_id)!r} holds white space; ids are single words")
    if not isinstance(asked, (str, int, float)) or not str(asked).strip():
        raise TaskError(f"{where}: 'input' must be text that is not empty, not {asked!r}")
    named = fields.pop("split", None) or split
    named = {"val": "selection", "validation": "selection", "dev": "selection"}.get(named, named)
    if named and named not in SPLITS:
        raise TaskError(f"{where}: unknown split {named!r}; allowed are {', '.join(SPLITS)}")
    if split and named != split:
        raise TaskError(f"{where}: the file is the {split} split, but the task says {named}")
    return Task(
        str(task_id), str(asked), fields.pop("answer", None), str(fields.pop("type", None) or ""), named, fields
    )


def make_tasks(records: Iterable[Any], where: str) -> tuple[Task, ...]:
    """Tasks from records or tasks that a function of env.py gave."""
    return tuple(
        record if isinstance(record, Task) else make_task(record, f"{where}: task {number}")
        for number, record in enumerate(records, start=1)
    )
