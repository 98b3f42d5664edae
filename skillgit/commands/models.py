from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skillgit import console
from skillgit.commands._options import Json
from skillgit.errors import UsageError

if TYPE_CHECKING:
    from skillgit.models.registry import Backend


def run(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="list | pull NAME", help="list them (default), or fetch a local model"),
    ] = None,
    as_json: Json = False,
) -> None:
    """The providers and whether they are ready here, and the local models; pull fetches one.

    Example: skillgit models pull qwen2.5-coder-0.5b

    JSON: {providers, local}: lists of {provider, roles, needs, example, ready, mend} and of {name, megabytes, path}; pull
    gives {name, path}.
    """
    match words or ["list"]:
        case ["list"]:
            return _list(as_json)
        case ["pull", name]:
            return _pull(name, as_json)
        case ["pull"]:
            raise UsageError("models pull needs a name", hint="skillgit models lists the local models")
        case _:
            raise UsageError(
                f"models {' '.join(words or ())}: known are list and pull NAME", hint="skillgit models --help"
            )


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
    table = [["model", "role", "ready"]]
    table += [
        [row.example, "both" if len(row.roles) > 1 else row.roles[0], "no" if row.missing() else "yes"] for row in rows
    ]
    head, *prefixes = console.align(table)
    console.say(f"{head}  needs")
    for prefix, row in zip(prefixes, rows, strict=True):
        console.lines(console.wrap(row.missing() or row.needs, f"{prefix:<{len(head)}}  "))
    console.say()
    files = [[m["name"], m["megabytes"], m["path"] or f"skillgit models pull {m['name']}"] for m in local]
    console.lines(console.align([["local model", "MB", "file"], *files], right=(1,)))
    return None


def _as_dict(row: Backend) -> dict[str, object]:
    missing = row.missing()
    return {
        "provider": row.provider,
        "roles": list(row.roles),
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
