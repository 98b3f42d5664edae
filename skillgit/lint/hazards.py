"""What must not be in a document that agents obey: secrets, ways out, unread code, hidden orders. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from skillgit.document import MARKER
from skillgit.lint.finding import Document, Found

SECRETS = {
    "an AWS access key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a GitHub token": r"\b(?:gh[opsur]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})",
    "a GitLab token": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "an API key of a model provider": r"\bsk-(?=[A-Za-z0-9_-]{0,99}\d)[A-Za-z0-9_-]{20,200}",
    "a Google API key": r"\bAIza[0-9A-Za-z_-]{35}",
    "a Slack token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "a Stripe key": r"\b[rs]k_live_[A-Za-z0-9]{16,}",
    "an npm token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "a Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}\b",
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----",
    "a JSON web token": r"\beyJ[\w-]{10,999}\.eyJ[\w-]{10,999}\.[\w-]{10,999}",
    "a password in a URL": r"\b[a-z][a-z0-9+.-]{0,19}://[^\s/:@<>{}$]{1,99}:(?!(?:password|pass|token|x+|\*+)@)[^\s/@<>{}$]{4,199}@",
}
# Every repetition is bounded: a document of one long line must not take quadratic time.
SECRET = re.compile("|".join(f"(?P<s{n}>{pattern})" for n, pattern in enumerate(SECRETS.values())))
ASSIGNED = re.compile(
    r"(?i)\b[\w-]{0,40}(?:api[_-]?key|secret|token|passwd|password)\b[\"']?\s*[:=]\s*[\"']?(?P<value>[A-Za-z0-9+/_=.-]{16,})"
)
ENTROPY = 3.5
"""Bits a character: above what words and placeholders have, below random letters and digits."""

LINK = re.compile(r"(?i)\b(?:https?|ftp|wss?)://([^\s/:?#<>)\]\"'`]+)[^\s<>)\]\"'`]*")
ACTIVE = re.compile(r"(?i)(?:\]\(|href\s*=\s*[\"']?|src\s*=\s*[\"']?)\s*((?:javascript|vbscript|data|file):)")
OUTSIDE = re.compile(r"\]\(\s*<?((?:\.\./)+|/|~/)[^\s)>]*")
RESERVED = re.compile(
    r"(?i)(?:^|\.)(?:example\.(?:com|org|net)|(?:example|test|invalid|localhost))$|^(?:127\.[\d.]+|0\.0\.0\.0)$"
)

SHELL = r"(?:ba|z|da|k|c|tc|fi)?sh"
INTERPRETER = (
    rf"(?:\S{{0,99}}/)?(?:{SHELL}|pwsh|powershell|python[\d.]*|node|deno|bun|perl|ruby|php|iex|invoke-expression)"
)
FETCH = r"(?:curl|wget|aria2c|iwr|irm|invoke-webrequest|invoke-restmethod)"
WRAPPER = r"(?:sudo|doas|env|exec|nohup|command|xargs)\s+(?:-\S{1,99}\s+|\w{1,99}=\S{0,99}\s+){0,9}"
RUNNER = rf"(?:{WRAPPER}){{0,5}}{INTERPRETER}"
PIPED = re.compile(
    rf"(?i)\b{FETCH}\s+[^\s|;][^\n|;]{{0,500}}(?:\|[^\n|;]{{0,500}}){{0,9}}?\|\s*{RUNNER}(?![\w.-])"
    rf"|\bbase64\s+(?:-d|-D|--decode)\b[^\n|;]{{0,500}}\|\s*{RUNNER}(?![\w.-])"
    rf"|\b(?:{INTERPRETER}|source|eval|\.)\s+(?:-\S{{1,99}}\s+){{0,9}}[\"']?(?:<\(|\$\(|`)\s*{FETCH}\b"
    rf"|\b(?:iex|invoke-expression)\b[^\n]{{0,500}}\b{FETCH}\b"
    r"|\bDownloadString\s*\("
)
CONTINUED = re.compile(r"[ \t]*\\\r?\n")

COMMENT = re.compile(r"<!--(?P<html>.*?)(?:-->|\Z)", re.DOTALL)
REFERENCE = re.compile(r"^[ ]{0,3}\[(?://|comment|\.|_metadata_)[^\]]*\]:\s*(?:#|<>)\s*(?P<text>.*)$", re.M | re.I)
YAML_COMMENT = re.compile(r"^[ \t]*#(?P<text>.*)$", re.M)
UNSEEN = re.compile(
    r"(?i)<[a-z][^<>]*?(?:\bhidden\b|display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d]))"
)
ORDER = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|override|bypass|pretend|you (?:must|should|will|are|have)|always|never|do not|don't|"
    r"make sure|instead of|system prompt|previous instructions|agents?|assistant|run|execute|send|upload|post|download|"
    r"delete|install|read|write|reply|respond|answer|include|secret|password|token|credentials?|https?:)\b"
)
FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*$", re.M)
SPANS = re.compile(r"(?<!`)(`+)(?!`)[^\n]{0,2000}?(?<!`)\1(?!`)")


def secrets(doc: Document) -> Iterator[Found]:
    """No keys, tokens, passwords."""
    kinds, lines = tuple(SECRETS), set()
    for match in SECRET.finditer(doc.text):
        lines.add(doc.line(match.start()))
        kind = kinds[int((match.lastgroup or "s0")[1:])]
        yield Found(doc.line(match.start()), f"{match[0][:4]}… looks like {kind}; take it out, and revoke it")
    for match in ASSIGNED.finditer(doc.text):
        line, value = doc.line(match.start()), match["value"]
        if line not in lines and _random(value):
            yield Found(line, f"{value[:2]}… looks like a secret in clear text; take it out, and revoke it")


def _random(value: str) -> bool:
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    parts = [n / len(value) for n in Counter(value).values()]
    return mixed and -sum(part * math.log2(part) for part in parts) >= ENTROPY


def links(doc: Document) -> Iterator[Found]:
    """Links out are few and known; none runs code or leaves the skill's folder."""
    for match in LINK.finditer(doc.text):
        if not RESERVED.search(match[1]):
            yield Found(doc.line(match.start()), f"links out to {match[1]}", "warning")
    for match in ACTIVE.finditer(doc.text):
        yield Found(doc.line(match.start()), f"a link with {match[1]} carries code or a local file")
    for match in OUTSIDE.finditer(doc.text):
        yield Found(doc.line(match.start()), f"the link {match[0][2:].strip()} leaves the skill's folder", "warning")


def pipes(doc: Document) -> Iterator[Found]:
    """No download or decoded text goes straight into an interpreter."""
    joined = CONTINUED.sub(lambda match: " " * len(match[0]), doc.text)  # the same length, so that places stay
    for match in PIPED.finditer(joined):
        shown = " ".join(match[0].split())
        what = shown if len(shown) <= 60 else shown[:59] + "…"
        yield Found(doc.line(match.start()), f"'{what}' runs code that nobody has read")


def comments(doc: Document) -> Iterator[Found]:
    """No comment or hidden element holds instructions: people do not see them, models do."""
    fenced = _code(doc.text)
    end = len(doc.text)
    for match in COMMENT.finditer(doc.text):
        if not MARKER.fullmatch(match[0]) and not _within(match.start(), fenced):
            yield from _comment(doc, match.start(), match["html"])
            if match.end() == end and not match[0].endswith("-->"):
                yield Found(doc.line(match.start()), "a comment that never ends hides the rest of the document")
    for match in REFERENCE.finditer(doc.text):
        if not _within(match.start(), fenced):
            yield from _comment(doc, match.start(), match["text"])
    for match in UNSEEN.finditer(doc.text):
        if not _within(match.start(), fenced):
            yield Found(doc.line(match.start()), "an element that is not shown")
    front = re.match(r"\ufeff?---[ \t]*\r?\n(.*?\n)---", doc.text, re.DOTALL)
    for match in YAML_COMMENT.finditer(doc.text, 0, front.end(1)) if front else ():
        yield from _comment(doc, match.start(), match["text"])


def _comment(doc: Document, at: int, text: str) -> Iterator[Found]:
    words = " ".join(text.split())
    if not words:
        return
    shown = words if len(words) <= 50 else words[:49] + "…"
    if ORDER.search(words):
        yield Found(doc.line(at), f"a comment gives instructions that readers do not see: '{shown}'")
    else:
        yield Found(doc.line(at), f"models read this comment, readers do not: '{shown}'", "warning")


def _code(text: str) -> list[tuple[int, int]]:
    """Where code stands, in which a comment is shown as it is."""
    spans, start, fence = [], 0, ""
    for match in FENCE.finditer(text):
        mark = match["fence"]
        if not fence:
            start, fence = match.start(), mark
        elif mark[0] == fence[0] and len(mark) >= len(fence):
            spans.append((start, match.end()))
            fence = ""
    return [*spans, *(match.span() for match in SPANS.finditer(text))]


def _within(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)
