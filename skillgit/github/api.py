"""The few calls of GitHub's REST API that the actions make."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from skillgit.errors import RefusedError, SkillgitError

if TYPE_CHECKING:
    from skillgit.github.context import Context

ATTEMPTS = 4
LONGEST_WAIT = 60.0
"""Seconds that a Retry-After is waited for at most."""
PER_PAGE = 100


class Forbidden(RefusedError):
    """The token may not do this (401, 403 or 404)."""


class Api:
    """Calls for one repository, with the token of the step. Use it as a context manager."""

    def __init__(self, context: Context) -> None:
        import httpx2

        self._owner = context.repository.partition("/")[0]
        headers = {
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": "skillgit",
        }
        if context.token:
            headers["Authorization"] = f"Bearer {context.token}"
        self._client = httpx2.Client(base_url=f"{context.api}/repos/{context.repository}", headers=headers, timeout=30)

    def __enter__(self) -> Api:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def comment(self, number: int, marker: str, body: str) -> str:
        """Write the one comment that begins with ``marker``, or write it anew where it is; returns its address."""
        text = f"{marker}\n{body}"
        for one in self._pages(f"/issues/{number}/comments"):
            if str(one.get("body", "")).startswith(marker) and (one.get("user") or {}).get("type") == "Bot":
                return str(self._call("PATCH", f"/issues/comments/{one['id']}", json={"body": text})["html_url"])
        return str(self._call("POST", f"/issues/{number}/comments", json={"body": text})["html_url"])

    def pull_request(self, branch: str, base: str, title: str, body: str) -> str:
        """Open the pull request of a branch of this repository, or write its text anew; returns its address."""
        there = {"state": "open", "head": f"{self._owner}:{branch}", "base": base}
        for one in self._pages("/pulls", there):
            if (one.get("head") or {}).get("ref") == branch:
                return str(self._call("PATCH", f"/pulls/{one['number']}", json={"body": body})["html_url"])
        new = {"title": title, "head": branch, "base": base, "body": body}
        return str(self._call("POST", "/pulls", json=new)["html_url"])

    def _pages(self, path: str, query: dict[str, str] | None = None) -> Iterator[dict[str, Any]]:
        page, full = 1, True
        while full:
            rows = self._call("GET", path, params={**(query or {}), "per_page": str(PER_PAGE), "page": str(page)})
            yield from rows
            page, full = page + 1, len(rows) == PER_PAGE

    def _call(self, method: str, path: str, **options: Any) -> Any:
        """The answer as data. Too many requests and a server's faults are tried again, but a POST only where it was not taken."""
        import httpx2

        said = ""
        for attempt in range(ATTEMPTS):
            try:
                answer = self._client.request(method, path, **options)
            except httpx2.TransportError as error:
                said, wait, again = str(error) or type(error).__name__, 2.0**attempt, method != "POST"
            else:
                if answer.is_success:
                    return answer.json()
                said = f"{answer.status_code} {_message(answer.text)}"
                limited = answer.status_code == 429 or "retry-after" in answer.headers
                if answer.status_code in (401, 403, 404) and not limited:
                    raise Forbidden(f"GitHub did not allow {method} {path}: {said}")
                again = limited or (answer.status_code >= 500 and method != "POST")
                wait = _seconds(answer.headers.get("retry-after"), 2.0**attempt)
            if not again or attempt == ATTEMPTS - 1:
                break
            time.sleep(min(wait, LONGEST_WAIT))
        raise SkillgitError(f"GitHub's API failed at {method} {path}: {said}")


def _message(text: str) -> str:
    try:
        found = json.loads(text)
    except ValueError:
        return " ".join(text.split())[:200]
    return str(found.get("message", ""))[:200] if isinstance(found, dict) else ""


def _seconds(header: str | None, otherwise: float) -> float:
    try:
        return max(0.0, float(header or otherwise))
    except ValueError:
        return otherwise
