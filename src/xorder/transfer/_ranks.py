"""Ranks in a batch: the original code's way to carry an ordering over, kept for comparison."""

from __future__ import annotations

from typing import Any

import numpy as np

from xorder._table import FloatArray


def middle_ranks(scores: Any, mass: Any = None) -> FloatArray:
    """Rank of each score among all given, from 0 to 1 and rising with the score; ties share the middle.

    >>> middle_ranks([0.2, 0.9, 0.2, 0.4])
    array([0.25 , 0.875, 0.25 , 0.625])
    """
    values, inverse = np.unique(np.asarray(scores, dtype=np.float64), return_inverse=True)
    total = np.bincount(inverse, weights=mass, minlength=values.size)
    return np.asarray(((np.cumsum(total) - total / 2) / total.sum())[inverse])
