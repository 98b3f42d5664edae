"""The gate on a pull request: both ends of each skill that it touches, one comment, one summary, and an exit code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from skillgit.config import check_name
from skillgit.errors import ConfigError, RepositoryError, SkillgitError
from skillgit.evaluate import evaluate_revision
from skillgit.git.notes import PREFIX
from skillgit.git.process import complaint
from skillgit.github import markdown
from skillgit.github.api import Api, Forbidden
from skillgit.github.context import Ended
from skillgit.github.verifying import verify
from skillgit.patchfile import unified_diff
from skillgit.verdicts import compare_revisions
from skillgit.workspace import FOLDER, document_name, skill_names

if TYPE_CHECKING:
    from skillgit.git.repo import Repo
    from skillgit.github.context import Context, PullRequest
    from skillgit.report import Reporter

FailOn = Literal["reject", "worse", "never"]
MARKER = "<!-- skillgit gate -->"
FETCH = 600.0
"""Seconds for one fetch."""


def gate(
    context: Context,
    open_repo: Callable[[], Repo],
    reporter: Reporter,
    *,
    fail_on: FailOn = "worse",
    verifying: bool = False,
    overrides: Sequence[str] = (),
) -> Ended:
    """Judge the skills of a pull request.

    ``fail_on``: ``reject`` fails unless the gate accepts, ``worse`` when the whole interval of the difference is below zero,
    ``never`` only tells. ``verifying`` also measures afresh the newest score that a commit's trailers claim; one that does
    not hold fails whatever ``fail_on`` says. Without a pull request, and for one from a fork, nothing is measured and the
    code is 0.
    """
    pull = context.pull_request
    if pull is None or pull.fork:
        why = "it comes from a fork, which is given no secrets" if pull else f"the event '{context.name}' has none"
        return _neutral(context, reporter, f"nothing was measured for a pull request: {why}")
    with open_repo() as repo:
        base = prepared(repo, pull)
    with open_repo() as repo:  # anew: it may have been shallow
        names = touched(repo, base, pull.head)
        if not names:
            return _neutral(context, reporter, "no skill's document differs in this pull request")
        try:
            found = [_judged(repo, name, base, pull.head, reporter, overrides) for name in names]
            claims = [verify(repo, name, base, pull.head, reporter, overrides) for name in names if verifying]
        except SkillgitError as error:
            context.say(f"skillgit could not measure this pull request: {markdown.fenced(error.message)}")
            raise
    checked = [claim for claim in claims if claim]
    parts = [part for part, _ in found]
    parts += [markdown.verified(one.skill, one.commit, one.claimed, one.scores, one.holds) for one in checked]
    text = "\n\n".join(parts)
    context.say(text)
    _comment(context, pull, text, reporter)
    verdicts = [data["verdict"] for _, data in found if "verdict" in data]
    failed = any(fails(verdict, fail_on) for verdict in verdicts) or not all(claim.holds for claim in checked)
    outputs = {
        "result": "failed" if failed else "passed",
        "skills": " ".join(names),
        "fixed": sum(len(verdict["movement"]["fixed"]) for verdict in verdicts),
        "broken": sum(len(verdict["movement"]["broken"]) for verdict in verdicts),
    }
    return Ended(1 if failed else 0, outputs)


def fails(verdict: dict[str, Any], fail_on: FailOn) -> bool:
    """True when a verdict makes the check red."""
    if fail_on == "worse":
        return bool(verdict["interval"][1] < 0)
    return fail_on == "reject" and not verdict["action"].startswith("accept")


def prepared(repo: Repo, pull: PullRequest) -> str:
    """The commit that the pull request branched off. Missing history and the known scores are fetched first."""
    base = _merge_base(repo, pull)
    if base is None:
        deepen = ["--unshallow"] if repo.shallow else []
        _fetch(repo, *deepen, "origin", pull.base, pull.head)
        base = _merge_base(repo, pull)
    if base is None:
        raise RepositoryError(
            f"{pull.base[:10]} and {pull.head[:10]} have no common commit here", hint="check out with fetch-depth: 0"
        )
    scores = f"{PREFIX}scores"
    if repo.ref(scores) is None:  # scores that are known need not be measured; a repository without any is fine
        repo.git("fetch", "--no-tags", "origin", f"{scores}:{scores}", check=False, timeout=FETCH)
    return base


def _fetch(repo: Repo, *words: str) -> None:
    answer = repo.git("fetch", "--no-tags", *words, check=False, timeout=FETCH)
    if answer.returncode:
        raise RepositoryError(
            f"cannot fetch the pull request: {complaint(answer.stderr)}", hint="check the token's rights"
        )


def _merge_base(repo: Repo, pull: PullRequest) -> str | None:
    answer = repo.git("merge-base", pull.base, pull.head, check=False)
    return answer.text.strip() if not answer.returncode else None


def touched(repo: Repo, base: str, head: str) -> list[str]:
    """Names of the skills whose document differs between two commits and is there in the second, sorted."""
    changed = repo.git("diff", "--name-only", "-z", "--no-renames", base, head, "--", FOLDER).stdout.split(b"\0")
    paths = {path.decode("utf-8", "surrogateescape") for path in changed}
    return [name for name in skill_names(repo) if _document(repo, name, head) in paths]


def _document(repo: Repo, name: str, head: str) -> str:
    """The path of a skill's document in a commit, "" where there is none."""
    try:
        path = f"{FOLDER}/{check_name(name)}/{document_name(repo, name)}"
    except ConfigError:
        return ""
    return path if repo.entry(head, path) else ""


def _judged(
    repo: Repo, name: str, base: str, head: str, reporter: Reporter, overrides: Sequence[str]
) -> tuple[str, dict[str, Any]]:
    path = _document(repo, name, head)
    before = repo.entry(base, path)
    if before is None:
        data = evaluate_revision(repo, f"{name}@{head}", reporter, overrides=overrides).as_dict()
        return markdown.added(data), data
    data = compare_revisions(repo, f"{name}@{head}", reporter, against=base, overrides=overrides).as_dict()
    old, new = (repo.git("show", f"{commit}:{path}").stdout.decode("utf-8", "replace") for commit in (base, head))
    return markdown.gated(data, unified_diff(old, new, path)), data


def _comment(context: Context, pull: PullRequest, text: str, reporter: Reporter) -> None:
    """The comment, updated in place. A token that may not write is told of; the summary has it all."""
    if not context.token:
        return reporter.note("GITHUB_TOKEN is not set, so no comment is written; the step's summary has it all")
    with Api(context) as api:
        try:
            address = api.comment(pull.number, MARKER, text)
        except Forbidden as error:
            return reporter.note(f"{error.message}; the job needs 'permissions: pull-requests: write'")
    return reporter.note(f"commented: {address}")


def _neutral(context: Context, reporter: Reporter, why: str) -> Ended:
    reporter.note(why)
    context.say(f"skillgit: {why}.")
    return Ended(0, {"result": "neutral", "skills": "", "fixed": 0, "broken": 0})
