"""A person's patch to the skill: unified diffs as git writes and reads them, and the edits they mean. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff as difflib_diff
from io import StringIO
from itertools import accumulate
from typing import TYPE_CHECKING

from skillgit.document import MARKER, is_protected, regions
from skillgit.errors import SkillError
from skillgit.lines import changed_part, common_start, lf_lines
from skillgit.skill import Edit, apply_edits

if TYPE_CHECKING:
    from unidiff.patch import Hunk as RawHunk
    from unidiff.patch import PatchedFile

NO_NEWLINE = "\\ No newline at end of file\n"
DEV_NULL = "/dev/null"
HINT = "make it with 'git diff' between the skill as it is now and as it should be"
ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
OTHER_CHANGE = re.compile(r"^(old|new) mode ", re.MULTILINE)
# of a file's header: what stands between its first line and the names, and the names
HEADER = re.compile(
    r"^diff --git .*\n((?:(?!diff --git |--- |@@ ).*\n)*)--- ([^\t\n]*).*\n\+\+\+ ([^\t\n]*).*\n", re.MULTILINE
)
ESCAPED = re.compile(rb"\\([0-7]{3}|.)")


@dataclass(frozen=True, slots=True)
class Hunk:
    """A hunk and the lines of the current text that it replaces: ``old`` at index ``at``."""

    number: int
    at: int
    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def core(self) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
        """Where the first changed line is, and what is removed and added there: the hunk without its outer context."""
        head = common_start(self.old, self.new)
        tail = common_start(self.old[head:][::-1], self.new[head:][::-1])
        return self.at + head, self.old[head : len(self.old) - tail], self.new[head : len(self.new) - tail]


def unified_diff(old: str, new: str, path: str) -> str:
    """The patch from old to new that ``git apply`` takes; empty when they are equal."""
    if old == new:
        return ""
    before, after = quoted(f"a/{path}"), quoted(f"b/{path}")
    # git ends a file name with a tab when it holds a space
    from_file, to_file = (name + "\t" * (" " in name) for name in (before, after))
    hunks = list(difflib_diff(lf_lines(old), lf_lines(new)))[2:]
    body = (line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}" for line in hunks)
    return f"diff --git {before} {after}\n--- {from_file}\n+++ {to_file}\n" + "".join(body)


def edits_from_diff(diff: str, current: str, path: str) -> tuple[Edit, ...]:
    """One edit for each hunk, so that ``apply_edits(current, edits).text`` is what ``git apply`` makes of current.

    Each target is the changed lines, with as much context as makes it unique. A hunk that no edit may do (it touches a
    protected region, or leaves nothing) becomes an edit that ``apply_edits`` refuses with the reason. Raises SkillError,
    naming file and hunk, when the patch is empty, binary, about another file, or does not fit.
    """
    edits: list[Edit] = []
    text, moved = current, 0
    for hunk in _hunks(diff, current, path):
        at, removed, added = hunk.core
        edit, changed = _edit(text, at + moved, at + moved + len(removed), "".join(added))
        if changed != text:
            text, moved = changed, moved + len(added) - len(removed)
        edits.append(edit)
    return tuple(edits)


def touches_protected(diff: str, current: str) -> list[int]:
    """The numbers, from 1, of the hunks that change a protected region or bring in a marker."""
    protected = regions(current)
    starts = [0, *accumulate(map(len, lf_lines(current)))]
    found = []
    for hunk in _hunks(diff, current, ""):
        at, removed, added = hunk.core
        start, end, new = changed_part(current, starts[at], starts[at + len(removed)], "".join(added))
        if is_protected(protected, start, end) or MARKER.search(new):
            found.append(hunk.number)
    return found


def quoted(name: str) -> str:
    """A file name as git writes it in a patch: in quotes, with escapes, when it is not plain ASCII."""
    data = name.encode("utf-8", "surrogateescape")
    plain = "".join(
        "\\" + ESCAPES[byte] if byte in ESCAPES else chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}" for byte in data
    )
    return name if plain == name else f'"{plain}"'


def unquoted(name: str) -> str:
    """The file name that ``quoted`` wrote, without the ``a/`` or ``b/`` before it."""
    if len(name) > 1 and name[0] == name[-1] == '"':
        values = {letter.encode(): bytes([code]) for code, letter in ESCAPES.items()}
        data = ESCAPED.sub(
            lambda match: values[match[1]] if len(match[1]) == 1 else bytes([int(match[1], 8) & 255]),
            name[1:-1].encode("utf-8", "surrogateescape"),
        )
        name = data.decode("utf-8", "surrogateescape")
    return re.sub(r"^[abciow]/", "", name)


def _hunks(diff: str, current: str, path: str) -> Iterator[Hunk]:
    """The hunks that change something, in order, each where it fits."""
    file = _only_file(diff, path)
    lines, floor, moved = lf_lines(current), 0, 0
    for number, raw in enumerate(file, start=1):
        old, new = _sides(raw)
        stated = raw.source_start - (1 if old else 0) + moved
        places = _places(lines, old, floor)
        at = stated if stated in places else places[0] if len(places) == 1 else -1
        if at < 0:
            problem = f"fits {len(places)} places" if places else _mismatch(lines, old, max(stated, 0))
            raise _refusal(f"hunk {number} of {len(file)} for {_name(file)} does not fit: {problem}")
        moved, floor = moved + at - stated, at + len(old)
        if old != new:
            yield Hunk(number, at, old, new)


def _only_file(diff: str, path: str) -> PatchedFile:
    """The one file of the patch, which has hunks; an empty ``path`` takes any file."""
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    diff = HEADER.sub(_without_spaces, diff if diff.endswith("\n") else f"{diff}\n")
    try:
        files = PatchSet(StringIO(diff, newline="\n"))
    except UnidiffParseError as error:
        raise _refusal(f"the patch is not a unified diff: {' '.join(str(error).split())}") from error
    if not files:
        raise _refusal("the patch is empty")
    for file in files:
        header = "".join(file.patch_info or ())
        if path and not _is_about(file, path):
            raise _refusal(f"the patch touches {_name(file)}; it may only touch {path}")
        if file.is_binary_file:
            raise _refusal(f"the patch of {_name(file)} is binary")
        if DEV_NULL in (file.source_file, file.target_file):
            raise _refusal(f"the patch makes or removes {_name(file)}; it may only change it")
        if (header and unquoted(file.source_file) != unquoted(file.target_file)) or OTHER_CHANGE.search(header):
            raise _refusal(f"the patch changes the name or mode of {_name(file)}; it may only change its text")
    if len(files) > 1 or not files[0]:
        raise _refusal(f"the patch has {len(files)} parts for {_name(files[0])}, not one with hunks")
    return files[0]


def _without_spaces(header: re.Match[str]) -> str:
    """The header with its names in quotes, so that the first line can be told apart into two names."""
    old, new = (
        f'"{name.strip(chr(34))}"'.replace(" ", "\\040") if " " in name else name for name in header.groups()[1:]
    )
    return f"diff --git {old} {new}\n{header[1]}--- {old}\n+++ {new}\n"


def _is_about(file: PatchedFile, path: str) -> bool:
    if not file.patch_info:  # not git's: 'diff -u OLD SKILL.md' in any folder
        return unquoted(file.target_file).rpartition("/")[2] == path.rpartition("/")[2]
    names = {file.source_file, file.target_file} - {DEV_NULL}
    return all(path in (name, unquoted(name)) for name in names)


def _name(file: PatchedFile) -> str:
    return unquoted(file.source_file if file.target_file == DEV_NULL else file.target_file)


def _sides(raw: RawHunk) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines before and after, with their line breaks; the last may have none."""
    old: list[str] = []
    new: list[str] = []
    touched: list[list[str]] = []
    for line in raw:
        if line.line_type == "\\":
            for side in touched:
                side[-1] = side[-1].removesuffix("\n")
        touched = [side for side, kinds in ((old, " -"), (new, " +")) if line.line_type and line.line_type in kinds]
        for side in touched:
            side.append(line.value)
    return tuple(old), tuple(new)


def _places(lines: Sequence[str], old: Sequence[str], floor: int) -> list[int]:
    """Where the lines ``old`` stand, from ``floor`` on."""
    return [at for at in range(floor, len(lines) - len(old) + 1) if tuple(lines[at : at + len(old)]) == old]


def _mismatch(lines: Sequence[str], old: Sequence[str], stated: int) -> str:
    for at, expected in enumerate(old, start=stated):
        found = lines[at] if at < len(lines) else None
        if found != expected:
            return f"line {at + 1} is {_shown(found)}, the patch expects {_shown(expected)}"
    return "its lines overlap with the hunk before it"


def _shown(line: str | None) -> str:
    return "missing" if line is None else repr(line if len(line) < 60 else line[:56] + "...")


def _edit(text: str, start: int, stop: int, new: str) -> tuple[Edit, str]:
    """The plainest edit that puts ``new`` in the place of the lines from start to stop, and the text after it.

    When that may not be, the text is as it was, and ``apply_edits`` says of the edit why.
    """
    lines = lf_lines(text)
    wanted = "".join((*lines[:start], new, *lines[stop:]))
    for edit in _candidates(lines, start, stop, new):
        applied = apply_edits(text, (edit,))
        if applied.text == wanted:
            return edit, wanted
        if edit.op == "replace" and applied.reports[0].status in ("protected", "invalid"):
            return edit, text  # more context would change nothing
    return Edit("replace", wanted, text, source="patch"), text


def _candidates(lines: Sequence[str], start: int, stop: int, new: str) -> Iterator[Edit]:
    """Edits with more and more context, as far as their target is unique; the plainer ones first."""
    text, context, most = "".join(lines), 0, max(start, len(lines) - stop)
    while True:
        around = (slice(max(0, start - context), start), slice(start, stop), slice(stop, stop + context))
        before, old, after = ("".join(lines[part]) for part in around)
        if not old and text.count(before) == 1:
            yield Edit("insert_after", new, before, source="patch")
        if not new and text.count(old) == 1:
            yield Edit("delete", target=old, source="patch")
        target, content = before + old + after, before + new + after
        if target.strip() and content.strip() and text.count(target) == 1:
            yield Edit("replace", content, target, source="patch")
        if context >= most:
            return
        context += 1 + context // 4  # not one by one: a text that repeats itself a lot would take quadratic time


def _refusal(problem: str) -> SkillError:
    return SkillError(problem, hint=HINT)
