"""How numbers, groups and gaps are written: one function each, for texts, notebooks, pages and pictures."""

from __future__ import annotations

import itertools
import math
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import fields
from typing import Any

from xorder._metric import METRICS

UNKNOWN = "not known"

# Characters that turn the direction of the text around them.
_TURNING = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}


def known(value: float | None) -> float | None:
    """Return a number as JSON can hold it: None where it is not known."""
    return None if value is None or not math.isfinite(value) else float(value)


def number(value: float | None, digits: int = 4, *, sign: str = "") -> str:
    """Write a number with fixed digits, and nothing below 0 that rounds to 0.

    >>> number(0.80312), number(-1e-9), number(None), number(float("nan"))
    ('0.8031', '0.0000', 'not known', 'not known')
    """
    return UNKNOWN if known(value) is None else f"{round(float(value or 0), digits) + 0.0:{sign}.{digits}f}"


def signed(value: float | None, digits: int = 4) -> str:
    """Write a number with its sign.

    >>> signed(0.25447), signed(-0.1), signed(-1e-9)
    ('+0.2545', '-0.1000', '+0.0000')
    """
    return number(value, digits, sign="+")


def interval_text(ends: Iterable[float | None], digits: int = 4, *, sign: str = "+") -> str:
    """Write an interval, its ends with their signs, or without a plus where ``sign`` is empty.

    >>> interval_text([-0.12, 0.3]), interval_text([None, None]), interval_text([0.7, 0.9], 2, sign="")
    ('-0.1200 to +0.3000', 'not known', '0.70 to 0.90')
    """
    low, high = (number(end, digits, sign=sign) for end in ends)
    return UNKNOWN if UNKNOWN in (low, high) else f"{low} to {high}"


def percent(value: float | None, digits: int = 1) -> str:
    """Write a share in percent.

    >>> percent(0.2544), percent(None)
    ('25.4 %', 'not known')
    """
    return UNKNOWN if known(value) is None else f"{number(100 * (value or 0), digits)} %"


def short_repr(record: Any) -> str:
    """Write a dataclass as Python does, with four digits of its numbers."""

    def written(value: Any) -> str:
        if isinstance(value, tuple):
            return f"({', '.join(map(written, value))})"
        return f"{value:.4g}" if isinstance(value, float) else repr(value)

    shown = (f"{each.name}={written(getattr(record, each.name))}" for each in fields(record) if each.repr)
    return f"{type(record).__name__}({', '.join(shown)})"


def level(confidence: float) -> str:
    """Write a confidence: 95 %."""
    return f"{100 * confidence:.4g} %"


def pvalue_text(value: float | None) -> str:
    """Write a p-value, or that it is smaller than four digits show."""
    return "< 0.0001" if known(value) is not None and (value or 0) < 0.0001 else number(value)


def count(value: float | None) -> str:
    """Write a count, or a sum of weights: whole, or with as many digits as can matter.

    >>> count(6499325.0), count(12.5), count(155.4338251), count(20345.678), count(0.012345), count(None)
    ('6,499,325', '12.5', '155.4', '20,346', '0.0123', 'not known')
    """
    if value is None or not math.isfinite(value):
        return UNKNOWN
    # Sums of many weights miss a whole number by what rounding leaves.
    whole = round(value)
    if abs(value) >= 1000 or abs(value - whole) <= 1e-9 * abs(value):
        return f"{whole:,}" if abs(value) < 1e15 else f"{value:.4g}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def one_line(text: object) -> str:
    """Return text without line breaks, control characters, or characters that turn the direction of what follows."""
    plain = [each for each in " ".join(str(text).split()) if ord(each) not in _TURNING]
    return "".join(each for each in plain if unicodedata.category(each) not in ("Cc", "Cs")).strip()


def shortened(text: object, longest: int = 28, head: float = 1.0) -> str:
    """Return text on one line and, where it is longer than there is room for, without what does not fit.

    ``head`` is the share of the room for the beginning; the rest is for the end.

    >>> shortened("a" * 100, longest=5), shortened("two\\nlines"), shortened("from here to there", 11, 1 / 2)
    ('aaaa…', 'two lines', 'from…there')
    """
    line = one_line(text)
    if _width(line) <= longest:
        return line
    first = _fitting(line, int((longest - 1) * head))
    last = _fitting(line[::-1], longest - 1 - _width(first))[::-1] if head < 1 else ""
    return f"{first.rstrip()}…{last.lstrip()}"


def group_names(groups: Iterable[Hashable], longest: int = 28) -> list[str]:
    """Return a name for each group: one line, short, and no two alike.

    >>> group_names(["B", 1, "1", ""])
    ['B', '1 (1)', '1 (2)', '(empty)']
    """
    whole = [one_line(group) or "(empty)" for group in groups]
    # A name is cut at its end; where that makes some alike, their ends may tell them apart.
    for head in (1, 2 / 3, 1 / 2, 1 / 3):
        names = [shortened(name, longest, head) for name in whole]
        if len({*names}) == len(names):
            return names
    times, taken = Counter(names), {*names}
    for position, name in enumerate(names):
        if times[name] > 1:
            names[position] = next(new for n in itertools.count(1) if (new := f"{name} ({n})") not in taken)
            taken.add(names[position])
    return names


def wrapped(text: str, width: int, indent: str = "") -> str:
    """Break a text into lines that are no wider than this."""
    return textwrap.fill(text, max(width, 20), initial_indent=indent, subsequent_indent=indent)


def laid_out(rows: Sequence[Sequence[str]], looks: Sequence[str], width: int, long: int = 0) -> list[str]:
    """Lay out rows in columns, the first row being the heads; each column has a side and a least width, as in ``"<5"``.

    Where that is wider than there is room for, one column, that of names, has a line of its own above the others of its
    row, and no line of its own where it is as in the row before.

    >>> laid_out([["name", "n"], ["someone", "12"]], ("<4", ">3"), 80)
    ['name       n', 'someone   12']
    >>> laid_out([["name", "n"], ["someone", "12"]], ("<4", ">3"), 10)
    ['name', '    n', 'someone', '   12']
    """
    columns = zip(looks, zip(*rows, strict=True), strict=True)
    widths = [max(int(look[1:]), *map(_width, column)) for look, column in columns]

    def line(row: Sequence[str], columns: Sequence[int], between: str = "  ") -> str:
        cells = []
        for column in columns:
            room = widths[column] - _width(row[column])
            left = {"<": 0, ">": room, "^": room // 2}[looks[column][0]]
            cells.append(" " * left + row[column] + " " * (room - left))
        return between.join(cells).rstrip()

    everything = range(len(looks))
    if sum(widths) + 2 * (len(widths) - 1) <= width:
        return [line(row, everything) for row in rows]
    others = [column for column in everything if column != long]
    between = "  " if sum(widths[column] + 2 for column in others) <= width else " "
    found: list[str] = []
    for place, row in enumerate(rows):
        if not place or row[long] != rows[place - 1][long]:
            found += textwrap.wrap(row[long], max(width, 20), subsequent_indent="  ")
        found.append(f"  {line(row, others, between)}")
    return found


def gap_title(metric: str) -> str:
    """Return what people read for a metric, or for the name of pair gains that a user made."""
    return METRICS[metric].title if metric in METRICS else f"{metric} gap"


def _width(text: str) -> int:
    """Room that a line takes: characters of some scripts, and pictures, are as wide as two letters."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def _fitting(text: str, room: int) -> str:
    """Beginning of a text that fits."""
    end = 0
    while end < len(text) and (room := room - _width(text[end])) >= 0:
        end += 1
    return text[:end]
