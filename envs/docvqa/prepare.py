"""DocVQA's questions and page images as tasks: from the hub's validation split, or CSV or JSON files with images beside them."""

from __future__ import annotations

import ast
import io
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

from skillgit.errors import TaskError
from skillgit.sources import Row, Source

HUB = "lmms-lab/DocVQA"
PART: dict[str, Any] = {"config": "DocVQA", "splits": ["validation"]}
LICENCE = "for research: images of the UCSF Industry Documents Library, questions by the challenge's organisers"
SIZES = {"train": 107, "selection": 53, "test": 374}
PATH_NOTE = "document_path:"


def prepare(source: Source) -> Iterator[dict[str, Any]]:
    for row in source.rows(hub=HUB, **PART, without=["image"]):
        name, question = _name(row), str(row.get("question") or "").partition(PATH_NOTE)[0].strip()
        if not question:
            raise TaskError(f"row {name} of DocVQA has no question")
        topic = row.get("topic") or row.get("category") or "|".join(row.get("question_types") or ())
        yield {
            "id": name,
            "input": question,
            "answer": _golds(row),
            "type": topic,
            "split": row.get("split", ""),
            "image": f"data/{_file(row)}",
        }


def files(source: Source, ids: Set[str]) -> None:
    """The page images; those that are there already are kept, so an interrupted run goes on."""
    for row in source.rows(hub=HUB, **PART):
        if _name(row) in ids:
            source.keep(_file(row), _image(source, row))


def _name(row: Row) -> str:
    name = next((row[key] for key in ("questionId", "id") if row.get(key) not in (None, "")), None)
    if name is None:
        raise TaskError(f"a row of DocVQA has neither questionId nor id; it has {', '.join(row)}")
    return str(name)


def _file(row: Row) -> str:
    """The name that the paper's code expects; a page given by path keeps its own, as several questions share it."""
    if row.get("image_path"):
        path = Path(str(row["image_path"]))
        inside = not path.is_absolute() and ".." not in path.parts
        return f"images/{path.as_posix().removeprefix('images/') if inside else path.name}"
    return f"images/q{_name(row)}_d{row.get('docId')}.png"


def _image(source: Source, row: Row) -> bytes | Path:
    if row.get("image_path"):
        return source.folder / str(row["image_path"])
    if row.get("image") is None:
        raise TaskError(f"row {_name(row)} of DocVQA has neither image nor image_path")
    page = io.BytesIO()
    row["image"].save(page, format="PNG")
    return page.getvalue()


def _golds(row: Row) -> list[str]:
    """Answers are a list, or in CSV its Python literal, or one text."""
    value = next((row[key] for key in ("answers", "answer", "ground_truth") if row.get(key) not in (None, "")), "")
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError):
            raise TaskError(f"row {_name(row)} of DocVQA: {value!r} is no list of answers") from None
    golds = [str(gold) for gold in (value if isinstance(value, list) else [value]) if str(gold).strip()]
    if not golds:
        raise TaskError(f"row {_name(row)} of DocVQA has no answer")
    return golds
