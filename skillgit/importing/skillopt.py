"""A run folder of the reference system becomes a skill branch: a commit for each accepted edit, and the whole record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillgit import record
from skillgit.errors import RefusedError
from skillgit.git.history import SkillHistory
from skillgit.git.publish import Publication, publish
from skillgit.git.trailers import CommitMessage
from skillgit.importing import facts
from skillgit.importing.replay import Change, changes, only_regions
from skillgit.importing.run_folder import Measured, RunFolder, Slow, Step
from skillgit.spending import Spent, added, as_rows
from skillgit.state import Entry

if TYPE_CHECKING:
    from skillgit.git.repo import Repo

RUN = 1


@dataclass(frozen=True, slots=True)
class Version:
    """A text with its commit and score; ``step`` made it."""

    commit: str
    blob: str
    text: str
    score: Measured
    step: int = 0

    def as_dict(self) -> dict[str, Any]:
        hard, soft = round(self.score.hard, 6), round(self.score.soft, 6)
        named = {"commit": self.commit, "blob": self.blob, "hard": hard, "soft": soft}
        return {**named, "n": len(self.score.items), "step": self.step}


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import; ``by_hand`` counts changes that no edit could express."""

    skill: str
    steps: int
    accepted: int
    commits: int
    by_hand: int
    best: str


class Importer:
    """Publishes a run entry by entry, in the order in which it happened."""

    def __init__(self, repo: Repo, name: str, run: RunFolder) -> None:
        self._repo, self._run = repo, run
        self._history = SkillHistory(repo, name)
        self._config = facts.config_text(run)
        self._models = facts.models(run.config)
        self._env = f"skillopt:{run.config.get('env', 'unknown')}"
        self._total: Spent = {}
        self._epoch = self._step = self._commits = self._by_hand = self._accepted = 0
        self._meta = ""
        self._ref: str | None = None
        base = self._base()
        self._current = Version(base, self._history.blob(base), run.initial, run.baseline)
        self._best = self._current

    def publish(self) -> Imported:
        """Write all of it. RefusedError when the skill has a branch already."""
        name = self._history.name
        if self._history.tip() or self._history.journal.tip():
            raise RefusedError(f"skill '{name}' has a history already", hint="import the run under another name")
        self._put({**self._facts("baseline", "baseline"), "reason": "the score the run starts from"}, new=self._current)
        for step in self._run.steps:
            self._take_step(step)
            if step.slow:
                self._end_epoch(step, step.slow)
            elif step.after != self._current.text:
                self._take_by_hand(step.after, f"text as saved after step {step.number}")
        self._finish()
        return Imported(name, len(self._run.steps), self._accepted, self._commits, self._by_hand, self._best.commit)

    def _base(self) -> str:
        """HEAD when it holds the initial skill; else a commit on top of it that does."""
        from skillgit.scaffold import fresh_files

        history, data = self._history, self._run.initial.encode("utf-8")
        head = self._repo.head
        if head is None:
            raise RefusedError("nothing is committed in this repository yet", hint="git commit --allow-empty -m Start")
        if self._repo.read_file(head, history.path) == data:
            return head
        files = {**fresh_files(history.name), "SKILL.md": data}
        commit = head
        for name, content in files.items():
            path = history.path.replace("SKILL.md", name)
            if name == "SKILL.md" or self._repo.entry(commit, path) is None:
                tree = self._repo.replace_file(commit, path, self._repo.write_blob(content))
                message = f"{history.name}: the initial skill of an imported run\n"
                commit = self._repo.write_commit(tree, [head], message)
        return commit

    # -- steps

    def _take_step(self, step: Step) -> None:
        self._step, self._epoch = step.number, step.epoch
        before, candidate, score = self._current, step.candidate, step.score
        if candidate is None or score is None or candidate == before.text or "skip" in step.action:
            left = facts.rows(step.edits, ())
            told = {**self._facts("step", "skip"), **facts.of_step(step, left), "reason": facts.skipped(step)}
            return self._put(told, step, rows=left)
        action, verdict = facts.verdict(self._run, step.action, before.score, score, self._best.score)
        made = changes(before.text, candidate, step.edits)
        rows = facts.rows(step.edits, made or ())
        if action == "reject":
            return self._reject(step, candidate, score, verdict, rows)
        if not made:
            told = {**self._facts("step", "skip"), **facts.of_step(step, rows), "reason": facts.NO_EDIT}
            self._put(told, step, rows=rows)
            return self._take_by_hand(candidate, f"step {step.number} of the imported run", score)
        commits = self._history.edit_commits(
            before.commit, [one.text for one in made], self._messages(step, made, action, score)
        )
        for row, commit in zip(rows, commits, strict=True):
            row["commit"] = commit
        self._accepted += 1
        new = self._version(commits[-1], candidate, score)
        told = {**self._facts("step", action), **facts.of_step(step, rows), **self._judged(new, verdict)}
        return self._put(told, step, new=new, rows=rows)

    def _reject(
        self, step: Step, candidate: str, score: Measured, verdict: dict[str, Any], rows: list[dict[str, Any]]
    ) -> None:
        blob = self._repo.write_blob(candidate.encode("utf-8"))
        tried = Version("", blob, candidate, score)
        told = {**self._facts("step", "reject"), **facts.of_step(step, rows), **self._judged(tried, verdict)}
        self._put(told, step, tried=tried, rows=rows)

    def _messages(self, step: Step, made: Sequence[Change], action: str, score: Measured) -> list[CommitMessage]:
        found = []
        for number, change in enumerate(made, start=1):
            trailers = {
                "Skill-Run": str(RUN),
                "Skill-Epoch": str(step.epoch),
                "Skill-Step": str(step.number),
                "Skill-Edit": f"{number}/{len(made)}",
                "Skill-Op": change.edit.op,
                "Skill-Source": change.edit.source,
                "Skill-Support": str(change.edit.support),
                **self._models,
            }
            if number == len(made):
                trailers |= facts.score_trailers(self._current.score, score, action)
            found.append(CommitMessage(change.edit.title, change.edit.reasoning, trailers))
        self._commits += len(found)
        return found

    # -- ends of epochs

    def _end_epoch(self, step: Step, slow: Slow) -> None:
        self._meta = slow.meta or self._meta
        changed = step.after != self._current.text
        if changed and not only_regions(self._current.text, step.after):
            self._put({**self._facts("epoch", "skip"), **facts.of_epoch(slow), "reason": facts.NO_EDIT}, meta=slow.meta)
            return self._take_by_hand(step.after, f"end of epoch {step.epoch} of the imported run")
        if changed:
            return self._squash(step, slow)
        if slow.action == "reject" and slow.candidate and slow.score:
            _, verdict = facts.verdict(self._run, "reject", self._current.score, slow.score, self._best.score)
            tried = Version("", self._repo.write_blob(slow.candidate.encode("utf-8")), slow.candidate, slow.score)
            told = {**self._facts("epoch", "reject"), **facts.of_epoch(slow), **self._judged(tried, verdict)}
            return self._put(told, tried=tried, meta=slow.meta)
        return self._put({**self._facts("epoch", "skip"), **facts.of_epoch(slow)}, meta=slow.meta)

    def _squash(self, step: Step, slow: Slow) -> None:
        before, score = self._current, slow.score or self._current.score
        action: str = "forced"
        verdict: dict[str, Any] = {}
        if slow.score and slow.action in ("accept", "accept_new_best"):
            action, verdict = facts.verdict(self._run, slow.action, before.score, score, self._best.score)
        common = {"Skill-Run": str(RUN), "Skill-Epoch": str(step.epoch), **self._models}
        side_message = CommitMessage(
            "slow update of the guidance", slow.reasoning, {**common, "Skill-Kind": "slow-update"}
        )
        (side,) = self._history.edit_commits(before.commit, [step.after], [side_message])
        scores = facts.score_trailers(before.score, score, action) if verdict else {"Skill-Gate": "forced off"}
        trailers = {**common, "Skill-Kind": "epoch", **scores}
        subject = f"epoch {step.epoch} meta-update (squash merge)"
        commit = self._history.squash(before.commit, side, CommitMessage(subject, "", trailers))
        self._commits += 1
        new = self._version(commit, step.after, score)
        told = {**self._facts("epoch", action), **facts.of_epoch(slow)}
        if verdict:
            told |= self._judged(new, verdict)
        self._put(told, new=new, meta=slow.meta, side=(f"{RUN}-{step.epoch}", side))

    # -- what no edit can express, and the end

    def _take_by_hand(self, text: str, what: str, score: Measured | None = None) -> None:
        """A commit without trailers, as a person makes one, and the baseline that follows it."""
        blob = self._repo.write_blob(text.encode("utf-8"))
        tree = self._repo.replace_file(self._current.commit, self._history.path, blob)
        commit = self._repo.write_commit(tree, [self._current.commit], f"{self._history.name}: {what}\n")
        self._by_hand += 1
        new = self._version(commit, text, score or self._current.score)
        self._put({**self._facts("baseline", "baseline"), "reason": facts.NO_EDIT}, new=new)

    def _finish(self) -> None:
        if self._run.best == self._current.text and self._best.text != self._current.text:
            self._best = self._current  # the reference promotes the last skill when its final score is the best
        tests = {role: facts.tested(score) for role, score in self._run.tests.items()}
        self._put({**self._facts("final", "final"), "reason": "imported from a run folder", "test": tests})

    # -- records

    def _version(self, commit: str, text: str, score: Measured) -> Version:
        return Version(commit, self._history.blob(commit), text, score, self._step)

    def _facts(self, kind: str, action: str) -> dict[str, Any]:
        return {"kind": kind, "run": RUN, "epoch": self._epoch, "step": self._step, "action": action, "reason": ""}

    def _judged(self, tried: Version, verdict: Mapping[str, Any]) -> dict[str, Any]:
        count = len(tried.score.items)
        values = {key: tried.as_dict()[key] for key in ("blob", "hard", "soft", "n")}
        candidate = {**values, "evaluated": count, "total": count, "upper_bound": False}
        return {"reason": verdict["reason"], "candidate": candidate, "unmeasured": [], "verdict": dict(verdict)}

    def _put(
        self,
        told: Mapping[str, Any],
        step: Step | None = None,
        *,
        new: Version | None = None,
        tried: Version | None = None,
        rows: Sequence[Mapping[str, Any]] = (),
        meta: str = "",
        side: tuple[str, str] | None = None,
    ) -> None:
        before, best = self._current, self._best
        if new:
            self._current = new
        if told["action"] == "accept_new_best" or (told["kind"] == "baseline" and told["step"] == 0):
            self._best = self._current
        order = ("kind", "run", "epoch", "step", "action", "reason")
        head = {key: told[key] for key in order}
        whole = {**head, "current": self._current.as_dict(), "best": self._best.as_dict(), **told}
        shown = new or tried
        lines = facts.note_lines(self._env, self._models["Skill-Target"], shown.score) if shown else ""
        notes: dict[str, dict[str, str]] = {"scores": {shown.blob: lines}} if shown and lines else {}
        if told["action"] == "reject":
            notes["rejected"] = {before.commit: record.rejected_note(self._history.name, whole, rows)}
        if meta:
            notes["meta"] = {self._current.commit: meta}
        spent = facts.spent(step.record) if step else {}
        self._total = added(self._total, spent)
        spend = {"seconds": facts.seconds(step), "spent": as_rows(spent), "total": as_rows(self._total)}
        entry = Entry(whole, self._config, shown.text if shown else "", rows, self._meta, lines, spend)
        published = Publication(
            entry.files(),
            record.subject(self._history.name, whole),
            self._ref,
            branch=(self._current.commit, before.commit if self._ref else None),
            best=(self._best.commit, best.commit if self._ref else None),
            notes=notes,
            epoch=side,
        )
        self._ref = publish(self._repo, self._history, published)


def import_run(repo: Repo, name: str, run: RunFolder) -> Imported:
    """Turn a run into the history of skill ``name``: branch, best, journal and notes."""
    return Importer(repo, name, run).publish()
