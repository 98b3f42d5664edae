from __future__ import annotations

import builtins
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from skillgit.__main__ import main
from tests.commands.running import Captured, run, run_json


def test_the_page_of_a_real_training(trained: Path, capsys: Captured) -> None:
    assert run(capsys, "report", "demo", "-o", "r.html") == "wrote r.html\n"
    html = (trained / "r.html").read_text(encoding="utf-8")
    for part in ("say RULE 1", "train-007", "slow update", "POISON 0", "selection-", 'class="fixed">+<', "rollout"):
        assert part in html, part
    told = run_json(capsys, "report", "demo")
    assert (told["file"], told["bytes"]) == ("demo-report.html", len((trained / "demo-report.html").read_bytes()))
    assert (told["edits"], told["rejected"]) == (2, 3)


def test_a_file_has_the_mode_that_the_umask_gives_and_keeps_its_own(trained: Path, capsys: Captured) -> None:
    old = os.umask(0o027)
    try:
        run(capsys, "report", "demo", "-o", "r.html")
    finally:
        os.umask(old)
    path = trained / "r.html"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    run(capsys, "report", "demo", "-o", "r.html")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_graph_draws_steps_edits_and_epochs(trained: Path, capsys: Captured) -> None:
    lines = run(capsys, "log", "demo", "--graph", "--rejected").splitlines()
    assert lines[:3] == ["score ▁▁▁▄▄██  0.1667 -> 0.5000", "       --*-*.", ""]
    kinds = [line[:1] for line in lines[3:]]
    assert "".join(kinds) == "*x*|x*|||xx*"
    epoch = next(n for n, line in enumerate(lines) if line.startswith("*   epoch 1 new best 0.3333 (+0.1667)"))
    assert lines[epoch + 1] == "|\\" and lines[epoch + 3] == "|/"
    assert lines[epoch + 2].startswith("| * ") and "slow update" in lines[epoch + 2]
    without = run(capsys, "log", "demo", "--graph").splitlines()
    assert not any(line.startswith("x") for line in without)
    assert len(run(capsys, "log", "demo", "--graph", "-n", "2").splitlines()) == 5


def test_the_curve_as_svg_and_png(trained: Path, capsys: Captured) -> None:
    run(capsys, "log", "demo", "--plot", "c.svg")
    assert (trained / "c.svg").read_text(encoding="utf-8").startswith('<svg class="curve"')
    run(capsys, "log", "demo", "--plot", "c.PNG")
    data = (trained / "c.PNG").read_bytes()
    assert data.startswith(b"\x89PNG") and (data[16:20], data[20:24]) == (
        (1600).to_bytes(4, "big"),
        (640).to_bytes(4, "big"),
    )


def test_a_png_without_its_library(trained: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *args: Any, **more: Any) -> Any:
        if name == "resvg_py":
            raise ImportError(name)
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    assert main(["log", "demo", "--plot", "c.png"]) == 2
    assert "pip install 'skillgit[plot]'" in capsys.readouterr().err
    assert not (trained / "c.png").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["log", "demo", "--plot", "c.gif"], 2, "its name ends in .svg or .png"),
        (["report", "demo", "-o", "missing/r.html"], 2, "cannot write missing/r.html"),
        (["log", "demo", "--graph", "--json"], 2, "choose one"),
        (["report", "other"], 1, "was never trained here"),
    ],
)
def test_mistakes(trained: Path, capsys: Captured, arguments: list[str], code: int, said: str) -> None:
    assert main(arguments) == code
    assert said in capsys.readouterr().err
