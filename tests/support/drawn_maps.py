"""Score maps of all kinds, drawn; and scores that lie densely around the knots of one."""

import numpy as np
from hypothesis import strategies as st

from xorder import ScoreMap

finite = st.floats(-1e290, 1e290)
moderate = st.floats(-1e6, 1e6)
tiny = st.integers(0, 40).map(lambda steps: steps * 5e-324)
unit = st.floats(0, 1)


@st.composite
def knots(draw, values=finite):
    size = draw(st.integers(1, 8))
    return sorted(draw(st.lists(values, min_size=size, max_size=size, unique=True)))


@st.composite
def maps(draw):
    raw = draw(knots(draw(st.sampled_from([finite, moderate, tiny, unit]))))
    values = draw(st.sampled_from([finite, moderate, tiny, unit]))
    adjusted = draw(st.lists(values, min_size=len(raw), max_size=len(raw), unique=True))
    return ScoreMap(raw, sorted(adjusted))


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
