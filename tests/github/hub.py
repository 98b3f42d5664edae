"""GitHub as a step sees it: a bare repository as the remote, the variables and files of a run, and the API on loopback."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from skillgit.__main__ import main
from tests.repos import git

REPOSITORY = "acme/skills"
BOT = {"login": "github-actions[bot]", "type": "Bot"}


class Hub:
    """``remote`` is the repository, ``author`` a person's clone, ``runner`` where the step runs.

    ``comments`` and ``pulls`` are what the API holds, ``calls`` the calls that changed something, ``refuse`` a status that
    all calls are answered with instead.
    """

    def __init__(self, folder: Path, author: Path, server: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.author = folder, author
        self.remote, self.runner = folder / "remote.git", folder / "runner"
        git(folder, "clone", "--quiet", "--bare", str(author), str(self.remote))
        git(author, "remote", "add", "origin", str(self.remote))
        self.comments: list[dict[str, Any]] = []
        self.pulls: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self.refuse = 0
        self._server, self._monkeypatch = server, monkeypatch
        server.expect_request(re.compile(rf"/repos/{REPOSITORY}/.*")).respond_with_handler(self._answer)

    def change(self, text: str, branch: str = "better") -> tuple[str, str]:
        """A person's pull request: the document as ``text`` on a branch; returns the commits of both ends."""
        git(self.author, "checkout", "--quiet", "-B", branch, "main")
        (self.author / "skills/demo/SKILL.md").write_text(text, encoding="utf-8")
        git(self.author, "add", "-A")
        git(self.author, "commit", "--quiet", "--allow-empty", "-m", "Change the skill")
        git(self.author, "push", "--quiet", "--force", "origin", branch)
        return git(self.author, "rev-parse", "main"), git(self.author, "rev-parse", branch)

    def checkout(self, revision: str = "main", *, depth: int = 0) -> None:
        """The runner's clone, as actions/checkout makes it: detached, and shallow where asked."""
        options = [f"--depth={depth}", "--no-single-branch"] if depth else []
        git(self.folder, "clone", "--quiet", *options, f"file://{self.remote}", str(self.runner))
        git(self.runner, "checkout", "--quiet", "--detach", revision)

    def pull_event(self, base: str, head: str, *, source: str | None = REPOSITORY) -> dict[str, Any]:
        ends = {"base": {"sha": base}, "head": {"sha": head, "repo": source and {"full_name": source}}}
        return {"pull_request": {"number": 7, **ends}, "repository": {"default_branch": "main"}}

    def step(self, name: str, event: Any, *arguments: str, **variables: str) -> int:
        """Run ``skillgit github`` in the runner's clone; returns its exit code."""
        (self.folder / "event.json").write_text(json.dumps(event), encoding="utf-8")
        for file in ("outputs", "summary"):
            (self.folder / file).write_text("", encoding="utf-8")
        given = {
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_API_URL": self._server.url_for(""),
            "GITHUB_TOKEN": "t0ken",
            "GITHUB_ACTOR": "person",
            "GITHUB_OUTPUT": str(self.folder / "outputs"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            **variables,
        }
        for key, value in given.items():
            self._monkeypatch.setenv(key, value)
        self._monkeypatch.chdir(self.runner)
        return main(["github", *arguments])

    @property
    def summary(self) -> str:
        return (self.folder / "summary").read_text(encoding="utf-8")

    @property
    def outputs(self) -> dict[str, str]:
        """The step's outputs, read as the runner reads them."""
        lines, found = iter((self.folder / "outputs").read_text(encoding="utf-8").splitlines()), {}
        for line in lines:
            key, _, fence = line.partition("<<")
            found[key] = "\n".join(iter(lines.__next__, fence))
        return found

    def _answer(self, request: Request) -> Response:
        assert request.headers["Authorization"] == "Bearer t0ken"
        if self.refuse:
            return Response(json.dumps({"message": "not by this token"}), self.refuse)
        path, sent = request.path.removeprefix(f"/repos/{REPOSITORY}"), request.get_json(silent=True) or {}
        if request.method != "GET":
            self.calls.append(f"{request.method} {path}")
        return Response(json.dumps(self._held(request, path, sent)), content_type="application/json")

    def _held(self, request: Request, path: str, sent: dict[str, Any]) -> Any:
        match request.method, path.strip("/").split("/"):
            case "GET", ["issues", "7", "comments"]:
                return self._page(request, self.comments)
            case "GET", ["pulls"]:
                assert request.args["head"] == "acme:skill/demo"
                return self._page(request, self.pulls)
            case "POST", ["issues", "7", "comments"]:
                self.comments.append({"id": len(self.comments), "user": BOT, **sent})
            case "PATCH", ["issues", "comments", number]:
                self.comments[int(number)] |= sent
            case "POST", ["pulls"]:
                self.pulls.append({"number": 8, **sent, "head": {"ref": sent["head"]}})
            case "PATCH", ["pulls", "8"]:
                self.pulls[-1] |= sent
            case unknown:
                raise AssertionError(unknown)
        return {"html_url": f"https://github.test{path}"}

    def _page(self, request: Request, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        size, page = int(request.args["per_page"]), int(request.args["page"])
        return rows[(page - 1) * size : page * size]
