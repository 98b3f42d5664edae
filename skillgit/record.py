"""From what a step found to what git keeps: journal records, commit messages, rejected-edit notes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from skillgit.git.trailers import CommitMessage
from skillgit.skill import APPLIED, Edit, EditReport, Pattern, with_appendix, with_guidance
from skillgit.yamltext import dump, load

if TYPE_CHECKING:
    from skillgit.contamination import Copied
    from skillgit.env import Trajectory
    from skillgit.gate import Scores, Verdict
    from skillgit.rollout import Evaluation, Text
    from skillgit.state import State, Version

EDIT_KEYS = ("op", "target", "content", "title")


@dataclass(frozen=True, slots=True)
class Rolled:
    """The step's rollouts in numbers; errors are in no mean."""

    n: int
    failed: int
    errors: int
    hard: float
    soft: float

    @classmethod
    def of(cls, trajectories: Sequence[Trajectory]) -> Rolled:
        scored = [t for t in trajectories if not t.error]
        failed = sum(t.hard == 0 for t in scored)
        count = max(1, len(scored))
        hard, soft = sum(t.hard for t in scored) / count, sum(t.soft for t in scored) / count
        return cls(len(trajectories), failed, len(trajectories) - len(scored), round(hard, 6), round(soft, 6))


@dataclass(frozen=True, slots=True)
class Tried:
    """A part of a rejected candidate that was judged on its own: the places of its edits, and the verdict."""

    edits: tuple[int, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything a step found out.

    ``reports`` has one entry for each proposed edit, ``texts`` the versions after each edit that changed the text.
    Without ``verdict`` the step was skipped. ``kind`` patch is a diff from outside, judged between two steps. After a
    salvage, ``whole`` is the verdict on all edits together and ``tried`` has those on its parts. ``parse_failures``
    counts optimizer answers that had to be asked for again. ``copied`` is what the candidate has from train tasks,
    ``reminders`` what waits for the epoch's end (``appendix.gate: forced``); ``forced``: taken without a gate.
    """

    epoch: int
    step: int
    budget: int | None
    rolled: Rolled
    patterns: tuple[Pattern, ...]
    reports: tuple[EditReport, ...]
    texts: tuple[str, ...]
    fallbacks: tuple[str, ...]
    parse_failures: int = 0
    candidate: Text | None = None
    evaluation: Evaluation | None = None
    verdict: Verdict | None = None
    kind: Literal["step", "patch"] = "step"
    whole: Verdict | None = None
    tried: tuple[Tried, ...] = ()
    copied: tuple[Copied, ...] = ()
    reminders: tuple[str, ...] = ()
    forced: bool = False

    @property
    def action(self) -> str:
        if self.forced:
            return "forced"
        return self.verdict.action if self.verdict else "skip"

    @property
    def accepted(self) -> bool:
        return self.forced or (self.verdict is not None and self.verdict.accepted)

    @property
    def rejected(self) -> bool:
        return self.verdict is not None and not self.verdict.accepted

    @property
    def scores(self) -> Scores | None:
        return self.evaluation.scores if self.evaluation else None


@dataclass(frozen=True, slots=True)
class EpochOutcome:
    """What the end of an epoch found out.

    ``movement`` maps improved, regressed, persistent and stable to task ids; ``notes`` is the new appendix, None when it
    stays as it is, ``guidance`` the new guidance, "" when it does; ``texts`` the versions after each of the two.
    """

    epoch: int
    movement: Mapping[str, Sequence[str]] = field(default_factory=dict)
    meta: str = ""
    fallbacks: tuple[str, ...] = ()
    candidate: Text | None = None
    guidance: str = ""
    evaluation: Evaluation | None = None
    verdict: Verdict | None = None
    forced: bool = False
    notes: tuple[str, ...] | None = None
    texts: tuple[str, ...] = ()
    copied: tuple[Copied, ...] = ()

    def written_into(self, text: str) -> EpochOutcome:
        """With the texts that notes and guidance make of the skill; what changes nothing is left out."""
        texts = [text]
        if self.notes is not None:
            texts.append(with_appendix(text, self.notes))
        guided = with_guidance(texts[-1], self.guidance) if self.guidance else texts[-1]
        guidance = self.guidance if guided != texts[-1] else ""
        return replace(self, guidance=guidance, texts=(*texts[1:], *([guided] if guidance else [])))

    @property
    def action(self) -> str:
        if self.candidate is None:
            return "skip"
        if self.forced:
            return "forced"
        assert self.verdict is not None
        return self.verdict.action

    @property
    def accepted(self) -> bool:
        return self.action in ("accept", "accept_new_best", "forced")

    @property
    def rejected(self) -> bool:
        return self.action == "reject"

    @property
    def scores(self) -> Scores | None:
        return self.evaluation.scores if self.evaluation else None


# -- journal records


def baseline_record(run: int, version: Version, best: Version, epoch: int, step: int) -> dict[str, Any]:
    """The score a run starts from, or goes on from after a person moved the branch."""
    return {
        "kind": "baseline",
        "run": run,
        "epoch": epoch,
        "step": step,
        "action": "baseline",
        "reason": "the score the run starts from" if step == 0 else "the branch was moved by hand",
        "current": version.as_dict(),
        "best": best.as_dict(),
        "unmeasured": _unmeasured(version.scores),
    }


def step_record(run: int, outcome: Outcome, current: Version, best: Version) -> dict[str, Any]:
    """The record of a step; ``current`` and ``best`` are those after it."""
    return {
        "kind": outcome.kind,
        "run": run,
        "epoch": outcome.epoch,
        "step": outcome.step,
        "action": outcome.action,
        "reason": outcome.verdict.reason if outcome.verdict else _why_skipped(outcome),
        "current": current.as_dict(),
        "best": best.as_dict(),
        "budget": outcome.budget,
        "rollout": asdict(outcome.rolled),
        "edits": buckets(outcome.reports),
        "patterns": [_pattern(pattern) for pattern in outcome.patterns],
        "fallbacks": list(outcome.fallbacks),
        "parse_failures": outcome.parse_failures,
        **({"reminders": list(outcome.reminders)} if outcome.reminders else {}),
        **_judged(outcome),
        **_salvaged(outcome),
    }


def _pattern(pattern: Pattern) -> dict[str, Any]:
    facts = {"pattern": pattern.pattern, "count": pattern.count, "task_ids": list(pattern.task_ids)}
    return {**facts, "kind": pattern.kind} if pattern.kind else facts


def _salvaged(outcome: Outcome) -> dict[str, Any]:
    if outcome.whole is None:
        return {}
    tried = [{"edits": list(one.edits), "verdict": one.verdict.as_dict()} for one in outcome.tried]
    return {"salvage": {"whole": outcome.whole.as_dict(), "tried": tried}}


def epoch_record(run: int, step: int, outcome: EpochOutcome, current: Version, best: Version) -> dict[str, Any]:
    """The record of an epoch's end."""
    moved = outcome.movement
    return {
        "kind": "epoch",
        "run": run,
        "epoch": outcome.epoch,
        "step": step,
        "action": outcome.action,
        "reason": outcome.verdict.reason if outcome.verdict else _no_verdict(outcome),
        "current": current.as_dict(),
        "best": best.as_dict(),
        "longitudinal": {kind: list(ids) for kind, ids in moved.items()},
        "fallbacks": list(outcome.fallbacks),
        **_judged(outcome),
    }


def final_record(run: int, state: State, best: Version, test: Mapping[str, Any]) -> dict[str, Any]:
    """The end of a run: test scores of the initial, best and current skill."""
    return {
        "kind": "final",
        "run": run,
        "epoch": state.epoch,
        "step": state.step,
        "action": "final",
        "reason": "the run is complete",
        "current": state.current.as_dict(),
        "best": best.as_dict(),
        "test": dict(test),
    }


def _why_skipped(outcome: Outcome) -> str:
    if outcome.forced:
        return "taken without a gate"
    if not outcome.reports:
        return "nothing failed, and no edit was proposed" if not outcome.rolled.failed else "no edit was proposed"
    return f"none of the {len(outcome.reports)} proposed edits changes the skill"


def _no_verdict(outcome: EpochOutcome) -> str:
    if outcome.forced:
        return "taken without a gate (slow_update.acceptance: forced)"
    return "no new guidance" if outcome.movement else "this epoch's end compares nothing"


def _judged(outcome: Outcome | EpochOutcome) -> dict[str, Any]:
    if outcome.candidate is None or outcome.evaluation is None:
        return {}
    scores = outcome.evaluation.scores
    facts: dict[str, Any] = {
        "candidate": {
            "blob": outcome.candidate.blob,
            "hard": round(scores.hard, 6),
            "soft": round(scores.soft, 6),
            "n": scores.n_scored,
            "evaluated": outcome.evaluation.evaluated,
            "total": len(scores.items),
            "upper_bound": outcome.evaluation.stopped,
        },
        "unmeasured": _unmeasured(scores),
    }
    if outcome.copied:
        facts["copied"] = [one.as_dict() for one in outcome.copied]
    return facts | ({"verdict": outcome.verdict.as_dict()} if outcome.verdict else {})


def _unmeasured(scores: Scores) -> list[str]:
    return [item.task_id for item in scores.items if item.status == "error"]


def buckets(reports: Sequence[EditReport]) -> dict[str, int]:
    """How the proposed edits ended: ``proposed``, and a count for each status that occurs. They add up."""
    counts = Counter(report.status for report in reports)
    return {"proposed": len(reports), **{status: counts[status] for status in sorted(counts)}}


def patch_rows(reports: Sequence[EditReport], commits: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The proposed edits in full, each with how it ended; accepted ones name their commit."""
    made = iter(commits)
    rows = []
    for report in reports:
        row = {**report.edit.as_dict(), "status": report.status}
        if report.detail:
            row["detail"] = report.detail
        if commits and report.status in APPLIED:
            row["commit"] = next(made)
        rows.append(row)
    return rows


def meta_rows(outcome: EpochOutcome) -> list[dict[str, Any]]:
    """The parts of a meta-update as the edits of its patch: the appendix, then the guidance."""
    edits = []
    if outcome.candidate and outcome.notes is not None:
        edits.append(Edit("remind", "\n".join(outcome.notes), title="the whole appendix", source="lapse"))
    if outcome.candidate and outcome.guidance:
        edits.append(Edit("replace", outcome.guidance, title=f"slow update after epoch {outcome.epoch}", source="slow"))
    return [{**edit.as_dict(), "status": "applied"} for edit in edits]


def subject(name: str, record: Mapping[str, Any]) -> str:
    """The subject of a journal commit."""
    where = f"run {record['run']}"
    where += f" epoch {record['epoch']}" if record["kind"] == "epoch" else ""
    where += f" step {record['step']}" if record["kind"] == "step" else ""
    what = record["kind"] if record["kind"] in ("baseline", "final") else record["action"]
    return f"{name}: {where} {what}"


# -- the rejected-edit buffer


def rejected_note(name: str, record: Mapping[str, Any], patch: Sequence[Mapping[str, Any]]) -> str:
    """The YAML document for the rejected-edit buffer, made from journal facts alone so that it can be rebuilt."""
    return "---\n" + dump({"skill": name, **rejection(record, patch)})


def rejection(record: Mapping[str, Any], patch: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is kept of a rejected step, patch or epoch's end."""
    verdict = record["verdict"]
    return {
        "run": record["run"],
        "epoch": record["epoch"],
        "step": record["step"],
        "kind": record["kind"],
        "gate": f"{verdict['action']} {verdict['policy']}",
        "reason": verdict["reason"],
        "before": verdict["before"],
        "after": verdict["after"],
        "candidate": record["candidate"]["blob"],
        "edits": [dict(row) for row in patch],
        "patterns": list(record.get("patterns", ())),
    }


def shown_rejection(note: Mapping[str, Any]) -> dict[str, Any]:
    """What reflection is shown of a rejection from an earlier epoch or run."""
    return {
        "step": note["step"],
        "run": note["run"],
        "action": "reject",
        "before": note["before"],
        "after": note["after"],
        "edits": tried(note["edits"]),
        "patterns": note.get("patterns", []),
    }


def buffer_entry(record: Mapping[str, Any], patch: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a later step of the same epoch is shown of this one."""
    shown = {
        "step": record["step"],
        "action": record["action"],
        "failed": record["rollout"]["failed"],
        "total": record["rollout"]["n"],
        "patterns": list(record["patterns"]),
        "buckets": dict(record["edits"]),
        **({"reminders": record["reminders"]} if "reminders" in record else {}),
    }
    if record["action"] == "reject":
        verdict = record["verdict"]
        shown |= {"before": verdict["before"], "after": verdict["after"], "edits": tried(patch)}
    return shown


def tried(patch: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The edits of a patch that changed the candidate."""
    return [{k: row[k] for k in EDIT_KEYS if row.get(k)} for row in patch if row.get("status") in APPLIED]


def read_notes(text: str, name: str) -> list[dict[str, Any]]:
    """The documents of a rejected note that belong to a skill; those that a person broke are passed over."""
    import yaml

    found = []
    for part in f"\n{text}".split("\n---\n"):
        try:
            note = load(part)
        except yaml.YAMLError:
            continue
        wanted = {"run", "step", "before", "after", "edits"}
        if isinstance(note, dict) and note.get("skill") == name and wanted <= note.keys():
            found.append(note)
    return found


# -- commit messages


def edit_messages(run: int, outcome: Outcome, before: Scores, models: Mapping[str, str]) -> list[CommitMessage]:
    """One message for each edit that changed the text; the last one carries the scores and the gate."""
    edits = [report.edit for report in outcome.reports if report.status in APPLIED]
    messages = []
    for number, edit in enumerate(edits, start=1):
        trailers = {
            "Skill-Run": str(run),
            "Skill-Epoch": str(outcome.epoch),
            **_place(outcome, f"{number}/{len(edits)}"),
            "Skill-Op": edit.op,
            "Skill-Source": edit.source,
            "Skill-Support": str(edit.support),
            "Skill-Evidence": " ".join(edit.evidence),
            **_models(models),
        }
        if number == len(edits):
            trailers |= _scores(outcome, before)
        messages.append(CommitMessage(title_of(edit), edit.reasoning, {k: v for k, v in trailers.items() if v}))
    return messages


def _place(outcome: Outcome, number: str) -> dict[str, str]:
    """A step's edit, or an edit of a patch that came from outside between two steps."""
    if outcome.kind == "patch":
        return {"Skill-Kind": "patch", "Skill-Patch": number}
    return {"Skill-Step": str(outcome.step), "Skill-Edit": number}


def meta_messages(run: int, outcome: EpochOutcome, models: Mapping[str, str]) -> list[CommitMessage]:
    """The messages of the commits on an epoch's side branch: the appendix, then the slow update."""
    place = {"Skill-Run": str(run), "Skill-Epoch": str(outcome.epoch)}
    messages = []
    if outcome.notes is not None:
        body = "\n".join(f"- {note}" for note in outcome.notes)
        messages.append(CommitMessage("reminders", body, {**place, "Skill-Kind": "appendix", **_models(models)}))
    if outcome.guidance:
        trailers = {**place, "Skill-Kind": "slow-update", **_models(models)}
        messages.append(CommitMessage("slow update of the guidance", outcome.guidance, trailers))
    return messages


def squash_message(run: int, outcome: EpochOutcome, before: Scores, models: Mapping[str, str]) -> CommitMessage:
    """The message of an epoch's squash commit, without the list of squashed commits."""
    moved = ", ".join(f"{kind} {len(ids)}" for kind, ids in outcome.movement.items())
    trailers = {
        "Skill-Run": str(run),
        "Skill-Epoch": str(outcome.epoch),
        "Skill-Kind": "epoch",
        "Skill-Longitudinal": moved,
        **_models(models),
        **_scores(outcome, before),
    }
    return CommitMessage(f"epoch {outcome.epoch} meta-update (squash merge)", "", trailers)


VERBS = {"append": "add", "insert_after": "insert"}


def title_of(edit: Edit) -> str:
    """What an edit does, in one line: the optimizer's title, or derived from the edit."""
    if edit.title.strip():
        return " ".join(edit.title.split())
    verb = VERBS.get(edit.op, edit.op)
    words = " ".join((edit.content or edit.target).replace("#", " ").replace("*", " ").split())
    return f"{verb} {words.lstrip('- ')}"


def _models(models: Mapping[str, str]) -> dict[str, str]:
    return {"Skill-Target": models["target"], "Skill-Optimizer": models["optimizer"]}


def _scores(outcome: Outcome | EpochOutcome, before: Scores) -> dict[str, str]:
    assert outcome.evaluation is not None
    after = outcome.evaluation.scores
    policy = outcome.verdict.policy if outcome.verdict else "off"
    return {
        "Skill-Score": f"hard {before.hard:.4f} -> {after.hard:.4f}, soft {before.soft:.4f} -> {after.soft:.4f} "
        f"({after.n_scored} tasks)",
        "Skill-Gate": f"{outcome.action} {policy}",
    }
