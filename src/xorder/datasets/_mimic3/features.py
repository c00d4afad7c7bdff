"""Seven windows and six statistics of each variable: 17 x 7 x 6 = 714 features of a stay."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from xorder.datasets._mimic3.variables import VARIABLES

WINDOWS = {
    **{"all": (0, 100), "first 10%": (0, 10), "first 25%": (0, 25), "first 50%": (0, 50)},
    **{"last 10%": (90, 100), "last 25%": (75, 100), "last 50%": (50, 100)},
}
"""Shares, in per cent, of the time between the first and the last reading of the variable in the stay's 48 hours."""

STATISTICS = ("min", "max", "mean", "std", "skew", "count")
FEATURES = tuple(f"{v.name}|{window}|{statistic}" for v in VARIABLES for window in WINDOWS for statistic in STATISTICS)

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


def window_features(
    stays: int, stay: IntArray, variable: IntArray, second: IntArray, number: FloatArray
) -> NDArray[np.float32]:
    """Return the features of stays 0, 1, ..., one row each, from readings sorted by stay, variable and time.

    A variable that was never read has NaN in all its features, the count too, as in the benchmark. Readings at the
    very ends of a window belong to it. The deviation divides by n; the skewness is the third central moment over the
    second to the power 3/2, and 0 where all readings are equal.
    """
    features = np.full((stays, len(VARIABLES), len(WINDOWS), len(STATISTICS)), np.nan, dtype=np.float32)
    if len(number) == 0:
        return features.reshape(stays, len(FEATURES))
    series = np.concatenate([[True], (np.diff(stay) != 0) | (np.diff(variable) != 0)])
    start = np.flatnonzero(series)
    size = np.diff(np.append(start, len(number)))
    row, column = stay[start], variable[start]
    # Whole seconds and whole per cent: no reading falls on the wrong side of an end by rounding.
    elapsed = 100 * (second - np.repeat(second[start], size))
    duration = np.repeat(second[start + size - 1] - second[start], size)
    for place, (begin, end) in enumerate(WINDOWS.values()):
        inside = (elapsed >= begin * duration) & (elapsed <= end * duration)
        counts = np.add.reduceat(inside, start, dtype=np.int64)
        for which, values in enumerate(_statistics(number[inside], counts)):
            features[row, column, place, which] = values
    return features.reshape(stays, len(FEATURES))


def _statistics(number: FloatArray, counts: IntArray) -> Iterator[FloatArray]:
    """Yield the statistics of consecutive pieces of ``number``, none of them empty."""
    start = np.cumsum(counts) - counts
    mean = np.add.reduceat(number, start) / counts
    deviation = number - np.repeat(mean, counts)
    second = np.add.reduceat(deviation**2, start) / counts
    third = np.add.reduceat(deviation**3, start) / counts
    # Equal readings may leave a deviation of rounding errors only.
    flat = second <= (np.finfo(np.float64).resolution * mean) ** 2
    yield np.minimum.reduceat(number, start)
    yield np.maximum.reduceat(number, start)
    yield mean
    yield np.sqrt(second)
    yield np.where(flat, 0.0, third / np.where(flat, 1.0, second) ** 1.5)
    yield counts.astype(np.float64)
