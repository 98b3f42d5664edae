"""Several runs of one skill, and the sizes of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.errors import FatalModelError, LimitReached, NotMeasured, ProviderError, RaceError
from skillgit.models import base
from skillgit.models.base import Request
from tests import world
from tests.e2e.interruptions import uninterrupted
from tests.e2e.training import SUBJECTS, Training
from tests.world import World


@pytest.fixture
def training(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Training:
    return Training(repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks()), monkeypatch)


def test_a_second_run_starts_where_the_first_one_ended(training: Training) -> None:
    first = training.run()
    both = World()
    second = training.run(new_run=True, world=both)
    assert (second.run, second.initial.commit) == (2, first.current.commit)
    assert second.initial.scores.hard == first.current.scores.hard
    assert second.best.scores.hard >= first.best.scores.hard
    assert "demo: run 2 baseline" in training.subjects()
    assert (
        len(
            set(
                training.git(
                    "log", "--format=%(trailers:key=Skill-Base,valueonly)", "refs/skillgit/demo/journal"
                ).split()
            )
        )
        == 1
    )
    runs = training.git("log", "--format=%(trailers:key=Skill-Run,valueonly)", "main..skill/demo").split()
    assert runs == sorted(runs, reverse=True)
    known = first.current.text.text.strip()
    asked = [r for r in both.target.asked if ": selection " in r.messages[-1].content]
    assert asked
    assert not any(r.messages[0].content.strip() == known for r in asked)


def test_a_finished_run_is_left_alone(training: Training) -> None:
    training.run()
    refs, again = training.git("for-each-ref"), World()
    assert training.run(world=again).finished
    assert again.calls == 0
    assert training.git("for-each-ref") == refs


def test_a_persons_commit_after_the_end_is_measured_and_tested(training: Training) -> None:
    """The training ends at three rules, 6 of 12 tasks; rule 3 solves two more, in the test split as well."""
    first = training.run()
    by_hand = training.commit_by_hand("# Rules", "# Rules\n\n- RULE 3 holds.")
    again = World()
    summary = training.run(world=again)
    assert training.subjects()[-2:] == ["demo: run 1 baseline", "demo: run 1 final"]
    assert summary.current.commit == summary.best.commit == by_hand
    assert summary.test["best"]["hard"] == summary.test["current"]["hard"] == round(8 / 12, 6)
    assert first.test["best"]["hard"] == 6 / 12
    assert again.optimizer.asked == []


def test_a_person_between_two_runs(training: Training) -> None:
    training.run()
    by_hand = training.commit_by_hand("# Rules", "# Rules\n\n- RULE 3 holds.")
    summary = training.run(new_run=True)
    assert summary.initial.commit == by_hand
    assert summary.initial.scores.hard == 8 / 12
    assert training.git("merge-base", by_hand, "skill/demo") == by_hand


@pytest.mark.parametrize("stage", ["rollout", "gate", "slow update", "test"])
def test_a_person_during_a_step_loses_nothing(training: Training, stage: str) -> None:
    """The step is not recorded; the next start scores the new tip and goes on from there."""
    both, by_hand = World(), []

    def answer(request: Request) -> str:
        if base.stage.get() == stage and not by_hand:
            by_hand.append(training.commit_by_hand("# Rules", "# Rules\n\n- RULE 3 holds."))
        return world.target(request) if request.schema is None else world.optimizer(request)

    training.run("train.max_steps=1", "train.epochs=1", "eval.test=false")
    both.target.answer = both.optimizer.answer = answer
    with pytest.raises(RaceError, match="refs/heads/skill/demo"):
        training.run(world=both, new_run=True)
    assert training.git("rev-parse", "skill/demo") == by_hand[0]
    assert training.run(proven=False).finished
    assert training.git("merge-base", by_hand[0], "skill/demo") == by_hand[0]


def test_a_run_that_was_set_back_by_a_person_goes_on_from_there(training: Training) -> None:
    """The tip need not be a child of what the journal knows."""
    with pytest.raises(LimitReached):
        training.run("limits.calls=75")
    training.git("update-ref", "refs/heads/skill/demo", "main")
    summary = training.run()
    assert summary.finished
    assert [r["reason"] for r in training.records("baseline")][1:] == ["the branch was moved by hand"]


@pytest.mark.parametrize("options", [("train.batch_size=6",), ("train.batch_size=3", "train.accumulation=2")])
def test_an_epoch_visits_each_train_task_once(training: Training, options: tuple[str, ...]) -> None:
    training.run(*options, "slow_update.enabled=false", "meta_skill.enabled=false", "edits.schedule=none")
    assert [record["rollout"]["n"] for record in training.records("step")] == [6, 6, 6, 6]


def test_tasks_of_an_epoch(training: Training) -> None:
    both = World()
    training.run("slow_update.enabled=false", "meta_skill.enabled=false", "train.epochs=1", world=both)
    visits = Counter(r.messages[-1].content for r in both.target.asked if ": train " in r.messages[-1].content)
    assert set(visits.values()) == {1}
    assert len(visits) == 12


def test_max_steps_ends_a_run_within_an_epoch(training: Training) -> None:
    training.run("train.max_steps=3")
    ends = [f"{r['kind']} {r['step']}" for r in training.records()]
    assert ends == ["baseline 0", "step 1", "step 2", "epoch 2", "step 3", "epoch 3", "final 3"]


def test_forced_guidance_becomes_best_when_the_end_finds_it_better(training: Training) -> None:
    options = ("slow_update.acceptance=forced", "train.epochs=1")
    summary = training.run(*options)
    forced = training.records("epoch")[-1]
    assert (forced["action"], forced["best"]["step"]) == ("forced", 0)
    assert forced["best"]["commit"] != forced["current"]["commit"]
    assert summary.best.commit == summary.current.commit == training.git("rev-parse", "refs/skillgit/demo/best")


def test_a_cap_can_be_raised_and_the_spend_goes_on(training: Training) -> None:
    """Without early stop, which cancels calls in flight: nobody learns what those took."""
    whole = World()
    with pytest.raises(LimitReached):
        training.run("gate.early_stop=false", "limits.calls=60", world=whole)
    rest = World()
    summary = training.run(
        "gate.early_stop=false",
        "limits.calls=500",
        "models.target.concurrency=2",
        "reflect.concurrency=1",
        world=rest,
    )
    assert summary.spend["calls"] == whole.calls + rest.calls


@pytest.mark.parametrize("stage", ["baseline", "rollout", "reflect", "gate", "epoch gate", "compare", "test"])
def test_an_outage_in_any_stage_is_never_scored(training: Training, stage: str) -> None:
    """The run stops with the provider's words; started again, it ends as if there had been no outage."""
    broken = World()

    def answer(request: Request) -> str | Exception:
        if base.stage.get() == stage:
            return ProviderError("503: down for maintenance")
        return world.target(request) if request.schema is None else world.optimizer(request)

    broken.target.answer = broken.optimizer.answer = answer
    with pytest.raises((NotMeasured, ProviderError, FatalModelError), match="503: down for maintenance"):
        training.run(world=broken)
    training.run()
    assert training.subjects() == SUBJECTS
    assert training.git("rev-parse", "skill/demo") == uninterrupted()[0]["branch"]
