"""Draws the sample's pages and writes tasks.jsonl: ``python generate.py``, which needs Pillow."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

LINE, COLUMN, MARGIN = 34, 14, 24
PAGES = """\
== letter train
HARBOUR OFFICE OF PORT HESPER

12 March 1954
To: Mr. A. Renn

Your crane no. 7 is due for
inspection. Fee: $394.

Ilse Marrow, Clerk
? Who is the letter addressed to? | Mr. A. Renn | A. Renn
? What is the fee? | $394
? What is the date of the letter? | 12 March 1954
== table train
KITE ASSEMBLY, ENTRIES

Town       1961   1962   1963
Arlow        14     19     23
Dunmoor      31     28     40
Wexley        9     12     11
? How many entries did Dunmoor have in 1962? | 28
? Which town had 23 entries in 1963? | Arlow
? What is the title of the table? | Kite Assembly, Entries
== form selection
LENDING LIBRARY OF VARN

Name:      Harriet Sole
Card no.:  B-2071
Books:     The Salt Almanac
Due:       4 May
Signed:    H. S.
? What is the card number? | B-2071
? Which book was lent? | The Salt Almanac
? When is the book due? | 4 May
== invoice selection
COLDWELL BOAT YARD
Invoice 88-104

2 oars            36.00
1 anchor          52.50
Varnish            8.25
TOTAL             96.75

Payable in 30 days
? What is the total? | 96.75
? What does the anchor cost? | 52.50
? In how many days is it payable? | 30 | 30 days
== notice test
NOTICE

The bridge at Arlow is closed
from 3 to 17 October.
Use the ferry at Lyle.

Road Office, Tel. 5512
? What is closed? | The bridge at Arlow | bridge at Arlow
? What is the telephone number? | 5512
? Where is the ferry? | Lyle
== timetable test
BRACKWATER LINE

Dunmoor      dep.   8.05
Ruthen       dep.   8.41
Low Water    dep.   9.02
Port Hesper  arr.   9.30

Not on Sundays
? When does the train leave Ruthen? | 8.41
? Where does the line end? | Port Hesper
? On which days is there no train? | Sundays | On Sundays
"""


def draw(lines: list[str], path: Path) -> None:
    page = Image.new("1", (560, 2 * MARGIN + LINE * len(lines)), 1)
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(size=24)
    for number, line in enumerate(lines):
        for cell in re.finditer(r"\S+(?: \S+)*", line):  # what stands in one column begins at one place
            pen.text((MARGIN + COLUMN * cell.start(), MARGIN + LINE * number), cell[0], fill=0, font=font)
    page.save(path, optimize=True)


def tasks(page: str) -> Iterator[dict[str, object]]:
    head, *lines = page.strip("\n").split("\n")
    name, split = head.split()
    for number, line in enumerate([line for line in lines if line.startswith("? ")], start=1):
        question, *golds = line.removeprefix("? ").split(" | ")
        yield {
            "id": f"{name}-{number}",
            "input": question,
            "answer": golds,
            "type": name,
            "split": split,
            "image": f"images/{name}.png",
        }


if __name__ == "__main__":
    here = Path(__file__).parent
    with (here / "tasks.jsonl").open("w", encoding="utf-8", newline="\n") as out:
        for page in PAGES.split("== ")[1:]:
            rows = list(tasks(page))
            shown = [line for line in page.strip("\n").split("\n")[1:] if not line.startswith("? ")]
            draw(shown, here / str(rows[0]["image"]))
            out.writelines(json.dumps(row) + "\n" for row in rows)
