"""Every key of env.yaml changes what happens: each is set, and the training must go another way.

Each case names companions, which are set in both trainings, so that nothing but the key is different. Keys of a model's
connection change no training in the scripted world; for them the tests over real protocols are named.
"""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from skillgit import config
from skillgit.errors import ProviderError, SkillgitError
from skillgit.models.base import Reply, Request
from skillgit.skill import with_appendix
from tests import world
from tests.e2e.training import Training
from tests.repos import git
from tests.world import Scripted, World

NO_EPOCH = ("slow_update.enabled=false", "meta_skill.enabled=false")
AWARE = ("reflect.skill_aware=true", "reflect.minibatch_size=12", *NO_EPOCH)
SOFTLY = ("judge.kind=python", "judge.function=softly")
FORCED = "slow_update.acceptance=forced"

CASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "skill": ("OTHER.md", ()),
    "tasks.all": ("others.jsonl", ()),
    "split.ratio": ("4:1:1", ("tasks=unsplit.jsonl",)),
    "split.seed": ("7", ("tasks=unsplit.jsonl",)),
    "prompt.system": ("Skill: {skill}", ()),
    "prompt.user": ("{input} {id}", ()),
    "prompt.images": ("picture", ()),
    "answer.extract": ("last_line", ()),
    "answer.pattern": ("(x)", ("answer.extract=regex", "answer.pattern=(done.*)")),
    "judge.kind": ("contains", ("prompt.user={input} now",)),
    "train.epochs": ("1", ()),
    "train.batch_size": ("4", ()),
    "train.accumulation": ("2", ()),
    "train.seed": ("1", ()),
    "train.max_steps": ("1", ()),
    "reflect.minibatch_size": ("2", ()),
    "reflect.failure_only": ("true", ()),
    "reflect.show_answers": ("false", ()),
    "reflect.concurrency": ("1", ()),
    "reflect.merge_batch_size": ("2", ("reflect.minibatch_size=1",)),
    "reflect.skill_aware": ("true", ()),
    "edits.mode": ("full_rewrite_minibatch", ()),
    "edits.max_tokens": ("50", ()),
    "edits.budget": ("4", ()),
    "edits.min_budget": ("2", ()),
    "edits.schedule": ("constant", ()),
    "edits.missing_anchor": ("append", ("edits.schedule=none", "reflect.minibatch_size=12")),
    "appendix.source": ("both", AWARE),
    "appendix.consolidate_above": ("1", AWARE),
    "appendix.gate": ("forced", (*AWARE, FORCED)),
    "gate.policy": ("off", ()),
    "gate.metric": ("soft", (*SOFTLY, "gate.early_stop=false")),
    "gate.mixed_weight": ("0.1", (*SOFTLY, "gate.metric=mixed", "gate.early_stop=false")),
    "gate.alpha": ("0.4", ("gate.policy=paired",)),
    "gate.repeats": ("2", ()),
    "gate.min_items": ("13", ()),
    "gate.min_coverage": ("0.99", ("prompt.user={input} [unlucky]",)),
    "gate.early_stop": ("false", ()),
    "gate.salvage": ("3", ()),
    "gate.contamination": ("reject", ("gate.contamination_words=3", "edits.schedule=none")),
    "gate.contamination_words": ("3", ("edits.schedule=none",)),
    "slow_update.enabled": ("false", ()),
    "slow_update.acceptance": ("forced", ()),
    "slow_update.first_epoch": ("false", ()),
    "slow_update.samples": ("3", ()),
    "slow_update.pairs": ("unchanged", ("gate.policy=off",)),
    "meta_skill.enabled": ("false", ()),
    "eval.test": ("false", ()),
    "limits.usd": ("0.000001", ("models.target.usd_per_million=[1, 1]", "models.optimizer.usd_per_million=[1, 1]")),
    "limits.tokens": ("100", ()),
    "limits.calls": ("20", ()),
    "limits.minutes": ("0.000001", ()),
    "git.start": ("HEAD~1", ()),
    "options": ("{color: red}", ()),
    "models.target.model": ("openai:another", ()),
    "models.target.concurrency": ("1", ()),
    "models.target.usd_per_million": ("[1, 1]", ("models.optimizer.usd_per_million=[1, 1]",)),
    "models.optimizer.model": ("openai:another", ()),
    "models.optimizer.concurrency": ("1", ("models.target.concurrency=1",)),
    "models.optimizer.usd_per_million": ("[1, 1]", ("models.target.usd_per_million=[1, 1]",)),
}
ELSEWHERE = {
    "models.judge": "tests.judging.test_rubric:test_a_training_judged_by_a_model",
    "tasks.train": "tests.test_tasks:test_a_file_that_is_one_split_gives_it_to_its_tasks",
    "tasks.selection": "tests.test_tasks:test_a_file_that_is_one_split_gives_it_to_its_tasks",
    "tasks.test": "tests.test_tasks:test_a_file_that_is_one_split_gives_it_to_its_tasks",
    "git.sign": "tests.git.test_signing:test_never",
    "models.*.base_url": "tests.models.test_openai:test_a_compatible_server_needs_an_address",
    "models.*.api_key_env": "tests.models.test_openai:test_a_key_and_the_headers_of_openai_stay_away_from_compatible_servers",
    "models.*.api": "tests.models.test_openai:test_each_provider_has_its_api_and_the_setting_forces_the_other",
    "models.*.temperature": "tests.models.test_openai:test_settings_reach_a_response",
    "models.*.max_tokens": "tests.models.test_openai:test_settings_reach_a_response",
    "models.*.reasoning_effort": "tests.models.test_openai:test_settings_reach_a_response",
    "models.*.seed": "tests.models.test_openai:test_settings_reach_a_chat_completion",
    "models.*.extra": "tests.models.test_openai:test_settings_reach_a_response",
    "models.*.timeout": "tests.models.test_over_the_wire:test_a_call_that_takes_too_long_is_given_up",
    "models.*.record": "tests.models.test_recording:test_what_a_real_sdk_answered_is_answered_again_without_it",
    "models.*.retries": "tests.models.test_calls:test_after_the_last_try_the_failure_is_the_items",
}
"""Keys whose effect is shown by another test."""


SCORER = """\
def softly(task, answer):
    right = float(answer == task.answer)
    return right, max(right, 0.5 * (answer != ""))
"""


@dataclass
class Watched(Scripted):
    """A model that says how many calls ran at once."""

    running: int = 0
    most: int = 0

    async def call(self, request: Request) -> Reply:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            for _ in range(3):
                await asyncio.sleep(0)
            return await super().call(request)
        finally:
            self.running -= 1


def target(request: Request) -> Any:
    """The world's, with a task that cannot be measured ("unlucky")."""
    asked = request.messages[-1].content
    if "[unlucky]" in asked and "selection 3 " in asked:
        return ProviderError("overloaded", transient=False)
    return world.target(replaced(request, asked.replace(" [unlucky]", "").replace(" now", "")))


def replaced(request: Request, asked: str) -> Request:
    return replace(request, messages=(*request.messages[:-1], replace(request.messages[-1], content=asked)))


def optimizer(request: Request) -> str:
    """The world's, with an anchor that is nowhere, copied words, and what the further modes ask for."""
    stage = request.schema_name
    if stage.startswith("rewrite"):
        return json.dumps({"patterns": [], "reasoning": "", "title": "anew", "skill": "# Rules\n\n- RULE 2 holds.\n"})
    if "suggest" in stage:
        row = {"type": "add", "title": "say it", "instruction": "Say RULE 2.", "reasoning": "", "sources": [0]}
        return json.dumps({"patterns": [], "reasoning": "", "suggestions": [row]})
    if stage == "consolidate":
        return json.dumps({"notes": ["RULE 3 holds."]})
    answer = world.optimizer(request)
    if not stage.startswith("reflect_"):
        return answer
    data = json.loads(answer)
    properties = (request.schema or {})["properties"]
    if "reminders" in properties:
        words = "RULE 4 holds." if stage == "reflect_failure" else "RULE 2 holds."
        return json.dumps(
            {**data, "edits": [], "reminders": [{"text": words, "task_ids": []}, {"text": "Heed.", "task_ids": []}]}
        )
    lost = {"op": "insert_after", "target": "nowhere", "content": "- Lost words.", "title": "lose it"}
    copied = {"op": "append", "content": "- Such as: rule 5: train 5.", "title": "copy"}
    return json.dumps(
        {**data, "edits": [*data["edits"], lost, copied] if stage == "reflect_failure" else data["edits"]}
    )


def observed(root: Path, monkeypatch: pytest.MonkeyPatch, options: Sequence[str]) -> dict[str, Any]:
    """All that a training shows of itself, except for its settings."""
    done = Training(root, monkeypatch)
    models = World(target=Watched("openai:world", target), optimizer=Watched("openai:world-optimizer", optimizer))
    asked = {"target": models.target, "optimizer": models.optimizer}
    seen: dict[str, Any] = {"created": []}

    def create(settings: config.ModelSettings, role: str) -> Any:
        seen["created"].append((role, settings.model))
        return asked[role]

    monkeypatch.setattr(models, "create", create)
    try:
        seen["spend"] = done.run(*options, world=models, proven=False).spend["usd"]
    except SkillgitError as error:
        seen["error"] = error.message
    for role, model in asked.items():
        requests = [(r.schema_name, r.sample, r.max_tokens, [asdict(m) for m in r.messages]) for r in model.asked]
        seen[role] = sorted(map(json.dumps, requests))
        seen[f"{role} at once"] = model.most
    if git(root, "for-each-ref", "refs/skillgit/demo/journal"):
        seen["journal"] = done.records()
        seen["fingerprints"] = fingerprints(done)
    return seen


def fingerprints(done: Training) -> str:
    """What of the settings decides that a score is known: a changed one measures again."""
    text = done.git("show", "refs/skillgit/demo/journal:config.yaml")
    return text[text.index("fingerprints:") :]


def write(root: Path) -> None:
    """What the cases name: another skill and tasks, a picture, tasks without a split, and an older version."""
    home = root / "skills/demo"
    rows = [json.dumps({**task, "picture": "dot.png"}) for task in world.tasks()]
    (home / "tasks.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (home / "others.jsonl").write_text("\n".join(rows[:-1]), encoding="utf-8")
    bare = [json.dumps({k: v for k, v in task.items() if k != "split"}) for task in world.tasks(30, 30, 0)]
    (home / "unsplit.jsonl").write_text("\n".join(bare), encoding="utf-8")
    (home / "env.py").write_text(SCORER, encoding="utf-8")
    (home / "dot.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (home / "OTHER.md").write_text("# Other\n\n- RULE 1 holds.\n", encoding="utf-8")
    skill = with_appendix(world.SKILL, ["Mind it."]).replace("RULE 0", "RULE 3")
    older = (home / "SKILL.md").read_text(encoding="utf-8")
    (home / "SKILL.md").write_text(skill, encoding="utf-8")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "Older")
    (home / "SKILL.md").write_text(older, encoding="utf-8")
    git(root, "commit", "--quiet", "-am", "Newer")


@pytest.mark.parametrize("key", CASES)
def test_a_key_changes_what_happens(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    value, companions = CASES[key]
    seen = []
    for number, options in enumerate((companions, (*companions, f"{key}={value}"))):
        root = repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks(), folder=str(number))
        write(root)
        seen.append(observed(root, monkeypatch, options))
    assert seen[0] != seen[1]


def test_no_key_is_without_a_test() -> None:
    settings = config.parse(world.ENV)
    keys = {key for key, _, _ in settings.rows()}
    shown = {*CASES, *(name.replace("*", role) for name in ELSEWHERE for role in ("target", "optimizer"))}
    assert sorted(keys - shown) == []
    assert sorted(shown - keys) == []


@pytest.mark.parametrize("where", sorted(set(ELSEWHERE.values())))
def test_the_tests_elsewhere_are_there(where: str) -> None:
    module, name = where.split(":")
    assert callable(getattr(importlib.import_module(module), name))


def test_the_same_settings_show_the_same(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the tests above could not fail."""
    seen = []
    for number in range(2):
        root = repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks(), folder=str(number))
        write(root)
        seen.append(observed(root, monkeypatch, ()))
    assert seen[0] == seen[1]
