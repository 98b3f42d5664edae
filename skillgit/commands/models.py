from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json
from skillgit.errors import UsageError

if TYPE_CHECKING:
    from skillgit.models.registry import Backend


def run(
    action: Annotated[str, typer.Argument(metavar="[pull NAME]", help="list (default) or pull")] = "list",
    name: Annotated[str, typer.Argument(metavar="", help="a local model", hidden=True)] = "",
    as_json: Json = False,
) -> None:
    """The providers and whether they are ready here, and the local models; pull fetches one.

    Example: skillgit models pull qwen2.5-coder-0.5b
    """
    if action == "pull":
        if not name:
            raise UsageError("models pull needs a name", hint="skillgit models lists the local models")
        return _pull(name, as_json)
    if action != "list":
        raise UsageError(f"models {action}: known are list and pull", hint="skillgit models pull NAME")
    return _list(as_json)


def _list(as_json: bool) -> None:
    from skillgit.errors import FatalModelError
    from skillgit.models.files import known, locate
    from skillgit.models.registry import backends

    rows = list(backends().values())
    local = []
    for model in known().values():
        try:
            path = str(locate(model.name))
        except FatalModelError:
            path = ""
        local.append({"name": model.name, "megabytes": round(model.size / 1e6), "path": path})
    if as_json:
        return console.emit({"providers": [_as_dict(row) for row in rows], "local": local})
    table = [["provider", "roles", "ready", "needs", "example"]]
    for row in rows:
        missing = row.missing()
        table.append(
            [row.provider, "+".join(row.roles), f"no: {missing}" if missing else "yes", row.needs, row.example]
        )
    console.lines(console.align(table))
    console.say()
    files = [[m["name"], m["megabytes"], m["path"] or f"skillgit models pull {m['name']}"] for m in local]
    console.lines(console.align([["local model", "MB", "file"], *files], right=(1,)))
    return None


def _as_dict(row: Backend) -> dict[str, object]:
    missing = row.missing()
    roles = list(row.roles)
    return {
        "provider": row.provider,
        "roles": roles,
        "needs": row.needs,
        "example": row.example,
        "ready": not missing,
        "mend": missing,
    }


def _pull(name: str, as_json: bool) -> None:
    from skillgit.models.download import pull
    from skillgit.progress import Bar

    with Bar(f"fetching {name}") as bar:
        path = pull(name, bar.update)
    if as_json:
        return console.emit({"name": name, "path": str(path)})
    console.say(f"{name} is at {path}")
    return None
