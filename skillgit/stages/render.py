"""The blocks of text that the optimizer is shown. Pure.

Whatever a model or a task wrote is fenced with a fence longer than any in it, so that it cannot pass for part of the prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillgit.skill import body, frontmatter, guidance

if TYPE_CHECKING:
    from skillgit.env import Trajectory
    from skillgit.models.base import Message
    from skillgit.skill import Edit

NOTHING = "(none)"


def fenced(text: str) -> str:
    """The text in a code fence that it cannot close."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def skill_block(skill: str) -> str:
    """The skill as it may be edited, and its read-only parts."""
    parts = [fenced(body(skill).strip("\n") or "(empty)")]
    about = frontmatter(skill)
    if about:
        shown = ", ".join(f"{key}: {value}" for key, value in about.items())
        parts.append(f"Read-only frontmatter: {shown}")
    if guidance(skill):
        parts.append(f"Read-only guidance (rewritten at the end of each epoch):\n{fenced(guidance(skill))}")
    return "\n\n".join(parts)


def trajectory_block(trajectory: Trajectory, skill: str, *, answers: bool, system: bool = False) -> str:
    """One rollout in full; the system prompt only where asked for, with the skill left out."""
    task = trajectory.task
    lines = [f"### Task {task.id}" + (f" ({task.type})" if task.type else "")]
    lines.append(f"Score: hard {trajectory.hard:g}, soft {trajectory.soft:.3g}")
    if trajectory.reason:
        lines.append(f"Why it failed: {_one_line(trajectory.reason)}")
    if answers and task.answer is not None:
        lines.append(f"Reference answer: {_shown(task.answer)}")
    for message in trajectory.messages:
        if message.role == "system" and not system:
            continue
        content = message.content.replace(skill, "(the skill above)") if skill.strip() else message.content
        lines.append(_message(message, content))
    return "\n".join(lines)


def _message(message: Message, content: str) -> str:
    calls = "\n".join(f"[action] {call.name}({call.arguments})" for call in message.tool_calls)
    label = {"tool": "[obs]", "assistant": "[target]"}.get(message.role, f"[{message.role}]")
    text = f"{label}\n{fenced(content)}" if content else ""
    return "\n".join(part for part in (text, calls) if part)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _shown(answer: Any) -> str:
    return answer if isinstance(answer, str) and "\n" not in answer else json.dumps(answer, ensure_ascii=False)


def trajectories_block(trajectories: Sequence[Trajectory], skill: str, *, answers: bool) -> str:
    """Several rollouts; what the first was told by the system prompt is shown once."""
    blocks = [
        trajectory_block(trajectory, skill, answers=answers, system=number == 0)
        for number, trajectory in enumerate(trajectories)
    ]
    return "\n\n".join(blocks)


def buffer_block(entries: Iterable[Mapping[str, Any]]) -> str:
    """What earlier steps tried, and how that ended."""
    blocks = [_buffer_entry(entry) for entry in entries]
    return "\n\n".join(blocks) or NOTHING


def _buffer_entry(entry: Mapping[str, Any]) -> str:
    head = f"- Step {entry['step']}: {entry['action']}"
    if "total" in entry:
        head += f"; {entry['failed']} of {entry['total']} tasks failed"
    if "before" in entry:
        head += f"; score {entry['before']:.4f} -> {entry['after']:.4f}, so do not propose these again:"
    lines = [head]
    lines += [f"  - tried: {json.dumps(edit, ensure_ascii=False)}" for edit in entry.get("edits", ())]
    lines += [f"  - pattern ({p['count']}x): {_one_line(p['pattern'])}" for p in entry.get("patterns", ())]
    return "\n".join(lines)


def edits_block(edits: Sequence[Edit]) -> str:
    """Edits numbered from 0, with their support."""
    rows = [
        {"index": i, "op": e.op, "target": e.target, "content": e.content, "title": e.title, "support": e.support}
        for i, e in enumerate(edits)
    ]
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows) or NOTHING


def meta_block(meta: str) -> str:
    return meta.strip() or NOTHING
