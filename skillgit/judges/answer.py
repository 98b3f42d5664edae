"""Takes the answer out of a reply. Pure."""

from __future__ import annotations

import re

from skillgit.config import AnswerSettings

OPEN, CLOSE = "<answer>", "</answer>"
NO_TAG, UNCLOSED = "the reply has no <answer> tag", "the reply opens an <answer> tag and does not close it"


def extract(settings: AnswerSettings, output: str) -> tuple[str, str]:
    """(answer, what was missing): the whole reply, its last ``<answer>`` tag, its last line, or a pattern's last match.

    ``answer_tag_or_line`` takes the last line where no tag is closed.

    What was missing is "" when there was an answer, so that a failure can tell no answer from a wrong one.
    """
    if settings.extract == "answer_tag":
        return _tagged(output)
    if settings.extract == "answer_tag_or_line":
        answer, missing = _tagged(output)
        return _last_line(output, missing) if missing in (NO_TAG, UNCLOSED) else (answer, missing)
    if settings.extract == "last_line":
        return _last_line(output)
    if settings.extract == "regex":
        matches = list(re.finditer(settings.pattern, output))
        if not matches:
            return "", "the reply does not have the form the answer is taken from"
        return (matches[-1][1 if matches[-1].re.groups else 0] or "").strip(), ""
    return (output.strip(), "") if output.strip() else ("", "the reply is empty")


def _last_line(output: str, missing: str = "") -> tuple[str, str]:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return (
        (lines[-1], f"{missing}; its last line was taken" if missing else "") if lines else ("", "the reply is empty")
    )


def _tagged(output: str) -> tuple[str, str]:
    low = output.lower()
    if len(low) != len(output):  # a letter whose lower case is longer would shift every place after it
        low = "".join(char.lower() if char.isascii() else char for char in output)
    end = low.rfind(CLOSE)
    start = low.rfind(OPEN, 0, end if end >= 0 else None)
    if start < 0:
        return "", NO_TAG
    if end < 0:
        return "", UNCLOSED
    answer = output[start + len(OPEN) : end].strip()
    return answer, "" if answer else "the <answer> tag is empty"
