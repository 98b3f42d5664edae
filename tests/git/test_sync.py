"""Two people, one skill: clones that train, push and pull over a bare repository."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.__main__ import main
from skillgit.git.merging import pieces
from skillgit.git.repo import Repo
from skillgit.git.sync import sync
from tests import world
from tests.commands.running import Captured, run, run_json
from tests.e2e.training import Training
from tests.repos import git
from tests.world import World

NOTES = "refs/notes/skillgit"


class Clones:
    """A bare remote and two clones, ``a`` and ``b``."""

    def __init__(self, root: Path, first: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
        self.remote, self.a, self.b = root / "remote.git", first, root / "b"
        git(root, "clone", "--quiet", "--bare", str(first), str(self.remote))
        git(first, "remote", "add", "origin", str(self.remote))
        git(root, "clone", "--quiet", str(self.remote), str(self.b))
        self._capsys, self._monkeypatch = capsys, monkeypatch

    def at(self, clone: Path) -> Clones:
        self._monkeypatch.chdir(clone)
        return self

    def train(self, clone: Path, *options: str) -> World:
        models = World().install(self._monkeypatch)
        self.at(clone)
        assert main(["train", "demo", "--quiet", *options]) == 0, self._capsys.readouterr()
        self._capsys.readouterr()
        return models

    def sync(self, clone: Path, *options: str, code: int = 0) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = run_json(self.at(clone)._capsys, "sync", *options, code=code)
        return found

    def refs(self, clone: Path) -> dict[str, str]:
        kinds = ("refs/heads/skill", "refs/skillgit", "refs/notes")
        rows = git(clone, "for-each-ref", "--format=%(refname) %(objectname)", *kinds).splitlines()
        found = dict(row.split() for row in rows)
        return {ref: oid for ref, oid in found.items() if "/kept/" not in ref}


@pytest.fixture
def clones(repo: Callable[..., Path], tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> Clones:
    first = repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks(), folder="a")
    return Clones(tmp_path, first, capsys, monkeypatch)


ONE_EPOCH = ("-o", "train.epochs=1")


def test_a_clone_has_the_whole_experiment(clones: Clones, capsys: Captured) -> None:
    clones.train(clones.a)
    assert clones.sync(clones.a)["skills"] == {"demo": "push"}
    assert clones.sync(clones.b)["skills"] == {"demo": "pull"}
    assert clones.refs(clones.a) == clones.refs(clones.b) == clones.refs(clones.remote)
    assert clones.sync(clones.a) == {"remote": "origin", "skills": {"demo": "same"}, "notes": {}, "kept": {}}
    assert run_json(capsys, "log", "demo", "--rejected")
    assert run_json(capsys, "eval", "demo")["spend"]["calls"] == 0
    assert run(capsys, "fsck", "demo") == "demo: clean\n"


def test_a_training_goes_on_in_the_other_clone(clones: Clones, capsys: Captured) -> None:
    clones.train(clones.a, *ONE_EPOCH)
    clones.sync(clones.a)
    clones.sync(clones.b)
    clones.train(clones.b, "--new-run", *ONE_EPOCH)
    assert clones.sync(clones.b)["skills"] == {"demo": "push"}
    assert clones.sync(clones.a)["skills"] == {"demo": "pull"}
    assert clones.refs(clones.a) == clones.refs(clones.b)
    assert len(run_json(capsys, "runs", "demo")) == 2


def test_notes_of_both_meet_without_loss(clones: Clones, capsys: Captured) -> None:
    """Each clone measures another text; afterwards both know both."""
    clones.train(clones.a, *ONE_EPOCH)
    clones.sync(clones.a)
    clones.sync(clones.b)
    World().install(clones._monkeypatch)
    for clone, revision in ((clones.a, "demo@base"), (clones.b, "demo@best")):
        clones.at(clone)
        assert run_json(capsys, "eval", revision, "--split", "train")["scores"]["n"] == 12
    assert clones.sync(clones.a)["notes"] == {"scores": "pushed"}
    assert clones.sync(clones.b)["notes"] == {"scores": "merged"}
    assert clones.sync(clones.a)["notes"] == {"scores": "pulled"}
    for clone in (clones.a, clones.b):
        for revision in ("demo@base", "demo@best"):
            clones.at(clone)
            assert run_json(capsys, "eval", revision, "--split", "train")["spend"]["calls"] == 0


def diverge(clones: Clones) -> None:
    """Both train from the same start, with other seeds."""
    clones.train(clones.a, *ONE_EPOCH)
    clones.sync(clones.a)
    clones.sync(clones.b)
    clones.train(clones.a, "--new-run", "-o", "train.seed=1")
    clones.train(clones.b, "--new-run", "-o", "train.seed=2")
    clones.sync(clones.a)


def test_a_diverged_skill_is_told_and_left_alone(clones: Clones, capsys: Captured) -> None:
    diverge(clones)
    before = {clone: clones.refs(clone) for clone in (clones.b, clones.remote)}
    found = clones.sync(clones.b, code=1)
    assert found["skills"] == {"demo": "diverged"}
    branches = {ref: oid for ref, oid in clones.refs(clones.b).items() if not ref.startswith(NOTES)}
    assert branches == {ref: oid for ref, oid in before[clones.b].items() if not ref.startswith(NOTES)}
    assert git(clones.remote, "rev-parse", "skill/demo") == before[clones.remote]["refs/heads/skill/demo"]
    assert main(["sync"]) == 1
    assert "skillgit sync origin --theirs demo" in capsys.readouterr().err


def by_hand(clones: Clones, clone: Path, old: str, new: str) -> str:
    done = Training(clone, clones._monkeypatch)
    return done.commit_by_hand(old, new)


def test_a_diverged_skill_is_reconciled_by_the_documented_commands(
    clones: Clones, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """a writes RULE 1 at the end, b RULE 3 at the top: b takes a's line over, and brings its own in through the gate."""
    clones.train(clones.a, *ONE_EPOCH)
    clones.sync(clones.a)
    clones.sync(clones.b)
    by_hand(clones, clones.a, "- RULE 0 holds.\n", "- RULE 0 holds.\n- RULE 1 holds.\n")
    mine = by_hand(clones, clones.b, "# Rules\n", "# Rules\n\nRULE 3 is one.\n")
    clones.sync(clones.a)
    assert clones.sync(clones.b, code=1)["skills"] == {"demo": "diverged"}
    assert main(["sync", "--theirs", "demo"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert git(clones.b, "rev-parse", "skill/demo") == git(clones.a, "rev-parse", "skill/demo")
    kept = f"refs/skillgit/demo/kept/{mine[:12]}"
    assert git(clones.b, "rev-parse", kept) == mine
    assert said[-1] == f"  git diff -U1 skill/demo...{kept} -- skills/demo/SKILL.md | skillgit apply demo -"
    patch = git(clones.b, "diff", "-U1", f"skill/demo...{kept}", "--", "skills/demo/SKILL.md")
    monkeypatch.setattr("sys.stdin", io.StringIO(patch + "\n"))
    World().install(monkeypatch)
    applied = run_json(capsys, "apply", "demo", "-", *ONE_EPOCH)
    assert (applied["action"], round(12 * (applied["after"] - applied["before"]))) == ("accept_new_best", 2)
    assert clones.sync(clones.b)["skills"] == {"demo": "push"}
    assert clones.sync(clones.a)["skills"] == {"demo": "pull"}
    text = git(clones.a, "show", "skill/demo:skills/demo/SKILL.md")
    assert "RULE 3 is one." in text and "- RULE 1 holds." in text
    assert run(capsys, "fsck", "demo") == "demo: clean\n"


def test_a_checkout_of_the_branch_follows_or_is_not_touched(clones: Clones, capsys: Captured) -> None:
    clones.train(clones.a, *ONE_EPOCH)
    clones.sync(clones.a)
    clones.sync(clones.b)
    clones.train(clones.a, "--new-run")
    clones.sync(clones.a)
    git(clones.b, "switch", "--quiet", "skill/demo")
    path = clones.b / "skills/demo/SKILL.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "mine\n", encoding="utf-8")
    clones.at(clones.b)
    assert main(["sync"]) == 1
    assert "is checked out" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == text + "mine\n"
    path.write_text(text, encoding="utf-8")
    clones.sync(clones.b)
    assert git(clones.b, "status", "--porcelain") == ""
    assert git(clones.b, "rev-parse", "HEAD") == git(clones.a, "rev-parse", "skill/demo")


def test_a_push_that_loses_the_race_is_tried_again(clones: Clones, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the fetch and the push of b, a pushes scores."""
    clones.train(clones.a, *ONE_EPOCH)
    clones.sync(clones.a)
    clones.sync(clones.b)
    World().install(monkeypatch)
    for clone, revision in ((clones.a, "demo@base"), (clones.b, "demo@best")):
        clones.at(clone)
        assert main(["eval", revision, "--split", "train", "--quiet"]) == 0
    real, raced = Repo.git, []

    def racing(self: Repo, *args: str, **more: object) -> object:
        if args[0] == "push" and not raced:
            raced.append(1)
            with Repo.discover(clones.a) as other:
                sync(other)
        return real(self, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Repo, "git", racing)
    with Repo.discover(clones.b) as opened:
        assert sync(opened).notes == {"scores": "merged"}
    assert raced
    assert git(clones.remote, "rev-parse", f"{NOTES}/scores") == git(clones.b, "rev-parse", f"{NOTES}/scores")


def test_plain_git_carries_it_once_configured(clones: Clones, capsys: Captured) -> None:
    clones.train(clones.a, *ONE_EPOCH)
    clones.at(clones.a)
    assert run(capsys, "sync", "--configure").count("set remote.origin") == 7
    assert run(capsys, "sync", "--configure") == "everything was set already\n"
    git(clones.a, "push", "--quiet")
    assert clones.refs(clones.a) == clones.refs(clones.remote)
    clones.at(clones.b)
    run(capsys, "sync", "--configure")
    git(clones.b, "fetch", "--quiet")
    assert not git(clones.b, "for-each-ref", "refs/notes")
    assert clones.sync(clones.b)["skills"] == {"demo": "pull"}


@pytest.mark.parametrize(
    ("remote", "message"),
    [("nowhere", "there is no remote 'nowhere'; known: origin"), ("broken", "cannot fetch from broken")],
)
def test_a_remote_that_is_not_there(clones: Clones, capsys: Captured, remote: str, message: str) -> None:
    git(clones.a, "remote", "add", "broken", str(clones.a / "nothing-here"))
    if remote == "nowhere":
        git(clones.a, "remote", "remove", "broken")
    clones.at(clones.a)
    assert main(["sync", remote]) == 1
    assert message in capsys.readouterr().err


def test_a_remote_that_takes_nothing(clones: Clones, capsys: Captured) -> None:
    clones.train(clones.a, *ONE_EPOCH)
    hook = clones.remote / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho protected >&2\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    clones.at(clones.a)
    assert main(["sync"]) == 1
    assert "origin did not take the push" in capsys.readouterr().err


def test_nothing_to_share(clones: Clones, capsys: Captured) -> None:
    clones.at(clones.a)
    assert run(capsys, "sync") == "neither side has a training; origin is reached\n"


def test_what_a_note_is_made_of() -> None:
    assert pieces("scores", '{"a": 1}\n{"b": 2}') == ['{"a": 1}\n', '{"b": 2}\n']
    assert pieces("rejected", "---\na: 1\n---\nb: 2\n") == ["---\na: 1\n", "---\nb: 2\n"]
    assert pieces("meta", "one\n\ntwo") == ["one\n\ntwo\n"]


def test_a_plain_clone_is_told_where_its_training_is(clones: Clones, capsys: Captured) -> None:
    clones.train(clones.a)
    clones.sync(clones.a)
    git(clones.b, "fetch", "--quiet")
    clones.at(clones.b)
    next_ = "skillgit sync origin fetches it; skillgit train demo --new-run goes on without"
    assert run(capsys, "status", "demo") == f"demo: the training of 'demo' is at origin, not here\nnext: {next_}\n"
    git(clones.b, "branch", "--quiet", "skill/demo", "origin/skill/demo")
    assert main(["train", "demo"]) == 1
    said = "error: the branch skill/demo was trained, but its journal and notes are not here\n"
    assert capsys.readouterr().err.startswith(said)
    git(clones.b, "branch", "--quiet", "-D", "skill/demo")
    clones.sync(clones.b)
    assert run_json(capsys, "status", "demo")["finished"]
