"""The loop: epochs of steps, each step six calls and one record.

    rollout -> reflect -> aggregate -> select -> update -> gate        a step
    compare -> appendix, slow update -> gate -> meta skill             an epoch's end

Every step and every epoch's end is published in one transaction and returns the state that the next one starts from;
a resumed run rebuilds the same state from the journal.
"""

from __future__ import annotations

from dataclasses import replace

from skillgit.longitudinal import Pair, chosen_pairs, compare, movement
from skillgit.record import EpochOutcome, Outcome, Rolled
from skillgit.run import Run, Step, Summary
from skillgit.salvaging import salvage, shares
from skillgit.size import room
from skillgit.stages.aggregate import aggregate
from skillgit.stages.consolidate import appendix
from skillgit.stages.meta import meta
from skillgit.stages.reflect import reflect
from skillgit.stages.rewrite import rewrite
from skillgit.stages.select import select
from skillgit.stages.slow import slow
from skillgit.stages.update import update
from skillgit.state import State, Version


async def train(run: Run) -> Summary:
    """Train to the last step of the last epoch, from the beginning or from where the journal stands.

    Raises NotMeasured, FatalModelError or LimitReached when a step could not be finished: nothing of that step is
    recorded, and what was paid for is kept.
    """
    if run.state and run.complete:
        return run.summary(run.state)
    state = await begin(run)
    for epoch in run.epochs_after(state):
        for step in run.steps_after(state, epoch):
            state = await take(run, state, step)
        state = await end_epoch(run, state, epoch)
    return await finish(run, state)


async def begin(run: Run) -> State:
    """The state to start from: the journal's, or the score of the text that the branch holds now.

    The first text of a run is both current and best. A tip that a person made meanwhile is scored and taken as current.
    """
    commit, text = run.initial
    if run.state and run.state.current.commit == commit:
        return run.state
    with run.stage("baseline", len(run.splits.selection)):
        done = run.state.step if run.state else 0
        version = Version(commit, text, (await run.measure(text)).scores, done)
    known = run.state.best if run.state else run.known_best()
    return run.recorder.baseline(version, run.state, best=run.better(known, version) if known else version)


async def take(run: Run, state: State, step: Step) -> State:
    """One step: propose edits from a batch of rollouts, and let the gate decide."""
    current, settings, edits = state.current.text, run.settings, run.settings.edits

    with run.stage("rollout", len(step.tasks)):
        trajectories = await run.rollouts.batch(current, step.tasks, min_coverage=settings.gate.min_coverage)

    feedback, words = run.feedback(state), room(current.text, edits.max_tokens)
    unusable = run.optimizer.parse_failures
    with run.stage("reflect"):
        proposals = await reflect(
            run.optimizer,
            trajectories,
            skill=current.text,
            budget=step.budget,
            buffer=feedback,
            meta=state.meta,
            settings=settings.reflect,
            seed_parts=(settings.train.seed, run.number, step.number),
            mode=edits.mode,
            words=words,
            success_reminders=settings.appendix.source == "both",
        )
    with run.stage("aggregate"):
        merged = await aggregate(
            run.optimizer, proposals, skill=current.text, meta=state.meta, settings=settings.reflect, mode=edits.mode
        )
    with run.stage("select"):
        selection = await select(
            run.optimizer,
            merged.patch,
            skill=current.text,
            budget=step.budget,
            autonomous=edits.schedule == "autonomous",
            meta=state.meta,
            score=Rolled.of(trajectories).hard,
            buffer=feedback,
        )
    if edits.mode == "rewrite_from_suggestions":
        with run.stage("rewrite"):
            selection = await rewrite(run.optimizer, selection, skill=current.text, meta=state.meta, words=words)
    gated = settings.appendix.gate == "gated"
    updated = update(
        current.text,
        selection,
        (*proposals.unreadable, *merged.unreadable),
        settings=edits,
        reminders=proposals.reminders if gated else (),
        refuse=lambda edit: run.refusal(current.text, edit.content),
    )
    outcome = Outcome(
        step.epoch,
        step.number,
        selection.budget,
        Rolled.of(trajectories),
        proposals.patterns,
        updated.reports,
        updated.texts,
        (*proposals.fallbacks, *merged.fallbacks, *selection.fallbacks),
        run.optimizer.parse_failures - unusable,
        reminders=() if gated else tuple(note.content for note in proposals.reminders),
    )
    if updated.texts:
        with run.stage("gate", len(run.splits.selection)):
            level, _ = shares(run, len(updated.texts))
            outcome = replace(outcome, **await run.judge(updated.text, state, share=level))
    if outcome.rejected and settings.gate.salvage:
        with run.stage("salvage", settings.gate.salvage * len(run.splits.selection)):
            outcome = await salvage(run, state, outcome)
    return run.recorder.step(state, outcome)


async def end_epoch(run: Run, state: State, epoch: int) -> State:
    """Compare the epoch's two ends, rewrite the protected regions of the skill, and the optimizer's advice to itself."""
    slow_update = run.settings.slow_update
    outcome = EpochOutcome(epoch, meta=state.meta)
    pairs: tuple[Pair, ...] = ()
    before, after = state.previous.text, state.current.text
    if run.compares(epoch):
        with run.stage("compare", 2 * slow_update.samples):
            compared = await compare(
                run.rollouts,
                run.splits.train,
                before,
                after,
                samples=slow_update.samples,
                shown=slow_update.pairs,
                seed_parts=(run.settings.train.seed, run.number, epoch),
                min_coverage=run.settings.gate.min_coverage,
            )
        outcome = replace(outcome, movement=movement(compared))
        pairs = chosen_pairs(compared, slow_update.pairs, slow_update.samples)
    outcome = await meta_update(run, state, outcome, pairs)
    if run.compares(epoch) and run.settings.meta_skill.enabled:
        with run.stage("meta"):
            advice, lost = await meta(run.optimizer, before=before.text, after=after.text, pairs=pairs, meta=state.meta)
            outcome = replace(outcome, meta=advice, fallbacks=(*outcome.fallbacks, *lost))
    return run.recorder.epoch(state, outcome)


async def meta_update(run: Run, state: State, outcome: EpochOutcome, pairs: tuple[Pair, ...]) -> EpochOutcome:
    """New guidance for the target and a new appendix, through one gate or (forced) past it."""
    text = state.current.text.text
    if run.settings.reflect.skill_aware:
        with run.stage("appendix"):
            waiting = [note for entry in state.buffer for note in entry.get("reminders", ())]
            above = run.settings.appendix.consolidate_above
            notes, lost = await appendix(run.optimizer, skill=text, waiting=waiting, above=above)
        outcome = replace(outcome, notes=notes, fallbacks=lost)
    if run.compares(outcome.epoch) and run.settings.slow_update.enabled:
        with run.stage("slow update"):
            before, most = state.previous.text.text, run.settings.edits.max_tokens
            guidance, lost = await slow(
                run.optimizer, before=before, after=text, pairs=pairs, meta=state.meta, max_tokens=most
            )
            refused = run.refusal(text, guidance)
        lost = (*lost, f"slow update: not taken, {refused}") if refused else lost
        outcome = replace(outcome, guidance="" if refused else guidance, fallbacks=(*outcome.fallbacks, *lost))
    outcome = outcome.written_into(text)
    if not outcome.texts:
        return outcome
    forced = run.settings.slow_update.acceptance == "forced"
    with run.stage("epoch gate", len(run.splits.selection)):
        judged = await (run.score(outcome.texts[-1]) if forced else run.judge(outcome.texts[-1], state))
    return replace(outcome, forced=forced, **judged)


async def finish(run: Run, state: State) -> Summary:
    """Score the held-out test split: initial, best and current skill."""
    best = run.better(state.current, state.best)
    versions = {"initial": state.initial, "best": best, "current": state.current}
    tests = {}
    if run.settings.eval.test:
        with run.stage("test", len(run.splits.test) * len({version.text.blob for version in versions.values()})):
            tests = {role: await run.test(version) for role, version in versions.items()}
    return run.summary(run.recorder.final(state, best, tests))
