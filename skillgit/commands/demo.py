from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from skillgit import console
from skillgit.commands._options import Overrides, Quiet
from skillgit.errors import UsageError

NAME = "dates"


def run(
    folder: Annotated[str, typer.Option("--dir", metavar="FOLDER", help="where to make the repository")] = "",
    override: Overrides = None,
    quiet: Quiet = False,
) -> None:
    """A real training of a small skill with a real small model on this machine: no API key, about two minutes.

    It makes a repository, trains the skill 'dates' (written dates to a house format), and shows the history. The model file
    (491 MB) is fetched once.

    Example: skillgit demo
    """
    from skillgit.git.repo import Repo
    from skillgit.progress import reporter
    from skillgit.session import run_training
    from skillgit.views.runs import summary_lines

    root = _folder(folder)
    _fetch_model()
    _new_repository(root)
    with Repo.discover(root) as repo:
        console.note(f"a repository with the skill '{NAME}' is in {root}\n")
        watch = reporter(quiet=quiet)
        try:
            summary = run_training(repo, NAME, watch, overrides=override or ())
        finally:
            watch.close()
    log = _git(root).log("--format=%h %s%n          %(trailers:key=Skill-Score,valueonly)", f"skill/{NAME}")
    console.lines(["", f"$ git log skill/{NAME}", *(line for line in log.splitlines() if line.strip()), ""])
    console.lines(summary_lines(summary.as_dict()))
    console.lines(
        [
            "",
            "look around:",
            f"  cd {root}",
            f"  skillgit show {NAME}",
            f"  git log -p skill/{NAME}",
            f"  skillgit rejected {NAME}",
        ]
    )


def _folder(folder: str) -> Path:
    if not folder:
        return Path(tempfile.mkdtemp(prefix="skillgit-demo-"))
    root = Path(folder)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise UsageError(f"--dir {folder} is not an empty folder", hint="name a new folder, or leave --dir out")
    root.mkdir(parents=True, exist_ok=True)
    return root.resolve()


def _fetch_model() -> None:
    """The model file of the demo, with a progress bar when it has to be fetched."""
    from importlib.util import find_spec

    from skillgit.errors import FatalModelError
    from skillgit.models.download import pull
    from skillgit.models.files import known, locate
    from skillgit.progress import Bar

    if find_spec("xllamacpp") is None:
        raise FatalModelError(
            "the demo runs a model on this machine, and the runtime is missing", hint="pip install 'skillgit[local]'"
        )
    name = next(iter(known()))
    try:
        locate(name)
    except FatalModelError:
        with Bar(f"fetching {name}") as bar:
            pull(name, bar.update)


def _new_repository(root: Path) -> None:
    """A repository with the skill in its first commit, made by the identity that skillgit itself would use."""
    import git

    from skillgit.git.repo import Repo
    from skillgit.scaffold import init

    with git.Repo.init(root, initial_branch="main") as made, Repo.discover(root) as repo:
        init(repo, NAME, env=NAME)
        identity = repo.identity()
        author, committer = (git.Actor(who.name, who.email) for who in (identity.author, identity.committer))
        made.index.add(["skills"])
        made.index.commit(f"Add the skill {NAME}", author=author, committer=committer, skip_hooks=True)


def _git(root: Path) -> Any:
    import git

    return git.Git(root)
