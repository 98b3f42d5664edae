"""The blocks of text that the optimizer is shown. Pure.

Whatever a task, a model or a skill wrote is fenced with a fence longer than any in it, so that it cannot pass for part of
the prompt; the prompts say that what is fenced is data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillgit.skill import appendix_notes, body, guidance, regions

if TYPE_CHECKING:
    from skillgit.env import Trajectory
    from skillgit.models.base import Message
    from skillgit.skill import Edit

NOTHING = "(none)"
LABELS = {"assistant": "target", "tool": "obs"}
LEAST_ELIDED = 40
"""Characters: a shorter skill is left where it stands in a prompt, as its text may mean something else there."""


def fenced(text: str) -> str:
    """The text in a code fence that it cannot close."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def one_line(text: str, most: int = 300) -> str:
    """The text on one line, cut at ``most`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}…"


def skill_block(skill: str) -> str:
    """The body of the skill, which may be edited, and its read-only parts."""
    parts = [fenced(body(skill).strip("\r\n") or "(empty)")]
    about = regions(skill).frontmatter
    if about:
        parts.append(f"Read-only: the frontmatter\n{fenced(skill[slice(*about)])}")
    if guidance(skill):
        parts.append(f"Read-only: the guidance, rewritten at each epoch's end\n{fenced(guidance(skill))}")
    notes = appendix_notes(skill)
    if notes:
        parts.append("Read-only: reminders\n" + fenced("\n".join(f"- {note}" for note in notes)))
    return "\n\n".join(parts)


def trajectories_block(trajectories: Sequence[Trajectory], skill: str, *, answers: bool) -> str:
    """Rollouts in full, each in its fence. A system prompt is shown once."""
    told: set[str] = set()
    blocks = []
    for number, trajectory in enumerate(trajectories, start=1):
        blocks.append(f"## Attempt {number}\n\n{trajectory_block(trajectory, skill, answers=answers, told=told)}")
    return "\n\n".join(blocks)


def trajectory_block(trajectory: Trajectory, skill: str, *, answers: bool, told: set[str]) -> str:
    """One rollout in full; ``told`` are the system prompts shown so far, and this one's is added."""
    facts = (f"{name}: {value}" for name, value in _facts(trajectory, answers) if value)
    return fenced("\n".join((*facts, *_transcript(trajectory, skill, told))))


def _facts(trajectory: Trajectory, answers: bool) -> Iterator[tuple[str, str]]:
    task = trajectory.task
    yield "task", one_line(task.id)
    yield "type", one_line(task.type)
    yield "score", f"hard {trajectory.hard:g}, soft {trajectory.soft:.3g}"
    if answers:  # a reason names what was expected, so it goes with the reference answer
        yield "reason", one_line(trajectory.reason, most=2000)
    if answers and task.answer is not None:
        name = "reference answers, any of" if isinstance(task.answer, list | tuple) else "reference answer"
        yield name, _written(task.answer)
    if trajectory.answer != trajectory.output:
        yield "answer that was judged", trajectory.answer or "(nothing)"
    if not any(task.input in message.content for message in trajectory.messages):
        yield "input", task.input


def _written(answer: Any) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, default=str)


def _transcript(trajectory: Trajectory, skill: str, told: set[str]) -> Iterator[str]:
    for message in trajectory.messages:
        content = _elided(message, skill)
        if message.role == "system":
            if content in told:
                content = "(as above)"
            told.add(content)
        images = f" with {len(message.images)} image(s), not shown here" if message.images else ""
        if content or images:
            yield f"\n[{LABELS.get(message.role, message.role)}]{images}\n{content}"
        yield from (f"\n[action] {call.name}({call.arguments})" for call in message.tool_calls)
    if trajectory.output and not any(trajectory.output in message.content for message in trajectory.messages):
        yield f"\n[target]\n{trajectory.output}"


def _elided(message: Message, skill: str) -> str:
    """A prompt without the skill, which is shown elsewhere."""
    shown = skill.strip()
    if message.role not in ("system", "user") or len(shown) < LEAST_ELIDED:
        return message.content
    return message.content.replace(shown, "(here stands the skill)")


def buffer_block(entries: Iterable[Mapping[str, Any]]) -> str:
    """What earlier steps tried, and how that ended."""
    lines = [line for entry in entries for line in _tried(entry)]
    return fenced("\n".join(lines)) if lines else NOTHING


def _tried(entry: Mapping[str, Any]) -> Iterator[str]:
    head = f"run {entry['run']}, step {entry['step']}" if "run" in entry else f"step {entry['step']}"
    head += f": {entry['action']}"
    if "total" in entry:
        head += f"; {entry['failed']} of {entry['total']} tasks failed"
    if "buckets" in entry:
        head += "; edits: " + ", ".join(f"{name} {count}" for name, count in entry["buckets"].items())
    if "before" in entry:
        head += f"; score {entry['before']:.4f} -> {entry['after']:.4f} with these edits:"
    yield head
    yield from (f"  tried: {json.dumps(edit, ensure_ascii=False)}" for edit in entry.get("edits", ()))
    yield from (f"  pattern ({p['count']}x): {one_line(p['pattern'])}" for p in entry.get("patterns", ()))


def edits_block(edits: Sequence[Edit]) -> str:
    """Edits as JSON lines, numbered from 0, each with what it answers and how many proposals and tasks stand behind it."""
    lines = []
    for index, edit in enumerate(edits):
        row = {"index": index, "op": edit.op, "target": edit.target or None, "content": edit.content}
        row |= {"title": edit.title, "reasoning": edit.reasoning, "from": edit.source}
        row |= {"support": edit.support, "tasks": len(edit.evidence)}
        lines.append(json.dumps(row, ensure_ascii=False))
    return fenced("\n".join(lines)) if lines else NOTHING


def growth(words: int | None) -> str:
    """What is said of the size where the document has a limit."""
    return "" if words is None else f" (the document may grow by about {words} words at most)"


def meta_block(meta: str) -> str:
    """The optimizer's own notes."""
    return fenced(meta.strip()) if meta.strip() else NOTHING
