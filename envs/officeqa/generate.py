"""Writes the sample: bulletins of an office that never was, as text and parsed, and questions whose answers are calculated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

Table = tuple[str, str, list[str], list[list[int]]]
"""Heading, caption, columns, and rows that begin with a year."""
BULLETINS: dict[str, dict[int, Table]] = {
    "harbour_bulletin_1951_03": {
        4: (
            "Dues of the Port",
            "(In thousands of crowns)",
            ["Year", "Cargo", "Passengers", "Light dues", "Total"],
            [[1947, 412, 96, 31, 539], [1948, 455, 104, 33, 592], [1949, 498, 121, 36, 655], [1950, 530, 117, 38, 685]],
        ),
        9: (
            "Ships Entered",
            "(Number, by flag)",
            ["Year", "Home", "Foreign", "All"],
            [[1947, 1204, 866, 2070], [1948, 1251, 903, 2154], [1949, 1198, 977, 2175], [1950, 1310, 1045, 2355]],
        ),
    },
    "harbour_bulletin_1953_06": {
        3: (
            "Dues of the Port",
            "(In thousands of crowns)",
            ["Year", "Cargo", "Passengers", "Light dues", "Total"],
            [[1950, 534, 117, 38, 689], [1951, 561, 133, 41, 735], [1952, 590, 128, 44, 762]],
        ),
        7: (
            "Outlays of the Port",
            "(In thousands of crowns)",
            ["Year", "Wages", "Dredging", "Repairs", "Total"],
            [[1950, 301, 152, 88, 541], [1951, 322, 149, 140, 611], [1952, 340, 236, 97, 673]],
        ),
    },
}
EARLY, LATE = BULLETINS
SPLITS = ["train"] * 5 + ["selection"] * 5 + ["test"] * 6


def cell(file: str, page: int, year: int, column: str) -> int:
    _, _, columns, rows = BULLETINS[file][page]
    return next(row[columns.index(column)] for row in rows if row[0] == year)


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}%"


def questions() -> Iterator[tuple[str, str, str, list[tuple[str, int]]]]:
    """(question, answer, type, sources)."""
    for year, column in ((1949, "Cargo"), (1947, "Passengers"), (1948, "Total"), (1950, "Light dues")):
        asked = f"What were the port's dues under '{column}' in {year}, in thousands of crowns (March 1951 bulletin)?"
        yield asked, f"{cell(EARLY, 4, year, column):,}", "easy", [(EARLY, 4)]
    for year, column in ((1949, "Home"), (1950, "Foreign"), (1948, "All"), (1947, "Foreign")):
        asked = f"How many ships are counted under '{column}' in {year} in the March 1951 bulletin?"
        yield asked, f"{cell(EARLY, 9, year, column):,}", "easy", [(EARLY, 9)]
    for year, column in ((1952, "Dredging"), (1951, "Wages"), (1950, "Repairs")):
        asked = f"What share of the port's outlays of {year} was '{column}'? Round to hundredths of a percent, such as 12.34%."
        yield asked, share(cell(LATE, 7, year, column), cell(LATE, 7, year, "Total")), "hard", [(LATE, 7)]
    for year in (1950, 1951, 1952):
        asked = (
            f"By how many thousands of crowns did the port's dues exceed its outlays in {year} (June 1953 bulletin)?"
        )
        yield asked, str(cell(LATE, 3, year, "Total") - cell(LATE, 7, year, "Total")), "hard", [(LATE, 3), (LATE, 7)]
    asked = "By how many thousands of crowns was the cargo figure for 1950 revised from the March 1951 to the June 1953 bulletin?"
    yield asked, str(cell(LATE, 3, 1950, "Cargo") - cell(EARLY, 4, 1950, "Cargo")), "hard", [(EARLY, 4), (LATE, 3)]
    asked = "In which year from 1947 to 1950 did fewest home ships enter (March 1951 bulletin)?"
    yield asked, "1949", "hard", [(EARLY, 9)]


def text(bulletin: str) -> str:
    parts = [f"HARBOUR OFFICE OF PORT HESPER\n\n{bulletin.replace('_', ' ').upper()}"]
    for page, (heading, caption, columns, rows) in BULLETINS[bulletin].items():
        lines = [columns, ["---"] * len(columns), *([str(row[0]), *(f"{n:,}" for n in row[1:])] for row in rows)]
        shown = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        parts.append(f"--- PAGE {page} ---\n\n{heading}\n\n{caption}\n\n{shown}")
    return "\n\n".join(parts) + "\n"


def parsed(bulletin: str) -> str:
    elements = []
    for page, (heading, caption, columns, rows) in BULLETINS[bulletin].items():
        head = "".join(f"<th>{name}</th>" for name in columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{n:,}</td>' if i else f'<td>{n}</td>' for i, n in enumerate(row))}</tr>"
            for row in rows
        )
        html = f"<table><tr>{head}</tr>{body}</table>"
        for kind, content in (("section_header", heading), ("caption", caption), ("table", html)):
            elements.append({"type": kind, "content": content, "bbox": [{"page_id": page}]})
    return json.dumps({"document": {"elements": elements}}, indent=1) + "\n"


def tasks() -> Iterator[dict[str, object]]:
    for number, ((asked, answer, kind, sources), split) in enumerate(zip(questions(), SPLITS, strict=True), start=1):
        yield {
            "id": f"made-{number:02}",
            "input": asked,
            "answer": answer,
            "type": kind,
            "split": split,
            "source_files": [f"{file}.txt" for file, _ in sources],
            "source_docs": [f"{file}.pdf?page={page}" for file, page in sources],
        }


if __name__ == "__main__":
    here = Path(__file__).parent
    for name in BULLETINS:
        (here / "docs/transformed" / f"{name}.txt").write_text(text(name), encoding="utf-8", newline="\n")
        (here / "docs/jsons" / f"{name}.json").write_text(parsed(name), encoding="utf-8", newline="\n")
    rows = "".join(json.dumps(task) + "\n" for task in tasks())
    (here / "tasks.jsonl").write_text(rows, encoding="utf-8", newline="\n")
