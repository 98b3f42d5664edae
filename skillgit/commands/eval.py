from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json, Overrides, Quiet, Revision, repository


class Split(str, Enum):
    train = "train"
    selection = "selection"
    test = "test"


def run(
    revision: Revision,
    split: Annotated[Split, typer.Option("--split", help="the tasks to score on")] = Split.selection,
    target: Annotated[str, typer.Option("--target", metavar="MODEL", help="another target, provider:model")] = "",
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="times each task is done")] = 1,
    override: Overrides = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Score a revision of a skill, with a 95 % interval, by task type. What is known is not measured again.

    Example: skillgit eval dates@best --split test

    JSON: {skill, revision, commit, blob, split, target, repeats, scores, tasks, spend}.
    """
    from skillgit.evaluate import evaluate_revision
    from skillgit.progress import reporter

    with repository() as repo:
        watch = reporter(quiet=quiet)
        try:
            result = evaluate_revision(
                repo, revision, watch, split=split.value, target=target, repeats=repeats, overrides=override or ()
            )
        finally:
            watch.close()
    if as_json:
        return console.emit(result.as_dict())
    scores, spend = result.scores, result.spend
    rows = [["all", console.scored(scores), f"soft {scores['soft']:.4f}"]]
    rows += [[k, console.scored(v), f"soft {v['soft']:.4f}"] for k, v in scores.get("types", {}).items()]
    console.say(f"{revision} ({result.commit[:10]}) on {split.value} with {result.target}")
    console.lines(console.align(rows))
    tokens = console.count(spend["input_tokens"] + spend["output_tokens"])
    console.say(f"{spend['calls']} calls, {tokens} tokens, {console.money(spend['usd'])}")
    return None
