"""Scores a short answer against its references: SQuAD's exact match and token F1, and a variant that is blind to typography."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

PUNCTUATION = str.maketrans("", "", string.punctuation)
ARTICLES = re.compile(r"\b(a|an|the)\b")
Normal = Callable[[str], str]


def normalized(text: str) -> str:
    """Lower case, without ASCII punctuation and articles, single spaces."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def _plain(text: str, mark: str) -> str:
    """Accents gone and every mark of punctuation replaced, whatever script it is from."""
    letters = (char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return "".join(mark if unicodedata.category(char)[0] in "PS" else char for char in letters)


def joined(text: str) -> str:
    """``be/bee`` is bebee, ``U.S.`` is us."""
    return normalized(_plain(text, ""))


def parted(text: str) -> str:
    """``be/bee`` and ``be, bee`` are be bee."""
    return normalized(_plain(text, " "))


def exact(answer: str, golds: Sequence[str], normal: Normal = normalized) -> bool:
    return any(normal(answer) == normal(gold) for gold in golds)


def f1(answer: str, golds: Sequence[str], normal: Normal = normalized) -> float:
    """The best token F1, 0..1; nothing agrees only with nothing."""
    return max((_f1(normal(answer).split(), normal(gold).split()) for gold in golds), default=0.0)


def _f1(got: list[str], gold: list[str]) -> float:
    if not got or not gold:
        return float(got == gold)
    same = sum((Counter(got) & Counter(gold)).values())
    return 2 * same / (len(got) + len(gold)) if same else 0.0


def near_miss(answer: str, golds: Sequence[str]) -> str:
    """What is nearly right about a wrong answer, "" if nothing is."""
    got = parted(answer).split()
    for gold in (parted(gold).split() for gold in golds):
        if got == gold:
            return "the same but for its punctuation or accents"
        if got and gold and sorted(got) == sorted(gold):
            return "the same words in another order"
        if _within(gold, got):
            return "which holds the expected answer and more words"
        if _within(got, gold):
            return "which is only a part of the expected answer"
    return ""


def _within(part: list[str], whole: list[str]) -> bool:
    return bool(part) and f" {' '.join(part)} " in f" {' '.join(whole)} "
