from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from skillgit.__main__ import main
from skillgit.git.history import SkillHistory
from skillgit.git.repo import Repo
from skillgit.models.base import Request
from skillgit.reporting.facts import collect, matrix
from skillgit.reporting.page import page
from tests import world
from tests.world import Scripted, World

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
EVIL = '<script>document.title="owned"</script><img src="http://evil.test/x.png"><style>body{display:none}</style>'
browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium here")


class Seen(HTMLParser):
    """Tags, and every attribute that could load something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [str(v) for k, v in attrs if k in ("src", "href", "action", "data", "srcset", "xlink:href")]


def hostile(request: Request) -> str:
    """The world's optimizer, with markup in every title and reason."""
    evil = json.dumps(EVIL)[1:-1]
    return world.optimizer(request).replace('"seen"', f'"{evil}"').replace('"title": "say', f'"title": "{evil}')


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return {}


@pytest.fixture
def html(repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, made: dict[str, str]) -> str:
    """The report of a training whose optimizer means ill; made once."""
    if not made:
        skill = world.SKILL.replace("# Rules", f"# Rules {EVIL}")
        root = repo("demo", skill=skill, env=world.ENV, tasks=world.tasks())
        World(optimizer=Scripted("openai:world-optimizer", hostile)).install(monkeypatch)
        monkeypatch.chdir(root)
        assert main(["train", "demo", "--quiet"]) == 0
        with Repo.discover(root) as repository:
            made["html"] = page(collect(SkillHistory(repository, "demo")))
    return made["html"]


def test_model_text_is_shown_and_never_obeyed(html: str) -> None:
    seen = Seen()
    seen.feed(html)
    assert not {"script", "img", "iframe", "link", "object", "form"} & set(seen.tags)
    assert seen.tags.count("style") == 1
    assert html.count("&lt;script&gt;document.title=") > 10  # in the skill, titles, reasons and rejected edits


def test_nothing_is_loaded(html: str) -> None:
    seen = Seen()
    seen.feed(html)
    assert seen.loads and all(target.startswith("#") for target in seen.loads)
    assert "default-src 'none'" in html
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style and "url(" not in style[1] and "@import" not in style[1]


def test_every_line_says_where_it_is_from(html: str) -> None:
    rows = re.findall(r'<td class="from">(.*?)</td><td( class="new")?>(.*?)</td>', html)
    written = [text for where, new, text in rows if new]
    assert "- RULE 1 holds." in written and "- RULE 0 holds." not in written
    target = re.search(r'href="#(c[0-9a-f]{12})" title', html)
    assert target and f'<details id="{target[1]}">' in html


def test_matrix() -> None:
    def judged(step: int, action: str, fixed: list[str], broken: list[str]) -> dict[str, object]:
        moved = {"fixed": fixed, "broken": broken, "unchanged": 0}
        return {"kind": "step", "step": step, "epoch": 1, "action": action, "verdict": {"movement": moved}}

    found = matrix([judged(1, "accept", ["a", "b"], []), judged(2, "reject", [], ["b"]), {"kind": "final"}])
    assert found.columns == (("step 1", "accept"), ("step 2", "reject"))
    assert list(found.cells.items()) == [("b", {0: 1, 1: -1}), ("a", {0: 1})]


def shot(path: Path, *flags: str, width: int = 390) -> bytes:
    """What the browser shows, as PNG."""
    picture = path.with_suffix(".png")
    picture.unlink(missing_ok=True)
    common = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"]
    data = f"--user-data-dir={path.parent / 'profile'}"
    command = [
        str(BROWSER),
        *common,
        data,
        *flags,
        f"--window-size={width},844",
        f"--screenshot={picture}",
        path.as_uri(),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return picture.read_bytes()


def corner(png: bytes) -> tuple[int, ...]:
    """The colour of the first pixel of a PNG: any filter leaves it as it is."""
    at, data = 8, b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at : at + 8])
        data += png[at + 8 : at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    return tuple(zlib.decompress(data)[1:4])


@browser
def test_light_and_dark_in_a_browser(html: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(html, encoding="utf-8")
    assert corner(shot(path)) == (255, 255, 255)
    assert corner(shot(path, "--blink-settings=preferredColorScheme=0", width=1100)) == (15, 23, 42)


@browser
def test_the_browser_asks_nobody_for_anything(html: str, tmp_path: Path, httpserver: HTTPServer) -> None:
    httpserver.expect_request(re.compile(".*")).respond_with_data(b"")
    resolving = f"--host-resolver-rules=MAP evil.test 127.0.0.1:{httpserver.port}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    path, bait = tmp_path / "report.html", tmp_path / "bait.html"
    path.write_text(html, encoding="utf-8")
    bait.write_text('<img src="http://evil.test/bait.png">', encoding="utf-8")
    shot(path, resolving)
    shot(bait, resolving)
    assert [request.path for request, _ in httpserver.log] == ["/bait.png"]
