from __future__ import annotations

import re
from pathlib import Path

import pytest

from skillgit.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["trian", "demo"], 2, "did you mean 'train'"),
        (["train"], 2, "Missing argument"),
        (["train", "demo", "--nope"], 2, "No such option"),
        (["train", "nosuch"], 2, "there is no skill 'nosuch'"),
        (["train", "No_Name"], 2, "is not a skill name"),
        (["train", "demo", "-o", "train.epoch=3"], 2, "did you mean 'epochs'"),
        (["log", "demo"], 1, "was never trained here"),
        (["eval", "demo@nope"], 1, "never trained|no revision"),
        (["apply", "demo", "none.patch"], 2, "cannot read the patch"),
        (["models", "pull"], 2, "needs a name"),
        (["init", "x", "--env", "nope"], 2, "there is no bundled environment 'nope'"),
        (["-C", "/no/such", "status"], 2, "there is no such folder"),
    ],
)
def test_a_mistake_is_one_line_with_its_exit_code(
    untrained: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    assert main(arguments) == code
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert re.search(said, err)
    assert len([line for line in err.splitlines() if line.startswith("error:")]) == 1


def test_outside_a_repository(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["status"]) == 1
    assert "is not in a git repository" in capsys.readouterr().err
