"""ANLS: the average normalised Levenshtein similarity of document questions, for one answer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

THRESHOLD = 0.5
"""A share of differing characters from which on an answer is worth nothing."""
RIGHT = 0.999
Normal = Callable[[str], str]


def normalized(text: str) -> str:
    return " ".join(text.lower().split())


def bare(text: str) -> str:
    """Without compatibility forms, quotes around it, closing marks, a leading article or currency sign."""
    plain = normalized(unicodedata.normalize("NFKC", text)).strip("\"'“”‘’ ").rstrip(".,;:! ")
    return re.sub(r"^(?:(?:the|an?) |[$€£¥] ?)", "", plain)


def anls(answer: str, golds: Sequence[str], normal: Normal = normalized) -> float:
    """The best over the references, 0..1; no reference is an empty one."""
    return max(_similarity(normal(answer), normal(gold)) for gold in golds or [""])


def _similarity(a: str, b: str) -> float:
    longer = max(len(a), len(b))
    if not longer:
        return 1.0
    if abs(len(a) - len(b)) / longer >= THRESHOLD:
        return 0.0
    share = distance(a, b) / longer
    return 0.0 if share >= THRESHOLD else 1.0 - share


def distance(a: str, b: str) -> int:
    """Insertions, deletions and substitutions between two texts."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, start=1):
        before, row[0] = row[0], i
        for j, right in enumerate(b, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
    return row[-1]
