"""Publishes what a run finds: each step becomes part of the repository in one transaction, wholly or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skillgit import record
from skillgit.git.notes import Notes
from skillgit.git.publish import Publication, publish
from skillgit.record import EpochOutcome, Outcome
from skillgit.rollout import Text
from skillgit.scores import ScoreBook
from skillgit.state import REMEMBERED, Entry, State, Version, advance, scores_of

if TYPE_CHECKING:
    from skillgit.gate import Scores
    from skillgit.git.history import SkillHistory
    from skillgit.git.repo import Repo
    from skillgit.report import Reporter
    from skillgit.spending import Spending
    from skillgit.splits import Task


class Recorder:
    """Writes the journal, the branch, best and the notes of one run.

    ``config`` is the text kept as config.yaml, ``selection`` the tasks the gate judges by, ``models`` the two specs named
    in trailers, ``samples`` the repeats of each selection task.
    """

    def __init__(
        self,
        repo: Repo,
        history: SkillHistory,
        book: ScoreBook,
        spending: Spending,
        reporter: Reporter,
        *,
        run: int,
        config: str,
        selection: Sequence[Task],
        models: Mapping[str, str],
        samples: int = 1,
    ) -> None:
        self._repo = repo
        self._history = history
        self._book = book
        self._spending = spending
        self._reporter = reporter
        self._run = run
        self._config = config
        self._selection = selection
        self._models = models
        self._samples = samples
        tip = history.journal.tip()
        self._journal = tip.oid if tip else None

    def baseline(self, version: Version, state: State | None, best: Version) -> State:
        """The score of the text a run starts from; with ``state``, of a tip that a person moved meanwhile."""
        epoch, step = (state.epoch, state.step) if state else (0, 0)
        facts = record.baseline_record(self._run, version, best, epoch, step)
        entry = self._entry(facts, version.text, version.scores, meta=state.meta if state else "")
        if state is None and best.commit != version.commit:
            lines = self._book.lines(best.text.blob, self._selection, self._samples)
            entry = replace(entry, best=best.text.text, best_scores=lines)
        return self._publish(state, entry, current=version, best=best)

    def step(self, state: State, outcome: Outcome) -> State:
        """A step: edit commits when it was accepted, a rejected-edit note when not, the journal in any case."""
        current, best, commits = state.current, state.best, []
        if outcome.accepted:
            messages = record.edit_messages(self._run, outcome, current.scores, self._models)
            commits = self._history.edit_commits(current.commit, outcome.texts, messages)
            current = self._version(commits[-1], outcome, outcome.step)
            best = current if outcome.action == "accept_new_best" else best
        facts = record.step_record(self._run, outcome, current, best)
        patch = record.patch_rows(outcome.reports, commits)
        notes = (
            {"rejected": {current.commit: record.rejected_note(self._history.name, facts, patch)}}
            if outcome.rejected
            else {}
        )
        entry = self._entry(facts, outcome.candidate, outcome.scores, patch=patch, meta=state.meta)
        return self._publish(state, entry, current=current, best=best, notes=notes)

    def epoch(self, state: State, outcome: EpochOutcome) -> State:
        """An epoch's end: its meta-update as a squash merge when it was accepted, and the meta skill in any case."""
        current, best, side = state.current, state.best, None
        if outcome.candidate:
            messages = record.meta_messages(self._run, outcome, self._models)
            side = self._history.edit_commits(current.commit, outcome.texts, messages)[-1]
        if side and outcome.accepted:
            squash = record.squash_message(self._run, outcome, current.scores, self._models)
            current = self._version(self._history.squash(current.commit, side, squash), outcome, state.step)
            best = current if outcome.action == "accept_new_best" else best
        facts = record.epoch_record(self._run, state.step, outcome, current, best)
        patch = record.meta_rows(outcome)
        notes: dict[str, dict[str, str]] = {"meta": {current.commit: outcome.meta}} if outcome.meta else {}
        if outcome.rejected:
            notes["rejected"] = {current.commit: record.rejected_note(self._history.name, facts, patch)}
        entry = self._entry(facts, outcome.candidate, outcome.scores, patch=patch, meta=outcome.meta)
        epoch = (f"{self._run}-{outcome.epoch}", side) if side else None
        return self._publish(state, entry, current=current, best=best, notes=notes, epoch=epoch)

    def final(self, state: State, best: Version, test: Mapping[str, Any]) -> State:
        """The end of the run, with the test scores."""
        facts = record.final_record(self._run, state, best, test)
        return self._publish(state, self._entry(facts, meta=state.meta), current=state.current, best=best)

    def earlier_rejections(self, state: State) -> list[dict[str, Any]]:
        """Rejections of the current text that this epoch's buffer does not hold, oldest first.

        Those of earlier runs and of other clones are in the notes alone; this run's own are known without them.
        """
        here = {(self._run, entry["step"]) for entry in state.buffer}
        notes = record.read_notes(Notes(self._repo, "rejected").get(state.current.commit), self._history.name)
        found = {(note["run"], note["step"], note.get("kind")): note for note in (*notes, *state.rejections)}
        others = [note for (run, step, _), note in found.items() if (run, step) not in here]
        return [record.shown_rejection(note) for note in others[-REMEMBERED:]]

    def known_best(self) -> Version | None:
        """The best skill of earlier runs, if all its selection scores under the present conditions are known."""
        commit = self._history.best()
        if commit is None:
            return None
        text = Text(self._history.blob(commit), self._history.text(commit))
        known = self._book.known(text.blob, self._selection)
        wanted = [[known.get((task.id, sample)) for sample in range(self._samples)] for task in self._selection]
        if any(score is None for scores in wanted for score in scores):
            return None
        return Version(commit, text, scores_of(self._book.lines(text.blob, self._selection, self._samples)))

    def _version(self, commit: str, outcome: Outcome | EpochOutcome, step: int) -> Version:
        assert outcome.candidate and outcome.scores
        return Version(commit, outcome.candidate, outcome.scores, step)

    def _entry(
        self,
        facts: Mapping[str, Any],
        candidate: Text | None = None,
        scores: Scores | None = None,
        *,
        patch: Sequence[Mapping[str, Any]] = (),
        meta: str = "",
    ) -> Entry:
        text = candidate.text if candidate else ""
        lines = self._book.lines(candidate.blob, self._scored(scores), self._samples) if candidate and scores else ""
        return Entry(facts, self._config, text, patch, meta, lines, self._spending.since_last())

    def _scored(self, scores: Scores) -> list[Task]:
        measured = {item.task_id for item in scores.items if item.status == "scored"}
        return [task for task in self._selection if task.id in measured]

    def _publish(
        self,
        state: State | None,
        entry: Entry,
        *,
        current: Version,
        best: Version,
        notes: Mapping[str, Mapping[str, str]] | None = None,
        epoch: tuple[str, str] | None = None,
    ) -> State:
        scores = self._book.take()
        baseline = entry.record["kind"] == "baseline"  # of a branch that is not there yet, or of its tip
        expected = current.commit if state is None or baseline else state.current.commit
        publication = Publication(
            files=entry.files(),
            subject=record.subject(self._history.name, entry.record),
            parent=self._journal,
            branch=(current.commit, expected if self._history.tip() else None),
            best=(best.commit, self._history.best()),
            notes={**(notes or {}), **({"scores": scores} if scores else {})},
            epoch=epoch,
        )
        self._journal = publish(self._repo, self._history, publication)
        self._spending.published(self._journal)
        self._reporter.entry(entry.record, entry.spend)
        return advance(state, entry)
