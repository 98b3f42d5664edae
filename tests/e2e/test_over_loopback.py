"""Whole trainings over real SDKs and sockets: two roles apart, providers that refuse, and an end that leaves nothing open."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.__main__ import main
from skillgit.models import calls
from tests import world
from tests.commands.running import Captured, run_json
from tests.e2e.over_http import CALLS, LEARNED, OPTIONS, at, serve
from tests.repos import git
from tests.servers.scripted import Call, Fail, Say, Server

Make = Callable[..., Path]


@pytest.fixture
def root(repo: Make, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks())
    monkeypatch.chdir(folder)
    monkeypatch.setattr(calls, "BACKOFF_FIRST", 0.0)
    return folder


def train(*options: str) -> int:
    return main(["train", "demo", "--quiet", *(word for option in (*OPTIONS, *options) for word in ("-o", option))])


def learned(root: Path) -> str:
    return git(root, "show", "skill/demo:skills/demo/SKILL.md")


@pytest.mark.parametrize("target", ["openai-compatible:small", "anthropic:small"])
def test_each_role_has_its_own_address_key_and_parameters(
    root: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role in ("target", "optimizer"):
        monkeypatch.setenv(f"KEY_OF_THE_{role.upper()}", f"sk-{role}")
    with Server(serve) as ours, Server(serve) as theirs:
        options = [*at(ours, "target", model=target), *at(theirs, "optimizer", model="openai-compatible:large")]
        options += ["models.target.api_key_env=KEY_OF_THE_TARGET", "models.optimizer.api_key_env=KEY_OF_THE_OPTIMIZER"]
        options += ["models.target.temperature=0.1", "models.target.max_tokens=11", "models.target.extra={top_k: 1}"]
        options += ["models.optimizer.temperature=0.9", "models.optimizer.max_tokens=2222"]
        assert train(*options) == 0
    assert learned(root).endswith(LEARNED)
    assert (len(ours.requests), len(theirs.requests)) == (CALLS, 2)  # the one reflection apart; each with a ping
    for server, key, model, temperature, room, top in (
        (ours, "sk-target", "small", 0.1, 11, 1),
        (theirs, "sk-optimizer", "large", 0.9, 2222, None),
    ):
        ping, *rest = server.requests
        assert ping.body["max_tokens"] == 256
        assert {call.body["max_tokens"] for call in rest} == {room}
        for call in server.requests:
            assert call.headers.get("authorization", f"Bearer {call.headers.get('x-api-key')}") == f"Bearer {key}"
            assert (call.body["model"], call.body["temperature"], call.body.get("top_k")) == (model, temperature, top)


@pytest.mark.parametrize(
    ("fail", "said"),
    [
        (Fail(401, "Not logged in. Please run login."), "401: Not logged in. Please run login."),
        (Fail(404, "The model `world` does not exist", code="model_not_found"), "404: The model `world` does not"),
        (Fail(400, "Your credit balance is too low"), "Your credit balance is too low"),
    ],
)
def test_what_every_call_would_get_is_said_once_and_nothing_is_recorded(
    root: Path, capsys: Captured, fail: Fail, said: str
) -> None:
    with Server(lambda call: fail) as server:
        assert train(*at(server)) == 1
    assert said in capsys.readouterr().err
    assert len(server.requests) == 1
    assert git(root, "for-each-ref", "refs/skillgit", "refs/heads/skill", "refs/notes") == ""


@pytest.mark.parametrize("fail", [Fail(404, "no such model"), Fail(422, "your tier takes no such requests")])
def test_a_cause_that_shows_after_the_first_answer_ends_the_run_early(root: Path, capsys: Captured, fail: Fail) -> None:
    """At once where every call would fail, else after ten alike: no task of the baseline's 12 is asked a second time."""
    number = itertools.count()
    with Server(lambda call: fail if next(number) else "ready") as server:
        assert train(*at(server)) == 1
    assert fail.message in capsys.readouterr().err
    asked = [call.text for call in server.requests]
    assert len(asked) == len(set(asked)) <= 1 + 12
    assert git(root, "for-each-ref", "refs/skillgit", "refs/heads/skill", "refs/notes") == ""


def test_wrong_answers_are_scores_however_many_they_are(root: Path, capsys: Captured) -> None:
    with Server(lambda call: "no idea") as server:
        result = run_json(capsys, "eval", "demo", *(word for option in at(server) for word in ("-o", option)))
    assert (result["scores"]["hard"], result["scores"]["n"]) == (0.0, 12)


def test_a_provider_that_is_overloaded_changes_no_result(root: Path) -> None:
    number = itertools.count(1)

    def answer(call: Call) -> str | Fail:
        return Fail(429, "slow down", {"retry-after-ms": "1"}) if next(number) % 3 == 0 else serve(call)

    with Server(answer) as server:
        assert train(*at(server)) == 0
    assert learned(root).endswith(LEARNED)
    assert len(server.requests) == 1 + CALLS + 30  # 92, of which every third was refused


def test_a_task_whose_call_fails_for_good_is_no_zero_and_breaks_nothing(root: Path, capsys: Captured) -> None:
    """11 of 12 are enough; the one that is missing stays out of the mean and is named."""

    def answer(call: Call) -> str | Fail:
        return Fail(503, "down") if "selection 3" in call.text else serve(call)

    with Server(answer) as server:
        assert train(*at(server), "models.target.retries=1") == 0
        options = [word for option in (*at(server), "models.target.retries=0") for word in ("-o", option)]
        capsys.readouterr()
        result = run_json(capsys, "eval", "demo@best", *options)
    assert learned(root).endswith(LEARNED)
    statuses = {row["id"]: row["status"] for row in result["tasks"]}
    assert [name for name, status in statuses.items() if status == "error"] == ["selection-003"]
    assert (result["scores"]["hard"], result["scores"]["n"]) == (pytest.approx(6 / 11), 11)  # rules 0 to 2, twice each


CHILD = """
import json, os, sys
from pathlib import Path
from skillgit.__main__ import main
code = main(sys.argv[1:])
links = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
print(json.dumps([code, [link for link in links if link.startswith("socket:")]]), file=sys.stderr)
"""


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
@pytest.mark.parametrize("end", ["by itself", "Ctrl-C"])
def test_64_rollouts_at_once_leave_no_socket_open(repo: Make, end: str) -> None:
    root = repo("demo", skill=world.SKILL, env=world.ENV, tasks=world.tasks(selection=64))

    def answer(call: Call) -> Say:
        """The first 63 wait for the last one: in that moment all are open."""
        return Say(serve(call), delay=900.0 if end == "Ctrl-C" else 0.0, after=64 if end == "by itself" else 0)

    with Server(answer) as server:
        options = [*at(server), "models.target.concurrency=64"]
        words = ["eval", "demo", "--quiet", *(word for option in options for word in ("-o", option))]
        child = subprocess.Popen([sys.executable, "-c", CHILD, *words], cwd=root, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 120
        while server.most_open < 64 and time.monotonic() < deadline and child.poll() is None:
            time.sleep(0.01)
        if end == "Ctrl-C":
            child.send_signal(signal.SIGINT)
        try:
            _, said = child.communicate(timeout=120)
        finally:
            child.kill()
    assert server.most_open == 64, said
    code, sockets = json.loads(said.splitlines()[-1])
    assert (code, sockets) == (130 if end == "Ctrl-C" else 0, [])
