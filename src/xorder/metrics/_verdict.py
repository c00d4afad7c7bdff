"""When a gap is clear and when rows are too few to say: one rule each, for text, notebooks, pages and repairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xorder._table import FloatArray, ScoreTable

FEW = 10
"""With fewer positives, or fewer negatives, a group has too few rows to say anything of it."""


def is_too_few(table: ScoreTable) -> bool:
    """Whether a group has fewer than :data:`FEW` positives or negatives.

    Weighted rows count as many as would tell as much: the square of their sum over the sum of their squares.
    """
    masses = zip((table.n1, table.n0), table.spreads, strict=True)
    return any(mass**2 < FEW * float(spread.sum()) or not mass > 0 for mass, spread in masses)


def holm(pvalues: Sequence[float]) -> FloatArray:
    """p-values adjusted for how many there are, by Holm's rule; those that are ``nan`` stay so and do not count.

    References
    ----------
    .. [1] Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6,
       65-70.
    """
    adjusted = np.array(pvalues, dtype=np.float64)
    known = np.flatnonzero(np.isfinite(adjusted))
    rising = known[np.argsort(adjusted[known], kind="stable")]
    times = np.arange(rising.size, 0, -1)
    adjusted[rising] = np.minimum(np.maximum.accumulate(adjusted[rising] * times), 1.0)
    return adjusted
