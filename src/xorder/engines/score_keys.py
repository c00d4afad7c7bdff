"""Scores as whole numbers that sort alike, so that bins are exact and the same in every engine.

The key of a score is the bit pattern of its float64, with the bits of negative numbers turned over: an int64 that is
larger where the score is. Its upper 20 bits, the cell, are the sign, the exponent and 8 bits of the fraction, so that a
cell is at most 1/256 as wide as its scores are large, whatever their scale.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xorder._table import FloatArray, IntArray

CELL_BITS = 44
"""Lower bits of a key, those within a cell."""

CELLS = 1 << 20
"""How many cells there are."""

FIRST_CELL = -(CELLS >> 1)
"""The lowest cell."""

_MAGNITUDE = np.int64((1 << 63) - 1)


def keys_of(score: NDArray[Any]) -> IntArray:
    """Return the keys of scores, float32 or float64.

    >>> keys_of(np.array([-1.0, -0.0, 0.0, 5e-324])).tolist()
    [-4607182418800017409, 0, 0, 1]
    """
    # Adding 0 makes a copy that is float64, and 0 of -0.
    value: FloatArray = np.add(score, 0.0, dtype=np.float64)
    bits: IntArray = value.view(np.int64)
    if value.size and value.min() >= 0:
        return bits
    return bits ^ ((bits >> 63) & _MAGNITUDE)


def scores_of(keys: IntArray) -> FloatArray:
    """Return the scores that keys stand for.

    >>> scores_of(keys_of(np.array([-2.5, 0.1]))).tolist()
    [-2.5, 0.1]
    """
    return (keys ^ ((keys >> 63) & _MAGNITUDE)).view(np.float64)
