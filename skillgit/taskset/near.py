"""Texts that say nearly the same. Pure.

Texts are compared by their runs of three words. What stands in a tenth of the texts is their common wording and does not
count, so tasks made from one template are told apart by what fills it.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

WORD = re.compile(r"\w+")
RUN = 3
SHARED = 0.1
FEWEST = 6
"""Runs of its own that a text needs: shorter texts differ by a word, and mean another thing."""
Near = tuple[int, int, float]
"""Places of two texts, and the share of their runs that both have."""


def near_pairs(texts: Sequence[str], groups: Sequence[str], least: float = 0.8) -> list[Near]:
    """Pairs from different groups whose Jaccard similarity is at least ``least`` (0..1], equal texts among them.

    Exact, and no comparison of all with all: two such texts share one of their rarest runs (prefix filtering: Chaudhuri,
    Ganti and Kaushik, 2006).
    """
    runs = [_runs(text) for text in texts]
    counts = Counter(run for own in runs for run in own)
    most = max(2, SHARED * len(texts))
    kept = [{run for run in own if counts[run] <= most} for own in runs]
    ordered = [sorted(own, key=lambda run: (counts[run], run)) for own in kept]
    index: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    found: list[Near] = []
    for place, own in enumerate(ordered):
        if len(own) < FEWEST:
            continue
        rarest = own[: len(own) - math.ceil(least * len(own)) + 1]
        met = {other for run in rarest for other in index[run] if groups[other] != groups[place]}
        for other in sorted(met):
            both = len(kept[place] & kept[other])
            share = both / (len(kept[place]) + len(kept[other]) - both)
            if share >= least:
                found.append((other, place, share))
        for run in rarest:
            index[run].append(place)
    return found


def _runs(text: str) -> set[tuple[str, ...]]:
    words = WORD.findall(text.casefold())
    return {tuple(words[start : start + RUN]) for start in range(len(words) - RUN + 1)}
