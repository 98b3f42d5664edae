"""The skill document: frontmatter, protected regions, and what may not be touched. Pure.

The markers are HTML comments, the same as the reference system's, so that skills trained there and here can be exchanged.
They are recognised wherever they stand, in code fences too: a marker that is only meant as an example would be taken for a
region by every other reader of the file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from skillgit.errors import SkillError

SLOW, APPENDIX = "SLOW_UPDATE", "APPENDIX"
MARKER = re.compile(r"<!--[ \t]*(?P<region>SLOW_UPDATE|APPENDIX)_(?P<end>START|END)[ \t]*-->")
MARKER_LINE = re.compile(rf"^[ \t]*{MARKER.pattern}[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE)
FRONTMATTER = re.compile(
    r"\A\ufeff?---[ \t]*(?:\r\n|\n|\r)(?P<yaml>.*?)^---[ \t]*(?:\r\n|\n|\r|\Z)", re.DOTALL | re.MULTILINE
)
NOTE = re.compile(r"^- ")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Regions:
    """Character offsets [start, end) of the protected parts, markers included; None for one that is not there."""

    frontmatter: Span | None
    slow: Span | None
    appendix: Span | None

    def spans(self) -> list[Span]:
        """The spans that exist, in the order of the document."""
        return sorted(span for span in (self.frontmatter, self.slow, self.appendix) if span)


def regions(text: str, where: str = "the skill") -> Regions:
    """The protected parts of a document.

    Raises SkillError with file and line for markers that are unbalanced, nested, reversed or repeated, and for a
    frontmatter that is not YAML.
    """
    spans: dict[str, Span] = {}
    opened: re.Match[str] | None = None
    for marker in MARKER.finditer(text):
        line = f"{where}:{_line(text, marker.start())}"
        name = marker["region"]
        if marker["end"] == "START":
            if opened:
                raise SkillError(f"{line}: {name}_START inside the {opened['region']} region; regions do not nest")
            if name in spans:
                raise SkillError(f"{line}: a second {name} region; a skill holds each at most once")
            opened = marker
        elif opened is None or opened["region"] != name:
            raise SkillError(f"{line}: {name}_END without its {name}_START", hint="mend the markers by hand")
        else:
            spans[name] = (opened.start(), marker.end())
            opened = None
    if opened:
        line = f"{where}:{_line(text, opened.start())}"
        raise SkillError(f"{line}: {opened['region']}_START without its END", hint="mend the markers by hand")
    return Regions(_frontmatter_span(text, where), spans.get(SLOW), spans.get(APPENDIX))


def check_document(text: str, where: str) -> None:
    """Raise SkillError, with file and line, if the document cannot be trained as it is."""
    regions(text, where)
    if not body(text).strip() and not frontmatter(text):
        raise SkillError(f"{where} is empty", hint="write at least a heading into it")


def _line(text: str, offset: int) -> int:
    return len(re.findall(r"\r\n|\n|\r", text[:offset])) + 1


def _frontmatter_span(text: str, where: str) -> Span | None:
    match = FRONTMATTER.match(text)
    if not match:
        return None
    try:
        data = yaml.safe_load(match["yaml"])
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = 2 + (mark.line if mark else 0)
        problem = " ".join(str(getattr(error, "problem", error)).split())
        raise SkillError(f"{where}:{line}: the frontmatter is not valid YAML: {problem}") from None
    return match.span() if isinstance(data, dict) else None


def frontmatter(text: str) -> dict[str, Any]:
    """The fields of the frontmatter, {} without one."""
    span = _frontmatter_span(text, "the skill")
    match = FRONTMATTER.match(text)
    return dict(yaml.safe_load(match["yaml"])) if span and match else {}


def body(text: str) -> str:
    """The document without frontmatter and regions."""
    return "".join(text[start:end] for start, end in _body_spans(text))


def _body_spans(text: str) -> Iterator[Span]:
    at = 0
    for start, end in regions(text).spans():
        yield at, start
        at = end
    yield at, len(text)


def with_body(text: str, new_body: str) -> str:
    """The document with another body before its first region; frontmatter and regions stay byte for byte."""
    found = regions(text)
    head = text[: found.frontmatter[1]] if found.frontmatter else ""
    kept = [text[start:end] for start, end in found.spans() if (start, end) != found.frontmatter]
    line = newline(text)
    content = adapt(strip_markers(new_body), line).strip("\r\n")
    gap = line if head else ""
    return head + gap + content + line + "".join(line + region + line for region in kept)


def guidance(text: str) -> str:
    """The slow update's guidance, "" if there is none."""
    return _inner(text, regions(text).slow)


def with_guidance(text: str, new: str) -> str:
    """The document with this guidance in its slow-update region, which is added at the end when missing."""
    return _with_region(text, regions(text).slow, SLOW, strip_markers(new).strip())


def appendix_notes(text: str) -> tuple[str, ...]:
    """The reminders in the appendix, in order."""
    notes: list[list[str]] = []
    for line in _inner(text, regions(text).appendix).splitlines():
        if NOTE.match(line):
            notes.append([line[2:]])
        elif notes:
            notes[-1].append(line.removeprefix("  "))
    return tuple("\n".join(lines) for lines in notes)


def with_appendix(text: str, notes: tuple[str, ...] | list[str]) -> str:
    """The document with these reminders in its appendix region, which is added at the end when missing."""
    lines = "\n".join("- " + strip_markers(note).strip().replace("\n", "\n  ") for note in notes)
    return _with_region(text, regions(text).appendix, APPENDIX, lines)


def _inner(text: str, span: Span | None) -> str:
    if span is None:
        return ""
    return adapt(MARKER.sub("", text[span[0] : span[1]]), "\n").strip()


def _with_region(text: str, span: Span | None, name: str, content: str) -> str:
    line = newline(text)
    lines = [f"<!-- {name}_START -->", *([adapt(content, line)] if content else []), f"<!-- {name}_END -->"]
    region = line.join(lines)
    if span:
        return text[: span[0]] + region + text[span[1] :]
    if not content:
        return text
    gap = "" if not text or text.endswith(line * 2) else line if text.endswith(("\n", "\r")) else line * 2
    return text + gap + region + line


def strip_markers(content: str) -> str:
    """The content without marker text, which only skillgit may write."""
    while MARKER.search(content):  # taking one out may put another together
        content = MARKER.sub("", MARKER_LINE.sub("", content))
    return content


def deployable(text: str) -> str:
    """The document without training markers; guidance and reminders stay as plain text."""
    return MARKER.sub("", MARKER_LINE.sub("", text))


def newline(text: str) -> str:
    """The document's own line ending: the most frequent one, ``\\n`` in doubt."""
    crlf = text.count("\r\n")
    return "\r\n" if crlf * 2 > text.count("\n") else "\n"


def adapt(content: str, line: str) -> str:
    """The content with this line ending."""
    return content.replace("\r\n", "\n").replace("\r", "\n").replace("\n", line)


def digest(text: str) -> str:
    """Hash of the text, whatever its line endings (16 hex)."""
    return hashlib.sha256(adapt(text, "\n").encode("utf-8", "surrogatepass")).hexdigest()[:16]
