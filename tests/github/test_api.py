"""The API's bad days, on loopback."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from skillgit.errors import SkillgitError
from skillgit.github import api
from skillgit.github.api import Api, Forbidden
from skillgit.github.context import Context

DONE = Response('{"html_url": "there"}', content_type="application/json")


@pytest.fixture
def context(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Context:
    monkeypatch.setattr(api.time, "sleep", lambda _: None)
    return Context("push", {}, "acme/skills", httpserver.url_for("").rstrip("/"), "t", "", None, None)


def scripted(server: HTTPServer, *answers: Response) -> list[str]:
    """Comments are none; posting one is answered by these in turn; returns what was posted."""
    posted: list[str] = []
    left = iter(answers)

    def post(request: Request) -> Response:
        posted.append(request.get_json()["body"])
        return next(left)

    address = "/repos/acme/skills/issues/7/comments"
    server.expect_request(address, method="GET").respond_with_json([])
    server.expect_request(address, method="POST").respond_with_handler(post)
    return posted


@pytest.mark.parametrize("status", [429, 403, 503])
def test_too_many_requests_are_tried_again(context: Context, httpserver: HTTPServer, status: int) -> None:
    posted = scripted(httpserver, Response("slow down", status, {"Retry-After": "1"}), DONE)
    with Api(context) as github:
        assert github.comment(7, "<!-- m -->", "text") == "there"
    assert posted == ["<!-- m -->\ntext"] * 2


def test_a_post_that_may_have_been_taken_is_not_sent_twice(context: Context, httpserver: HTTPServer) -> None:
    posted = scripted(httpserver, Response("<html>oops</html>", 502), DONE)
    with Api(context) as github, pytest.raises(SkillgitError, match=r"502 <html>oops</html>"):
        github.comment(7, "m", "text")
    assert len(posted) == 1


def test_a_refusal_says_what_github_said(context: Context, httpserver: HTTPServer) -> None:
    scripted(httpserver, Response('{"message": "Resource not accessible by integration"}', 403))
    with Api(context) as github, pytest.raises(Forbidden, match="403 Resource not accessible"):
        github.comment(7, "m", "text")


def test_outputs_of_many_lines_cannot_set_others(context: Context, tmp_path: Path) -> None:
    from dataclasses import replace

    file = tmp_path / "outputs"
    replace(context, outputs=file).put({"a": "one\nb=2\nend", "c": 3})
    lines = file.read_text(encoding="utf-8").splitlines()
    fence = lines[0].removeprefix("a<<")
    assert lines[1:5] == ["one", "b=2", "end", fence]
    assert lines[5].startswith("c<<") and lines[5] != f"c<<{fence}"
