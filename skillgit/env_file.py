"""A skill's own ``env.py``: imported from its file, and its mistakes told in one line."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from skillgit.errors import SkillgitError, TaskError


def load_module(path: Path) -> ModuleType | None:
    """The module, None when there is no such file. It is not importable by name and shadows nothing."""
    if not path.is_file():
        return None
    name = f"skillgit_env_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    with calling(path.name):
        spec.loader.exec_module(module)
    return module


@contextmanager
def calling(what: str, task: str = "") -> Iterator[None]:
    """Turn whatever the user's code raises into one line that names file and line; our own errors pass."""
    try:
        yield
    except SkillgitError:
        raise
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        about = f" (task '{task}')" if task else ""
        said = " ".join(str(error).split()) or "no message"
        raise TaskError(f"{what}{about} failed at {place}: {type(error).__name__}: {said}") from error
