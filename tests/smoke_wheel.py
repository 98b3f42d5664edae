"""Install a built wheel into an empty environment, outside the checkout, and use it: ``python smoke_wheel.py WHEEL``."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path


def run(*command: str | Path, cwd: Path) -> str:
    who = {f"GIT_{role}_{part}": "x@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    env = {**os.environ, **who}
    env.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def main(wheel: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="skillgit-smoke-") as scratch:
        root = Path(scratch)
        venv.create(root / "venv", with_pip=True)
        scripts = root / "venv" / ("Scripts" if os.name == "nt" else "bin")
        run(scripts / "python", "-m", "pip", "install", "--quiet", wheel.resolve(), cwd=root)
        skillgit = scripts / "skillgit"
        project = root / "project"
        project.mkdir()
        run("git", "init", "--quiet", ".", cwd=project)
        assert "skillgit" in run(skillgit, "--version", cwd=project)
        assert "commit-type" in run(skillgit, "envs", cwd=project)
        run(skillgit, "init", "commit-type", "--env", "commit-type", cwd=project)
        run("git", "add", ".", cwd=project)
        run("git", "commit", "--quiet", "-m", "Add a skill", cwd=project)
        plan = run(skillgit, "train", "commit-type", "--dry-run", "--json", cwd=project)
        assert '"steps"' in plan, plan
        hooks = run(scripts / "python", "-c", "import skillgit._bundled as b; print(*b.__path__)", cwd=project).strip()
        assert (Path(hooks) / "envs" / "dates" / "env.yaml").is_file(), hooks
        print("the wheel works in an empty environment")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
