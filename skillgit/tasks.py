"""Task files: JSONL, JSON, CSV and YAML, with every mistake named by file and line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from skillgit import useryaml
from skillgit.errors import TaskError
from skillgit.splits import SPLITS, Task

KINDS = ".jsonl, .json, .csv, .yaml, .yml"
OTHER_NAMES = {"val": "selection", "validation": "selection", "valid": "selection", "dev": "selection"}
DRAFT = "draft"
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


def read_lines(text: str, name: str) -> list[Row]:
    """The records of JSONL that did not come from a task file; ``name`` is where they came from."""
    return list(_jsonl(Path(name), text.removeprefix("\ufeff")))


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
    raise TaskError(f"{path}: task files end in {KINDS}, not '{kind}'")


def _jsonl(path: Path, text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):  # splitlines() would part a text at U+2028
        if line.strip():
            yield f"{path.name}:{number}", _json(path, line, number)


def _json(path: Path, text: str, line: int = 0) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        place = line or getattr(error, "lineno", 1)
        raise TaskError(f"{path.name}:{place}: not valid JSON: {getattr(error, 'msg', error)}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key '{next(n for n in names if names.count(n) > 1)}' stands twice")
    return found


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no number that can be compared")


def _yaml(path: Path, text: str) -> Any:
    try:
        return useryaml.parse(text)
    except useryaml.YamlProblem as problem:
        raise TaskError(f"{path.name}:{problem.line}: {problem}") from None


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
    """Cells are text; an empty cell is a field that the task does not have."""
    csv.field_size_limit(2**31 - 1)  # a task may bring a whole document along
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    start = 1
    try:
        header = next(reader, [])
        _demand_header(path, header)
        start = reader.line_num + 1
        for cells in reader:
            if cells:
                if len(cells) != len(header):
                    raise TaskError(f"{path.name}:{start}: {len(cells)} cells, but the header names {len(header)}")
                yield f"{path.name}:{start}", {name: cell for name, cell in zip(header, cells, strict=True) if cell}
            start = reader.line_num + 1
    except csv.Error as error:
        raise TaskError(f"{path.name}:{start}: not valid CSV: {error}") from None


def _demand_header(path: Path, header: list[str]) -> None:
    missing = [name for name in ("id", "input") if name not in header]
    twice = sorted({name for name in header if header.count(name) > 1})
    if missing or twice:
        problem = f"no column '{missing[0]}'" if missing else f"the column '{twice[0]}' twice"
        raise TaskError(f"{path.name}:1: the header has {problem}; it has: {', '.join(header)}")


def make_task(record: Any, where: str, split: str = "") -> Task:
    """The task of a record with ``id``, ``input`` and, where the judge needs one, ``answer``.

    Raises TaskError that begins with ``where``, also for a draft that nobody has reviewed.
    """
    if not isinstance(record, Mapping):
        raise TaskError(f"{where}: a task must be an object with id and input, not {type(record).__name__}")
    fields = {str(name): value for name, value in record.items()}
    if is_draft(fields):
        raise TaskError(
            f"{where}: task '{fields.get('id')}' is a draft that nobody has reviewed",
            hint="review it, then: skillgit tasks add NAME FILE --reviewed",
        )
    if fields.get(DRAFT) in (False, "false"):
        del fields[DRAFT]
    absent = [name for name in ("id", "input") if fields.get(name) is None]
    if absent:
        has = ", ".join(fields) or "nothing"
        raise TaskError(f"{where}: the task has no '{absent[0]}'; it has {has}")
    task_id = _word(fields.pop("id"), "id", where)
    if not task_id or any(char.isspace() for char in task_id):
        raise TaskError(f"{where}: 'id' must be a single word that is not empty, not {task_id!r}")
    asked = _word(fields.pop("input"), "input", where)
    if not asked.strip():
        raise TaskError(f"{where}: 'input' must be text that is not empty, not {asked!r}")
    task = Task(
        task_id,
        asked,
        fields.pop("answer", None),
        _word(fields.pop("type", None), "type", where),
        _split(_word(fields.pop("split", None), "split", where), split, where),
        fields,
    )
    _demand_sound(task, where)
    return task


def is_draft(record: Mapping[str, Any]) -> bool:
    """Whether a record says ``draft: true``; a draft is no task until a person has accepted it."""
    return record.get(DRAFT) in (True, "true")


def _word(value: Any, name: str, where: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise TaskError(f"{where}: '{name}' must be text or a number, not {value!r}")
    return str(value)


def _split(named: str, given: str, where: str) -> str:
    named = OTHER_NAMES.get(named, named)
    if named and named not in SPLITS:
        raise TaskError(f"{where}: unknown split {named!r}; allowed are {', '.join(SPLITS)}")
    if given and named not in ("", given):
        raise TaskError(f"{where}: the file is the {given} split, but the task says {named}")
    return named or given


def _demand_sound(task: Task, where: str) -> None:
    """Find now what would break later: a value that no JSON can hold, or half a character, which no model can be sent."""
    try:
        task.digest()
        json.dumps([task.id, task.input, task.answer, dict(task.fields)], default=str, ensure_ascii=False).encode()
    except TaskError as error:
        raise TaskError(f"{where}: {error.message}", hint=error.hint) from None
    except UnicodeEncodeError as error:
        raise TaskError(f"{where}: {error.object[error.start]!r} is half a character (an unpaired surrogate)") from None


def make_tasks(records: Iterable[Any], where: str) -> tuple[Task, ...]:
    """Tasks from records or tasks that a function of env.py gave."""
    return tuple(
        record if isinstance(record, Task) else make_task(record, f"{where}: task {number}")
        for number, record in enumerate(records, start=1)
    )
