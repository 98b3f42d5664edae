"""Pages of a parsed document as text, tables as Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

MOST_A_PAGE, MOST = 24_000, 80_000
PAGE = re.compile(r"[?&]page=(\d+)")


def oracle_pages(root: Path, files: Sequence[str], urls: Sequence[str]) -> str:
    """The pages that a question's sources name by ``page=``, each from the parsed document of the file in the same place.

    A page that cannot be found is left out. At most 24,000 characters a page and 80,000 in all.
    """
    shown = []
    for file, url in zip(files, urls, strict=False):
        number, path = PAGE.search(url), root / "jsons" / f"{Path(file).stem}.json"
        text = page_text(path, int(number[1])) if number and path.is_file() else ""
        if text:
            shown.append(f"### {file}, page {number[1] if number else ''}\n\n{text[:MOST_A_PAGE]}")
    return "\n\n".join(shown)[:MOST]


def page_text(path: Path, page: int) -> str:
    """The elements of a page, in order."""
    elements = json.loads(path.read_text(encoding="utf-8"))["document"]["elements"]
    on_page = (element for element in elements if any(box.get("page_id") == page for box in element.get("bbox") or ()))
    return "\n\n".join(_element(element) for element in on_page if str(element.get("content") or "").strip())


def _element(element: dict[str, Any]) -> str:
    content = str(element["content"])
    return table(content) if element.get("type") == "table" else content


def table(html: str) -> str:
    """An HTML table as Markdown; the first row is its head."""
    reader = _Rows()
    reader.feed(html)
    width = max((len(row) for row in reader.rows), default=0)
    return "\n".join(_lines(reader.rows, width))


def _lines(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield f"| {' | '.join([*row, *[''] * (width - len(row))])} |"
        if number == 0:
            yield f"|{' --- |' * width}"


class _Rows(HTMLParser):
    """Collects the cells; one that spans columns is repeated over them."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._span = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            span = dict(attrs).get("colspan") or ""
            self._span = int(span) if span.isdigit() and 0 < int(span) < 100 else 1
            self.rows[-1] += [""] * self._span

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._span = 0

    def handle_data(self, data: str) -> None:
        text = " ".join(data.split()).replace("|", "\\|")
        for place in range(1, self._span + 1):
            before = self.rows[-1][-place]
            self.rows[-1][-place] = f"{before} {text}".strip()
