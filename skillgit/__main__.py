"""The command line: finds the subcommand's module and runs it.

The table below is all that ``skillgit --help`` needs, so help is printed without importing anything heavy. Adding a command
is one file in ``commands/`` and one row here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from skillgit import __version__

GROUPS: dict[str, dict[str, str]] = {
    "Train": {
        "init": "make the folder of a new skill, or of a bundled environment",
        "import": "adopt a skill, a prompt or a run of SkillOpt",
        "train": "train a skill; goes on by itself after an interruption",
        "eval": "score a revision of a skill",
        "apply": "bring in a unified diff, through the same gate",
        "gate": "one revision against another; --aa: how noisy is the gate?",
        "attribute": "what each edit is worth to the current skill",
        "revert": "take one edit back, through the gate",
        "prune": "drop the edits that are worth nothing, through the gate",
        "demo": "a real training in about two minutes, without an API key",
    },
    "Look": {
        "status": "where a training stands and what comes next",
        "log": "a line for each step",
        "runs": "the runs of a skill side by side",
        "show": "an edit with its diff, reasoning, evidence and what it moved",
        "blame": "each line of the skill with the edit that wrote it",
        "bisect": "the edit after which a task began to fail",
        "diff": "two revisions: the text, and the score task by task",
        "rejected": "the edits that were tried and failed",
        "report": "the whole training as one page",
        "export": "the trained document, or the training as a patch",
        "lint": "check skill documents before they are shared",
        "fsck": "prove that history, journal and notes agree",
    },
    "Share": {
        "sync": "fetch and push trainings and notes, and merge what two people did",
        "github": "in a workflow: gate a pull request, or train into one",
    },
    "Set up": {
        "config": "the settings in force, each with its origin",
        "models": "models and providers; fetch a local model",
        "tasks": "check a skill's tasks, see how they are split, add more",
        "envs": "bundled environments; prepare a benchmark's data",
        "hooks": "git hooks beside those that are there",
        "doctor": "check git, models and keys, and say how to mend what is wrong",
    },
}
COMPLETION = "_SKILLGIT_COMPLETE"
"""Set by the shell while it completes a command line."""
COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit code (0, 1, 2, 3, 4 or 130)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if COMPLETION not in os.environ:
        asked = arguments
        while asked[:1] == ["-C"] and len(asked) > 2:  # help is the same in any folder
            asked = asked[2:]
        if asked[:1] == ["help"] and len(asked) > 1:
            return main([asked[1], "--help"] if asked[1] in COMMANDS else asked[1:])
        if not asked or asked[0] in ("-h", "--help", "help"):
            return _say(_help())
        if asked[0] in ("-V", "--version"):
            return _say(f"skillgit {__version__}")
    from skillgit.commands import run_command

    return run_command(arguments)


def _say(text: str) -> int:
    try:
        print(text, flush=True)
    except OSError as error:
        from skillgit.commands import unwritable

        return unwritable(error)
    return 0


def _help() -> str:
    lines = [
        "usage: skillgit [-C FOLDER] COMMAND [ARGUMENTS]",
        "",
        "Trains agent skills and keeps the whole training in git.",
    ]
    for group, commands in GROUPS.items():
        lines += ["", f"{group}:"]
        lines += [f"  {name:<11}{summary}" for name, summary in commands.items()]
    lines += [
        "",
        "skillgit COMMAND --help tells more. NAME@REV names a revision of a skill: NAME@best, NAME@base,",
        "NAME@step-7, NAME@epoch-2, or any git revision.",
    ]
    return "\n".join(lines)


def entry() -> None:
    """The console script."""
    sys.exit(main())


if __name__ == "__main__":
    entry()
