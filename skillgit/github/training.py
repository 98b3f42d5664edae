"""A training in a workflow: what is accepted is pushed at once, and its edits become a pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from skillgit.config import check_name
from skillgit.errors import LimitReached, RepositoryError, UsageError
from skillgit.git.history import SkillHistory
from skillgit.git.sync import sync
from skillgit.github import markdown
from skillgit.github.api import Api, Forbidden
from skillgit.github.context import TRUSTED, Ended
from skillgit.inspecting import TAKEN, status
from skillgit.session import run_training
from skillgit.spending import figures, from_rows, sum_up
from skillgit.workspace import FOLDER, document_name

if TYPE_CHECKING:
    from skillgit.git.repo import Repo
    from skillgit.github.context import Context
    from skillgit.plan import Plan
    from skillgit.report import Reporter

COMMAND = "/skillgit train "
BOT = "github-actions[bot]"
MOST_EDITS = 100


class Pushing:
    """A reporter that pushes after each accepted entry, so that a lost worker loses no more than a step."""

    def __init__(self, inner: Reporter, repo: Repo) -> None:
        self._inner, self._repo = inner, repo

    def plan(self, plan: Plan) -> None:
        self._inner.plan(plan)

    def stage(self, name: str, total: int) -> None:
        self._inner.stage(name, total)

    def advance(self) -> None:
        self._inner.advance()

    def note(self, text: str) -> None:
        self._inner.note(text)

    def entry(self, record: Mapping[str, Any], spend: Mapping[str, Any]) -> None:
        self._inner.entry(record, spend)
        if record.get("action") in TAKEN:
            try:
                sync(self._repo)
            except RepositoryError as error:  # the next one tries again, and the end must succeed
                self._inner.note(f"not pushed yet: {error.message}")


def train(
    context: Context,
    repo: Repo,
    name: str,
    reporter: Reporter,
    *,
    usd: float | None = None,
    new_run: bool = False,
    overrides: Sequence[str] = (),
) -> Ended:
    """Take up a skill's training from the remote, go on with it, push it, and open or update its pull request.

    Without ``name`` the skill is the one that a comment asks for; comments of people who may not write to the repository,
    and of the workflow's own account, end with code 0 and nothing done. A cap that is reached ends in good order.
    ``new_run``: where the last run is complete, start another one from the skill as it is now.
    Raises RepositoryError when the skill has other commits here than in the remote.
    """
    name, why = asked(context, name)
    if not name:
        reporter.note(why)
        context.say(f"skillgit: {why}.")
        return Ended(0, {"result": "neutral", "pull-request": ""})
    _demand_one_line(repo, name)
    capped = [*overrides, *([f"limits.usd={usd:g}"] if usd is not None else [])]
    stopped, again = "", new_run and bool(status(_history(repo, name))["finished"])
    try:
        run_training(repo, name, Pushing(reporter, repo), overrides=capped, new_run=again)
    except LimitReached as error:
        stopped = error.message
        reporter.note(f"{stopped}; the next training goes on from here")
    finally:
        _demand_one_line(repo, name)
    return _told(context, repo, name, stopped, reporter)


def asked(context: Context, name: str) -> tuple[str, str]:
    """The skill to train, or "" and the reason why nothing is done."""
    if context.name != "issue_comment":
        if not name:
            raise UsageError("name the skill to train", hint="skillgit github train NAME")
        return check_name(name), ""
    comment = context.event.get("comment") or {}
    line = str(comment.get("body", "")).strip().partition("\n")[0].strip()
    if context.actor == BOT or not line.startswith(COMMAND):
        return "", f"the comment does not begin with '{COMMAND}NAME'"
    if comment.get("author_association") not in TRUSTED:
        return "", "a training costs money; only people who may write to this repository start one by a comment"
    wanted = check_name(line.removeprefix(COMMAND).strip())
    if name and wanted != name:
        return "", f"the comment asks for '{wanted}', this job trains '{name}'"
    return wanted, ""


def _demand_one_line(repo: Repo, name: str) -> None:
    if sync(repo).skills.get(name) == "diverged":
        raise RepositoryError(
            f"skill/{name} has other commits here than in origin",
            hint=f"skillgit sync origin --theirs {name}, in a clone of yours; then push",
        )


def _history(repo: Repo, name: str) -> SkillHistory:
    return SkillHistory(repo, name, f"{FOLDER}/{name}/{document_name(repo, name)}")


def _told(context: Context, repo: Repo, name: str, stopped: str, reporter: Reporter) -> Ended:
    """The pull request, the summary and the outputs, from what the history says."""
    history = _history(repo, name)
    now, tip = status(history), history.journal.tip()
    result = "stopped" if stopped else "complete"
    if tip is None or now["unchanged"]:
        context.say(f"skillgit: `{name}` is unchanged, no proposed edit passed the gate. {stopped}")
        return Ended(0, {"result": result, "pull-request": ""})
    entries = history.journal.entries()
    first = next(entry for entry in entries if entry.run == tip.run and entry.kind == "baseline")
    summary = {
        **{role: now[role] for role in ("best", "current")},
        "initial": first.record["current"],
        "test": now["test"],
        "spend": figures(sum_up(from_rows(tip.spend.get("total", [])))),
    }
    edits = [{"commit": entry.oid, "title": entry.subject} for entry in islice(history.log(), MOST_EDITS)]
    text = markdown.trained(name, summary, edits)
    text += f"\n\nStopped: {stopped}; the next training goes on from there." if stopped else ""
    context.say(text)
    return Ended(0, {"result": result, "pull-request": _open(context, history, text, reporter)})


def _open(context: Context, history: SkillHistory, text: str, reporter: Reporter) -> str:
    if not context.token:
        reporter.note("GITHUB_TOKEN is not set, so no pull request is opened; the branch is pushed")
        return ""
    branch = history.branch.removeprefix("refs/heads/")
    with Api(context) as api:
        try:
            address = api.pull_request(branch, context.default_branch, f"Train the skill {history.name}", text)
        except Forbidden as error:
            reporter.note(
                f"{error.message}; the job needs 'permissions: pull-requests: write', and the repository must allow"
                " Actions to create pull requests"
            )
            return ""
    reporter.note(f"pull request: {address}")
    return address
