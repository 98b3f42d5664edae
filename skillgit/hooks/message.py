"""Are the trailers of a message on a skill branch well formed? Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillgit.git.trailers import parse_message

SCORE = r"[01](?:\.\d+)?"
VALUES = {
    "Skill-Run": (r"[1-9]\d*", "a number from 1"),
    "Skill-Epoch": (r"\d+", "a number"),
    "Skill-Step": (r"\d+", "a number"),
    "Skill-Edit": (r"[1-9]\d*/[1-9]\d*", "as in 2/3"),
    "Skill-Patch": (r"[1-9]\d*/[1-9]\d*", "as in 2/3"),
    "Skill-Support": (r"\d+", "a number"),
    "Skill-Op": (r"[a-z][a-z_]*", "as in insert_after"),
    "Skill-Source": (r"[a-z][a-z_-]*", "as in failure"),
    "Skill-Kind": (r"[a-z][a-z_-]*", "as in epoch"),
    "Skill-Score": (
        rf"hard {SCORE} -> {SCORE}, soft {SCORE} -> {SCORE} \(\d+ tasks?\)",
        "as in 'hard 0.7125 -> 0.7625, soft 0.7810 -> 0.8021 (160 tasks)'",
    ),
    "Skill-Gate": (r"[a-z_]+ [a-z_-]+", "as in 'accept_new_best strict'"),
}
LINE = re.compile(r"(?i)^(skill-[a-z]+)[ \t]*:[ \t]*(.*)$")
SCISSORS = re.compile(r"^# -+ >8 -+$", re.M)


def problems(text: str, skill: str) -> Iterator[str]:
    """What is wrong with a message as it stands in the file that git gives its hook; ``skill`` names the branch."""
    message = "\n".join(line for line in SCISSORS.split(text)[0].splitlines() if not line.startswith("#")).strip()
    parsed = parse_message(message)
    known = {key.casefold(): key for key in VALUES}
    for line in message.splitlines():
        match = LINE.match(line)
        if match and known.get(match[1].casefold()) and match[1] not in parsed.trailers:
            yield f"'{match[1]}' does not stand in the last paragraph, or a line there is no trailer"
        elif match and match[1].casefold() in known and match[1] not in VALUES:
            yield f"'{match[1]}' is spelt {known[match[1].casefold()]}"
    for key, value in parsed.trailers.items():
        pattern, like = VALUES.get(key, (".*", ""))
        if not re.fullmatch(pattern, value):
            yield f"{key}: '{value}' is not well formed; it is {like}"
    if "Skill-Run" in parsed.trailers and not parsed.subject.startswith(f"{skill}: "):
        yield f"the subject of a training commit begins with '{skill}: '"
    edit = re.fullmatch(r"(\d+)/(\d+)", parsed.trailers.get("Skill-Edit", ""))
    if edit and int(edit[1]) > int(edit[2]):
        yield f"Skill-Edit: {edit[0]} counts beyond its end"
