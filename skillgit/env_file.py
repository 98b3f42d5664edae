"""A skill's own ``env.py``: imported from its file, and its mistakes told in one line."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from skillgit.errors import ConfigError, SkillgitError, TaskError

PREFIX = "skillgit_env_"
HOOKS = {"tasks": ("env",), "rollout": ("task", "skill", "model", "env"), "score": ("task", "answer")}
"""The functions that env.py may define, and what each is given."""


class _Loader(SourceFileLoader):
    """Writes no bytecode: the user's working tree stays as it is."""

    def set_data(self, path: Any, data: Any, *, _mode: int = 0o666) -> None:
        return None


def load_module(path: Path) -> ModuleType | None:
    """The module, None when there is no such file.

    It is not importable by name and shadows nothing. Python files beside it are reached by relative import
    (``from .helper import clean``). Raises TaskError when it does not load.
    """
    if not path.is_file():
        return None
    folder = str(path.resolve().parent)
    name = PREFIX + hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    _forget(name)
    sys.path_importer_cache[folder] = FileFinder(folder, (_Loader, [".py"]))
    loader = _Loader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader, submodule_search_locations=[folder])
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and relative imports look it up
    try:
        with calling(path.name):
            spec.loader.exec_module(module)
    except BaseException:
        _forget(name)
        raise
    return module


def _forget(name: str) -> None:
    for known in [known for known in sys.modules if f"{known}.".startswith(f"{name}.")]:
        del sys.modules[known]


def hook(module: ModuleType | None, name: str) -> Callable[..., Any] | None:
    """The function of env.py with one of the names in ``HOOKS``, None when it has none. Raises ConfigError."""
    function = getattr(module, name, None)
    if function is None:
        return None
    wanted = f"{name}({', '.join(HOOKS[name])})"
    if not callable(function) or (name != "rollout" and inspect.iscoroutinefunction(function)):
        raise ConfigError(f"env.py: '{name}' must be a plain function {wanted}")
    try:
        inspect.signature(function).bind(*HOOKS[name])
    except TypeError:
        raise ConfigError(f"env.py: {name}() must take what it is given: {wanted}") from None
    except ValueError:  # written in C: nothing is known of what it takes
        pass
    return function  # type: ignore[no-any-return]


@contextmanager
def calling(what: str, task: str = "") -> Iterator[None]:
    """Turn whatever the user's code raises into one line that names file, line and function; our own errors pass."""
    try:
        yield
    except SkillgitError:
        raise
    except (Exception, SystemExit) as error:
        about = f" (task '{task}')" if task else ""
        said = " ".join(str(error).split()) or "no message"
        hint = f"install what provides '{error.name}'" if isinstance(error, ModuleNotFoundError) else ""
        raise TaskError(f"{what}{about} failed{_place(error)}: {type(error).__name__}: {said}", hint=hint) from error


def _place(error: BaseException) -> str:
    """Where in the user's own files it happened; a library may have raised it further down."""
    walked = list(traceback.walk_tb(error.__traceback__))
    own = [(frame, line) for frame, line in walked if str(frame.f_globals.get("__name__")).startswith(PREFIX)]
    if not own:
        at = isinstance(error, SyntaxError) and error.filename
        return f" at {Path(at).name}:{error.lineno}" if at and isinstance(error, SyntaxError) else ""
    frame, line = own[-1]
    code = frame.f_code
    inside = "" if code.co_name == "<module>" else f" in {code.co_name}"
    return f" at {Path(code.co_filename).name}:{line}{inside}"
