"""Small charts as SVG: axes whose ticks can be read, lines, areas and marks.

All looks are classes of the page's style, so that no element has a style of its own; all text is escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import NamedTuple

Point = Sequence[float]

# Where a chart has its axes, in units of its drawing: room for numbers at the left and below, and half a number else.
_LEFT, _TOP, _RIGHT, _BELOW = 46, 10, 12, 38

# From this size on, and below its inverse, numbers are written with a power of ten.
_LARGE = 1e5


class Axis(NamedTuple):
    """Range of an axis, and what is written beside it."""

    low: float
    high: float
    title: str = ""

    def part(self, value: float) -> float:
        """Return how far along the axis a value is, from 0 to 1."""
        # Halves, as the difference of two very large numbers may be more than a number can hold.
        return (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)


def padded(values: Iterable[float], least: float, title: str) -> Axis:
    """Return an axis with some room around values, which is never shorter than ``least``."""
    values = list(values)
    low, high = min(values), max(values)
    room = max(0.06 * (high - low), (least - (high - low)) / 2)
    return Axis(low - room, high + room, title)


def ticks(low: float, high: float, most: int = 6) -> list[tuple[float, str]]:
    """Return at most so many round numbers between two ends, and how they are written: no two alike.

    >>> [text for _, text in ticks(0.8012, 0.8049)], [text for _, text in ticks(-3, 26)]
    (['0.802', '0.803', '0.804'], ['0', '5', '10', '15', '20', '25'])
    >>> [text for _, text in ticks(-1, 3e7)], [text for _, text in ticks(0, 4e-9)]
    (['0', '1e7', '2e7', '3e7'], ['0', '1e−9', '2e−9', '3e−9', '4e−9'])
    """
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return []
    power = math.floor(math.log10(span / most))
    choices = (base * 10.0 ** (power + more) for more in (0, 1) for base in (1, 2, 5))
    step = next(step for step in choices if span / step < most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(number * step, _written(number, step, max(abs(low), abs(high)))) for number in range(first, last + 1)]


def _written(number: int, step: float, largest: float) -> str:
    """Write a multiple of a step with as many digits as the step has."""
    power = math.floor(math.log10(step) + 1e-9)
    if number == 0:
        return "0"
    if largest >= _LARGE or step < 1 / _LARGE:
        digits = max(math.floor(math.log10(abs(number * step)) + 1e-9) - power, 0)
        base, _, exponent = f"{number * step:.{digits}e}".partition("e")
        return f"{base}e{int(exponent)}".replace("-", "−")
    return f"{number * step:.{max(-power, 0)}f}".replace("-", "−")


def text_of(value: float) -> str:
    """Write a coordinate with one digit.

    >>> text_of(12.0), text_of(-0.04)
    ('12', '0')
    """
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


@dataclass(slots=True)
class Chart:
    """A chart: two axes, and what is drawn between them, the first at the bottom."""

    x: Axis
    y: Axis
    width: int = 340
    height: int = 215
    parts: list[str] = field(default_factory=list)

    def across(self, value: float) -> float:
        """Return the coordinate of a value of the x axis."""
        return _LEFT + self.x.part(value) * (self.width - _LEFT - _RIGHT)

    def down(self, value: float) -> float:
        """Return the coordinate of a value of the y axis."""
        return _TOP + (1 - self.y.part(value)) * (self.height - _TOP - _BELOW)

    def line(self, points: Iterable[Point], look: str, *, stairs: bool = False) -> None:
        """Draw a line through points, or in stairs: as high as each point until the next."""
        self.parts.append(f'<path class="{look}" d="{self._path(points, stairs)}"/>')

    def mark(self, at: Point, look: str, shape: str, said: str) -> None:
        """Draw a mark, and say what it is."""
        shapes = {
            "dot": '<circle r="3"',
            "disc": '<circle r="6"',
            "diamond": '<path d="M0-7 7 0 0 7-7 0Z"',
            "square": '<path d="M-5-5H5V5H-5Z"',
        }
        where = f"translate({text_of(self.across(at[0]))} {text_of(self.down(at[1]))})"
        self.parts.append(f'{shapes[shape]} class="{look}" transform="{where}"><title>{escape(said)}</title>')
        self.parts.append("</circle>" if shape in ("dot", "disc") else "</path>")

    def upright(self, value: float, look: str) -> None:
        """Draw a line over the whole height."""
        x = text_of(self.across(value))
        self.parts.append(f'<path class="{look}" d="M{x} {_TOP}V{self.height - _BELOW}"/>')

    def places(self, said: Sequence[tuple[float, str]], look: str) -> None:
        """Lay strips over the chart, each of which says what there is to read at its value of the x axis."""
        at = [self.across(value) for value, _ in said]
        ends = [_LEFT, *((one + two) / 2 for one, two in pairwise(at)), self.width - _RIGHT]
        for (left, right), (_, text) in zip(pairwise(ends), said, strict=True):
            self.parts.append(
                f'<rect class="{look}" x="{text_of(left)}" y="{_TOP}" width="{text_of(right - left)}" '
                f'height="{self.height - _TOP - _BELOW}"><title>{escape(text)}</title></rect>'
            )

    def begin(self, look: str) -> None:
        """Begin a group of marks."""
        self.parts.append(f'<g class="{look}">')

    def end(self) -> None:
        """End a group of marks."""
        self.parts.append("</g>")

    def svg(self, label: str) -> str:
        """Return the chart, with what it shows in words."""
        return (
            f'<svg class="drawn" viewBox="0 0 {self.width} {self.height}" role="img" tabindex="0" '
            f'aria-label="{escape(label)}">{"".join(self._axes())}{"".join(self.parts)}</svg>'
        )

    def _axes(self) -> Iterator[str]:
        right, bottom = self.width - _RIGHT, self.height - _BELOW
        for value, text in ticks(self.y.low, self.y.high):
            y = text_of(self.down(value))
            yield f'<path class="grid" d="M{_LEFT} {y}H{right}"/>'
            yield f'<text class="tick" x="{_LEFT - 6}" y="{y}" dy=".35em" text-anchor="end">{text}</text>'
        for value, text in ticks(self.x.low, self.x.high):
            x = text_of(self.across(value))
            yield f'<path class="grid" d="M{x} {bottom}v4"/>'
            yield f'<text class="tick" x="{x}" y="{bottom + 16}" text-anchor="middle">{text}</text>'
        yield f'<path class="grid" d="M{_LEFT} {bottom}H{right}"/>'
        if self.x.title:
            yield (
                f'<text class="name" x="{right}" y="{self.height - 5}" text-anchor="end">{escape(self.x.title)}</text>'
            )

    def _path(self, points: Iterable[Point], stairs: bool) -> str:
        """Write the way through points; stretches that no eye would see are left out."""
        written: list[str] = []
        for x, y in points:
            here = text_of(self.across(x)), text_of(self.down(y))
            if stairs and written:
                written.append(f"H{here[0]}V{here[1]}")
            elif not written or written[-1] != " ".join(here):
                written.append(" ".join(here))
        return "M" + ("".join(written) if stairs else "L".join(written))


def bar(ends: Sequence[float], look: str, name: str = "") -> str:
    """Draw a bar that begins, and is as long, as so many hundredths of its room; one with a name the script changes.

    >>> bar([0, 25], "g0")
    '<svg class="bar" aria-hidden="true"><rect class="g0" x="0%" width="25%" height="100%"/></svg>'
    """
    start, length = map(text_of, ends)
    named = f' data-bar="{name}"' if name else ""
    drawn = f'<rect class="{look}" x="{start}%" width="{length}%" height="100%"{named}/>'
    return f'<svg class="bar" aria-hidden="true">{drawn}</svg>'


def strip(low: float, high: float, value: float, reach: float) -> str:
    """Draw an interval and its middle around 0, with as much room as ``reach`` on either side."""
    left, right, middle = (text_of(50 + 48 * end / reach) for end in (low, high, value))
    return (
        '<svg class="ci" aria-hidden="true"><line class="zero" x1="50%" x2="50%" y1="0" y2="100%"/>'
        f'<line class="range" x1="{left}%" x2="{right}%" y1="50%" y2="50%"/>'
        f'<circle class="dot" cx="{middle}%" cy="50%" r="5"/></svg>'
    )
