"""The facts of an imported run in the form of our records. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from skillgit.importing.replay import Change
from skillgit.importing.run_folder import Measured, RunFolder, Slow, Step
from skillgit.models.base import Usage
from skillgit.spending import Spent
from skillgit.stats import interval, paired_interval
from skillgit.yamltext import dump

NO_EDIT = "the run changed text that no edit may change, so the change is a commit without trailers"
POLICY = "strict"
MARGIN = 1e-9
DIGEST = "imported"
SECRET = re.compile(r"(?i)api_key|secret|password|credential|(?:^|_)token$")
"""Settings that must not get into a repository, whatever the run folder holds."""
TARGETS = ("rollout", "evaluate", "eval")


def config_text(run: RunFolder) -> str:
    """config.yaml: the gate that judged, and the run's own settings."""
    gate = {"policy": POLICY, "metric": run.metric, "mixed_weight": run.weight}
    kept = {key: value for key, value in run.config.items() if not SECRET.search(key)}
    return dump({"settings": {"gate": gate}, "imported": {"from": "skillopt", "config": kept}})


def models(config: Mapping[str, Any]) -> dict[str, str]:
    """The two models, as trailers."""
    names = {role: str(config.get(f"{role}_model") or "unknown") for role in ("target", "optimizer")}
    return {"Skill-Target": names["target"], "Skill-Optimizer": names["optimizer"]}


def verdict(
    run: RunFolder, said: str, current: Measured, candidate: Measured, best: Measured
) -> tuple[str, dict[str, Any]]:
    """(action, verdict). Where scores do not bear the run's decision out (its gate was off), the action is ``forced``."""
    before, after, top = (round(one.value(run.metric, run.weight), 6) for one in (current, candidate, best))
    action = said
    if said != "reject":
        action = "forced" if after <= before else "accept_new_best" if after > top else "accept"
    elif after > before:
        action = "reject"
    both = [task for task in current.items if task in candidate.items]
    moves = {
        task: Measured(*candidate.items[task]).value(run.metric, run.weight)
        - Measured(*current.items[task]).value(run.metric, run.weight)
        for task in both
    }
    low, high = paired_interval(list(moves.values()))
    fixed, broken = ([t for t, m in moves.items() if sign * m > MARGIN] for sign in (1, -1))
    count = len(candidate.items)
    words = {"reject": "not higher" if after <= before else "rejected by the run", "forced": "taken without a gate"}
    return action, {
        "action": action,
        "policy": POLICY if (action == "reject") == (after <= before) else "off",
        "reason": f"{before:.4f} -> {after:.4f}: {words.get(action, 'higher')}",
        "before": before,
        "after": after,
        "best": top,
        "delta": round(after - before, 6),
        "interval": [round(low, 6), round(high, 6)],
        "movement": {"fixed": fixed, "broken": broken, "unchanged": len(both) - len(fixed) - len(broken)},
        "evaluated": count,
        "total": count,
        "upper_bound": False,
        "p_value": None,
        "level": None,
        "shorter": False,
    }


def rows(edits: Sequence[Mapping[str, Any]], made: Sequence[Change]) -> list[dict[str, Any]]:
    """patch.yaml: what each edit did; without changes, the edits as they were proposed."""
    if made:
        return [{**change.edit.as_dict(), "status": "applied"} for change in made]
    kept = ("op", "target", "content", "title", "reasoning")
    return [{"status": "left_out", **{key: str(edit.get(key) or "") for key in kept}} for edit in edits]


def of_step(step: Step, patch: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The part of a step's record that its rollouts and proposals make; ``patch`` has the rows of patch.yaml."""
    row = step.record
    count, hard = int(row.get("rollout_n") or 0), float(row.get("rollout_hard") or 0.0)
    ended = Counter(str(edit["status"]) for edit in patch)
    return {
        "budget": row.get("edit_budget"),
        "rollout": {
            "n": count,
            "failed": count - round(hard * count),
            "errors": 0,
            "hard": hard,
            "soft": float(row.get("rollout_soft") or 0.0),
        },
        "edits": {"proposed": len(patch), **ended},
        "patterns": [_pattern(one) for one in step.patterns],
        "fallbacks": [],
        "parse_failures": 0,
    }


def _pattern(said: Any) -> dict[str, Any]:
    if isinstance(said, Mapping):
        words = str(said.get("pattern") or said.get("failure_type") or said.get("description") or said)
        ids = [str(one) for one in said.get("task_ids") or said.get("ids") or ()]
        count = said.get("count")
        return {"pattern": words, "count": count if isinstance(count, int) else len(ids), "task_ids": ids}
    return {"pattern": str(said), "count": 1, "task_ids": []}


def of_epoch(slow: Slow) -> dict[str, Any]:
    """The part of an epoch's record that is known of the reference's."""
    return {"reason": f"the run says: {slow.action or 'nothing'}", "longitudinal": {}, "fallbacks": []}


def skipped(step: Step) -> str:
    return f"the run says: {step.action}" if "skip" in step.action else "the candidate is the current skill"


def score_trailers(before: Measured, after: Measured, action: str) -> dict[str, str]:
    """As training writes them; zero tasks where the run kept means only."""
    hard = f"hard {before.hard:.4f} -> {after.hard:.4f}"
    soft = f"soft {before.soft:.4f} -> {after.soft:.4f}"
    return {"Skill-Score": f"{hard}, {soft} ({len(after.items)} tasks)", "Skill-Gate": f"{action} {POLICY}"}


def note_lines(env: str, target: str, score: Measured) -> str:
    """The scores note of a text. The tasks are not here, so no later evaluation takes these scores for its own."""
    items = {task: [hard, soft, DIGEST] for task, (hard, soft) in score.items.items()}
    return json.dumps({"env": env, "target": target, "sample": 0, "items": items}, ensure_ascii=False) + "\n"


def tested(score: Measured) -> dict[str, Any]:
    """Figures on the test tasks."""
    low, high = interval([hard for hard, _ in score.items.values()])
    figures = {"hard": round(score.hard, 6), "soft": round(score.soft, 6), "n": len(score.items)}
    return {**figures, "interval": [round(low, 6), round(high, 6)]}


def spent(row: Mapping[str, Any]) -> Spent:
    """Calls and tokens by stage; the reference keeps no prices, so what it cost is unknown."""
    found: Spent = {}
    for stage, use in (row.get("tokens") or {}).items():
        if isinstance(use, Mapping) and use.get("calls"):
            role = "target" if stage in TARGETS else "optimizer"
            tokens = int(use.get("prompt_tokens") or 0), int(use.get("completion_tokens") or 0)
            found[str(stage), role] = Usage(*tokens, usd=None, calls=int(use["calls"]))
    return found


def seconds(step: Step | None) -> dict[str, float]:
    timing = (step.record.get("timing") or {}) if step else {}
    return {key.removesuffix("_s"): float(value) for key, value in timing.items() if isinstance(value, int | float)}
