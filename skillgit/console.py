"""The only module that writes to the terminal: results on stdout, progress and errors on stderr."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

COLOURS = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "dim": "2", "bold": "1"}


def prepare() -> None:
    """Write UTF-8 whatever the code page is."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with suppress(ValueError, OSError):
                stream.reconfigure(encoding="utf-8", errors="replace")


def flush() -> None:
    """Write out what is held back; OSError tells now what the interpreter would only complain of at its end."""
    if sys.stdout is not None:
        sys.stdout.flush()


def abandon() -> None:
    """Send what is left of the output nowhere, since its place cannot take it."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def colours(stream: Any = None) -> bool:
    """Whether a stream (stdout by default) takes colours."""
    stream = stream or sys.stdout
    return (
        stream is not None
        and bool(stream.isatty())
        and "NO_COLOR" not in os.environ
        and os.environ.get("TERM") != "dumb"
    )


def paint(text: str, colour: str, stream: Any = None) -> str:
    """The text in a colour, where the stream takes colours."""
    return f"\033[{COLOURS[colour]}m{text}\033[0m" if colour and colours(stream) else text


def say(text: str = "") -> None:
    """A line of result."""
    print(text)


def raw(data: bytes) -> None:
    """A document on stdout, byte for byte."""
    if sys.stdout is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)


def note(text: str) -> None:
    """A line for the person who watches; when nobody does any more, the work goes on."""
    with suppress(BrokenPipeError):
        print(text, file=sys.stderr, flush=True)


def error(message: str, hint: str = "") -> None:
    """What went wrong, in one line, and what to do next in another."""
    print(f"{paint('error:', 'red', sys.stderr)} {' '.join(message.split())}", file=sys.stderr)
    if hint:
        print(f"{paint('hint:', 'cyan', sys.stderr)}  {hint}", file=sys.stderr)


def emit(data: Any) -> None:
    """One JSON document on stdout."""
    print(json.dumps(data, ensure_ascii=False, indent=2, default=str))


def lines(texts: Iterable[str]) -> None:
    """Several lines of result, as they come."""
    for text in texts:
        print(text)


def align(rows: Sequence[Sequence[object]], right: Sequence[int] = ()) -> list[str]:
    """The rows as lines of aligned columns; the last column is not padded."""
    text = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in text if i < len(row)) for i in range(max(map(len, text), default=0))]
    lines = []
    for row in text:
        cells = [cell.rjust(widths[i]) if i in right else cell.ljust(widths[i]) for i, cell in enumerate(row)]
        lines.append("  ".join(cells).rstrip())
    return lines


def wrap(text: str, prefix: str) -> list[str]:
    """The text after a prefix, in lines that fit the terminal; whole in a pipe."""
    if not sys.stdout or not sys.stdout.isatty():
        return [(prefix + text).rstrip()]
    width = max(shutil.get_terminal_size().columns, len(prefix) + 20)
    return textwrap.wrap(
        text, width, initial_indent=prefix, subsequent_indent=" " * len(prefix), break_on_hyphens=False
    ) or [prefix.rstrip()]


def signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.4f}"


def money(usd: float | None) -> str:
    """Dollars; an unknown price is its own state."""
    return "price unknown" if usd is None else "$0" if usd == 0 else f"${usd:.4f}" if usd < 1 else f"${usd:.2f}"


def count(value: int) -> str:
    """A large number, short: 1.2k, 3.4M."""
    for limit, unit in ((1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.1f}{unit}"
    return str(value)


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def clock(seconds: float) -> str:
    """A duration in at most six characters: 8s, 1m03s, 2h05m."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s" if minutes else f"{rest}s"


def scored(figures: Mapping[str, Any]) -> str:
    """``0.7125 [0.638, 0.777] n=160``."""
    low, high = figures["interval"]
    return f"{figures['hard']:.4f}  [{low:.3f}, {high:.3f}]  n={figures['n']}"
