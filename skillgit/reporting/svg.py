"""The score curve as SVG, written by hand. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from skillgit.reporting.curve import TAKEN, Point

WIDTH, HEIGHT = 800, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 36, 40
LABELS = 12
DARK = """
@media (prefers-color-scheme:dark){svg.curve{--line:#60a5fa;--best:#64748b;--good:#4ade80;--bad:#f87171;--open:#fbbf24;
--ink:#cbd5e1;--rule:#334155;--paper:#0f172a}}
"""
STYLE = """
svg.curve{--line:#2563eb;--best:#94a3b8;--good:#15803d;--bad:#b91c1c;--open:#b45309;--ink:#334155;--rule:#e2e8f0;--paper:#fff}
svg.curve text{font:12px system-ui,sans-serif;fill:var(--ink)}
svg.curve .rule{stroke:var(--rule)} svg.curve .epoch{stroke:var(--best);stroke-dasharray:2 4}
svg.curve .current{fill:none;stroke:var(--line);stroke-width:2} svg.curve .best{fill:none;stroke:var(--best);stroke-width:1.5;
stroke-dasharray:6 4}
svg.curve .good{fill:var(--good)} svg.curve .bad{fill:none;stroke:var(--bad);stroke-width:2}
svg.curve .open{fill:none;stroke:var(--open);stroke-width:2}
"""
PLAIN = {
    "line": "#2563eb",
    "best": "#94a3b8",
    "good": "#15803d",
    "bad": "#b91c1c",
    "open": "#b45309",
    "ink": "#334155",
    "rule": "#e2e8f0",
    "paper": "#ffffff",
}


def curve(points: Sequence[Point], title: str, *, alone: bool = False) -> str:
    """The picture. ``alone``: a file of its own, with its style and a background; else a page brings the style."""
    scale = _Scale(points)
    parts = [
        f'<svg class="curve" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="{escape(title)}"{_size(alone)}>',
        f"<title>{escape(title)}</title>",
        *(
            [f"<style>{STYLE}{DARK}</style>", f'<rect width="{WIDTH}" height="{HEIGHT}" fill="var(--paper)"/>']
            if alone
            else []
        ),
        *_axes(points, scale),
        _line("best", [(scale.x(n), scale.y(point.best)) for n, point in enumerate(points)]),
        _line("current", [(scale.x(n), scale.y(point.current)) for n, point in enumerate(points)]),
        *(_mark(point, scale.x(n), scale) for n, point in enumerate(points)),
        *_legend(),
        "</svg>",
    ]
    return "\n".join(filter(None, parts)) + "\n"


def plain(svg: str) -> str:
    """The picture with its colours written out, for renderers that know no CSS variables."""
    svg = svg.replace(DARK, "")
    for name, colour in PLAIN.items():
        svg = svg.replace(f"var(--{name})", colour)
    return svg


class _Scale:
    """From entries and scores to places in the picture."""

    def __init__(self, points: Sequence[Point]) -> None:
        values = [v for p in points for v in (p.current, p.best, p.tried) if v is not None] or [0.0, 1.0]
        low, high = min(values), max(values)
        self.step = _round_step((high - low) / 4 or 0.05)
        self.low = max(0.0, math.floor(low / self.step) * self.step)
        self.high = math.ceil(high / self.step + 1e-9) * self.step
        self.high += self.step * (self.high <= self.low)
        self._count = max(1, len(points) - 1)

    def x(self, place: int) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * place / self._count, 1)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share, 1)

    def ticks(self) -> list[float]:
        return [self.low + self.step * n for n in range(round((self.high - self.low) / self.step) + 1)]


def _round_step(raw: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * (1 - 1e-9))


def _size(alone: bool) -> str:
    return f' width="{WIDTH}" height="{HEIGHT}"' if alone else ""


def _axes(points: Sequence[Point], scale: _Scale) -> Iterator[str]:
    right, floor = WIDTH - RIGHT, HEIGHT - BOTTOM
    for tick in scale.ticks():
        y = scale.y(tick)
        yield f'<line class="rule" x1="{LEFT}" x2="{right}" y1="{y}" y2="{y}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{tick:.{max(2, _digits(scale.step))}f}</text>'
    every = -(-len(points) // LABELS) or 1
    for place, point in enumerate(points):
        x = scale.x(place)
        if point.kind == "epoch":
            yield f'<line class="epoch" x1="{x}" x2="{x}" y1="{TOP}" y2="{floor}"/>'
        if place % every == 0:
            yield f'<text x="{x}" y="{floor + 20}" text-anchor="middle">{_short(point)}</text>'


def _digits(step: float) -> int:
    return max(0, -math.floor(math.log10(step)))


def _short(point: Point) -> str:
    letter = {"step": f"{point.step}", "epoch": f"E{point.epoch}", "baseline": f"R{point.run}"}
    return letter.get(point.kind, point.kind[:1].upper())


def _line(name: str, places: Sequence[tuple[float, float]]) -> str:
    """A staircase: a score stands until the next entry changes it."""
    if not places:
        return ""
    path = f"M{places[0][0]} {places[0][1]}" + "".join(f"H{x}V{y}" for x, y in places[1:])
    return f'<path class="{name}" d="{path}"/>'


def _mark(point: Point, x: float, scale: _Scale) -> str:
    """Shapes as well as colours: a dot for what was taken, a cross for a reject, a ring for no verdict."""
    if point.tried is None:
        return ""
    y = scale.y(min(max(point.tried, scale.low), scale.high))
    limit = "at most " if point.at_most else ""
    said = f"<title>{escape(point.name)}: {escape(point.action.replace('_', ' '))}, {limit}{point.tried:.4f}</title>"
    if point.action in TAKEN:
        shape = f'<circle class="good" cx="{x}" cy="{y}" r="5">{said}</circle>'
    elif point.action == "reject":
        shape = f'<path class="bad" d="M{x - 4} {y - 4}l8 8m0 -8l-8 8">{said}</path>'
    else:
        shape = f'<circle class="open" cx="{x}" cy="{y}" r="4">{said}</circle>'
    return shape


def _legend() -> Iterator[str]:
    y = 16
    yield f'<path class="current" d="M{LEFT} {y}h24"/><text x="{LEFT + 30}" y="{y + 4}">current</text>'
    yield f'<path class="best" d="M{LEFT + 96} {y}h24"/><text x="{LEFT + 126}" y="{y + 4}">best</text>'
    yield f'<circle class="good" cx="{LEFT + 184}" cy="{y}" r="5"/><text x="{LEFT + 194}" y="{y + 4}">accepted</text>'
    yield f'<path class="bad" d="M{LEFT + 272} {y - 4}l8 8m0 -8l-8 8"/><text x="{LEFT + 286}" y="{y + 4}">rejected</text>'
    yield f'<circle class="open" cx="{LEFT + 364}" cy="{y}" r="4"/><text x="{LEFT + 374}" y="{y + 4}">undecided</text>'
