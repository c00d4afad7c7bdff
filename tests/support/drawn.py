"""What draws are made of: each is a plain function of a ``random.Random``.

Property tests hand it one whose choices hypothesis makes, and makes smaller where a test fails; ``tools/fuzz.py`` hands
it one with a seed, which is some thirty times as fast. So both draw the same tables, rows, maps and files.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from random import Random
from typing import TypeVar

from hypothesis import strategies as st

Drawn = TypeVar("Drawn")


def drawn_by(draw: Callable[[Random], Drawn]) -> st.SearchStrategy[Drawn]:
    """Return what hypothesis draws by a function of a random source."""
    return st.randoms(use_true_random=False).map(draw)


LARGEST = 1.7976931348623157e308
EDGES = (
    *(0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, -1e-300, 1e-16, 0.5, 1.0, -1.0, 1 + 2**-52, 1e16),
    *(2.0**53, 1e150, -1e150, 1e300, 1e308, -1e308, LARGEST, -LARGEST),
)
"""Numbers at which arithmetic of floating point changes its ways."""


def ordinary(r: Random) -> float:
    """Draw a number as scores have them: of few digits, or many, between 0 and 1 or on a scale of points."""
    kind = r.randrange(4)
    if kind == 0:
        return r.randint(0, 8) / 8
    if kind == 1:
        return r.randint(0, 1000) / 1000
    if kind == 2:
        return r.random()
    return float(r.randint(-50, 500))


def extreme(r: Random) -> float:
    """Draw any finite number: the edges of floating point, all magnitudes, or any bits."""
    kind = r.randrange(4)
    if kind == 0:
        return r.choice(EDGES)
    if kind == 1:
        return math.ldexp(r.choice((-1.0, 1.0)) * (1 + r.randint(0, 2**20) / 2**20), r.randint(-1074, 1022))
    if kind == 2:
        bits = struct.pack("<II", r.randrange(1 << 32), r.randrange(1 << 32))
        (number,) = struct.unpack("<d", bits)
        return number if math.isfinite(number) else 0.25
    return math.nextafter(r.choice(EDGES[:-2]), r.choice((-1.0, 1.0)) * LARGEST)
