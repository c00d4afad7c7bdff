"""Score maps of all kinds, drawn; and scores that lie densely around the knots of one."""

import math
from collections.abc import Callable, Sequence
from random import Random

import numpy as np
from hypothesis import strategies as st

from support.drawn import drawn_by, extreme
from xorder import ScoreMap


def in_range(r: Random) -> float:
    """Draw any number that may be a knot."""
    number = extreme(r)
    return number if abs(number) <= 1e290 else math.ldexp(number, -70)


KINDS: tuple[Callable[[Random], float], ...] = (
    in_range,
    lambda r: r.uniform(-1e6, 1e6),
    lambda r: r.randint(0, 40) * 5e-324,
    lambda r: r.random(),
)


def draw_knots(r: Random, size: int, kinds: Sequence[Callable[[Random], float]] = KINDS) -> list[float]:
    """Draw that many numbers of one kind, rising strictly."""
    draw = r.choice(kinds)
    found = {draw(r) for _ in range(size)}
    while len(found) < size:
        found.add(draw(r))
    return sorted(found)


def draw_map(r: Random) -> ScoreMap:
    """Draw a map of up to eight knots."""
    size = r.randint(1, 8)
    return ScoreMap(draw_knots(r, size), draw_knots(r, size))


def maps() -> st.SearchStrategy[ScoreMap]:
    """Return :func:`draw_map` for hypothesis."""
    return drawn_by(draw_map)


def dense(score_map):
    """Knots, their neighbours among the representable numbers, and what lies between and around them."""
    raw = score_map.raw
    between = raw[:-1, None] / 2 + raw[1:, None] / 2
    shares = np.linspace(0, 1, 23)
    inner = raw[:-1, None] * (1 - shares) + raw[1:, None] * shares
    with np.errstate(over="ignore"):
        points = [raw, np.nextafter(raw, np.inf), np.nextafter(raw, -np.inf), between.ravel(), inner.ravel()]
    outside = [raw[0] - np.array([1e-9, 1.0, 1e3]), raw[-1] + np.array([1e-9, 1.0, 1e3])]
    x = np.sort(np.concatenate([*points, *outside]))
    return x[np.isfinite(x)]
