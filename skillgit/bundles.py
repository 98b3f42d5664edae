"""The environments that travel with skillgit, or with a plugin."""

from __future__ import annotations

import inspect
from importlib import metadata
from pathlib import Path
from typing import Any

from skillgit.errors import ConfigError


def bundled() -> dict[str, Path]:
    """Environments that travel with skillgit or with a plugin, by name, each with its folder.

    A plugin's entry point in the group ``skillgit.envs`` is the path of a folder, or a package that is one. Raises
    ConfigError when one cannot be loaded.
    """
    here = Path(__file__).parent
    roots = [here / "_bundled" / "envs", here.parent / "envs"]  # of a wheel, of a checkout
    root = next((root for root in roots if root.is_dir()), roots[0])
    return dict(sorted({**_plugins(), **{path.parent.name: path.parent for path in root.glob("*/env.yaml")}}.items()))


def _plugins() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for entry in metadata.entry_points(group="skillgit.envs"):
        try:
            value: Any = entry.load()
            found[entry.name] = Path(value.__path__[0] if inspect.ismodule(value) else value)
        except Exception as error:
            raise ConfigError(f"the plugin '{entry.name}' ({entry.value}) does not load: {error}") from error
    return found
