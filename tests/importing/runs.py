"""A run folder as the reference system leaves it: two epochs of two steps, written out by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

INITIAL = "# Sums\n\n- Read the question.\n"
FIRST = "# Sums\n\n- Read the question twice.\n\n- Answer with a number.\n"
PLACE = "\n<!-- SLOW_UPDATE_START -->\n<!-- SLOW_UPDATE_END -->\n"
THIRD = "# Sums\n\n- Read the question twice.\n\n- Answer with a number.\n\n- Check it.\n" + PLACE
FILLED = THIRD.replace("START -->\n", "START -->\nMind the units.\n")
BAD = FIRST + "\n- Guess.\n"
EDITS = [
    {"op": "replace", "target": "question.", "content": "question twice.", "support_count": 3, "title": "Read twice"},
    {"op": "append", "content": "- Answer with a number.\n", "target": ""},
]


def results(folder: Path, solved: str, of: int = 4) -> None:
    """Tasks a, b, c, d; those named in ``solved`` are solved."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{"id": name, "hard": int(name in solved), "soft": float(name in solved)} for name in "abcd"[:of]]
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")


def step(root: Path, number: int, candidate: str, after: str, edits: Any, solved: str) -> None:
    folder = root / "steps" / f"step_{number:04d}"
    write(folder / "candidate_skill.md", candidate)
    write(folder / "ranked_edits.json", {"reasoning": "r", "edits": edits})
    write(folder / "trajectory_digest.json", {"failure_patterns": [{"pattern": "units", "count": 2}]})
    write(root / "skills" / f"skill_v{number:04d}.md", after)
    results(folder / "selection_eval", solved)


def row(number: int, action: str, hard: Any, current: float, **more: Any) -> dict[str, Any]:
    tokens = {"rollout": {"calls": 4, "prompt_tokens": 40, "completion_tokens": 8}}
    row = {"step": number, "epoch": (number + 1) // 2, "action": action, "rollout_n": 4, "rollout_hard": 0.25}
    scores = {"selection_hard": hard, "selection_soft": hard, "current_score": current, "edit_budget": 4}
    return {**row, **scores, "tokens": tokens, "timing": {"rollout_s": 1.5}, **more}


def make_run(root: Path, *, config: Mapping[str, Any] | None = None) -> Path:
    """Baseline 1/4; step 1 accepted with two edits (2/4), step 2 rejected (1/4); step 3 accepted (3/4), step 4 skipped.

    Epoch 1 puts the empty guidance region in, epoch 2 fills it without a gate.
    """
    models = {"target_model": "small", "optimizer_model": "large", "gate_metric": "hard", "env": "sums"}
    write(root / "config.json", {**models, **(config or {})})
    write(root / "skills" / "skill_v0000.md", INITIAL)
    results(root / "selection_eval_baseline", "a")
    step(root, 1, FIRST, FIRST, EDITS, "ab")
    step(root, 2, BAD, FIRST + PLACE, [{"op": "append", "content": "- Guess.", "target": ""}], "c")
    step(root, 3, THIRD, THIRD, [{"op": "append", "content": "- Check it.", "target": ""}], "abc")
    write(root / "skills" / "skill_v0004.md", FILLED)
    history = [row(1, "accept_new_best", 0.5, 0.5), row(2, "reject", 0.25, 0.5), row(3, "accept_new_best", 0.75, 0.75)]
    write(
        root / "history.json", [*history, {"step": 4, "epoch": 2, "action": "skip_no_patches", "current_score": 0.75}]
    )
    write(root / "slow_update" / "epoch_01" / "slow_result.json", {"action": "inject_placeholder", "epoch": 1})
    said = {"action": "force_accept", "slow_update_content": "Mind the units.", "reasoning": "units were lost"}
    write(root / "slow_update" / "epoch_02" / "slow_result.json", said)
    write(root / "slow_update" / "epoch_02" / "candidate_skill.md", FILLED)
    write(root / "meta_skill" / "epoch_02" / "meta_skill_result.json", {"meta_skill_content": "Small edits help."})
    write(root / "best_skill.md", THIRD)
    for folder, solved in (("test_eval_baseline", "a"), ("test_eval", "abc"), ("test_eval_final", "abcd")):
        results(root / folder, solved)
    return root
