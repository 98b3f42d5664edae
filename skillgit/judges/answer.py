"""Takes the answer out of a reply. Pure."""

from __future__ import annotations

import re

from skillgit.config import AnswerSettings

OPEN, CLOSE = "<answer>", "</answer>"


def extract(settings: AnswerSettings, output: str) -> tuple[str, str]:
    """(answer, what was missing): the whole reply, its last ``<answer>`` tag, its last line, or a pattern's last match.

    What was missing is "" when there was an answer, so that a failure can tell no answer from a wrong one.
    """
    if settings.extract == "answer_tag":
        return _tagged(output)
    if settings.extract == "last_line":
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        return (lines[-1], "") if lines else ("", "the reply is empty")
    if settings.extract == "regex":
        matches = list(re.finditer(settings.pattern, output))
        if not matches:
            return "", "the reply does not have the form the answer is taken from"
        return (matches[-1][1 if matches[-1].re.groups else 0] or "").strip(), ""
    return (output.strip(), "") if output.strip() else ("", "the reply is empty")


def _tagged(output: str) -> tuple[str, str]:
    low = output.lower()
    if len(low) != len(output):  # a letter whose lower case is longer would shift every place after it
        low = "".join(char.lower() if char.isascii() else char for char in output)
    end = low.rfind(CLOSE)
    start = low.rfind(OPEN, 0, end if end >= 0 else None)
    if start < 0:
        return "", "the reply has no <answer> tag"
    if end < 0:
        return "", "the reply opens an <answer> tag and does not close it"
    answer = output[start + len(OPEN) : end].strip()
    return answer, "" if answer else "the <answer> tag is empty"
