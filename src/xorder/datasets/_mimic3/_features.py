"""The 714 features of a stay: 17 clinical variables, seven windows and six statistics of each.

Which items of MIMIC-III a variable is charted under, how they are read and what is plausible are facts of the benchmark
of Harutyunyan et al. (Scientific Data 6, 96, 2019; ``mimic3-benchmarks``, MIT), listed in ``mimic3.toml``: its map of
item ids, its unit conversions, the numbers it gives to charted words, and its ranges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from xorder._table import FloatArray, IntArray
from xorder.datasets._facts import read_facts


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable.

    Attributes
    ----------
    name : how its columns start in the cohort file
    unit : after conversion
    items : the item ids it is charted or measured under
    reading : how its text becomes a number; a name in :data:`xorder.datasets._mimic3._build.READINGS`
    outlier : values outside are taken for errors, where ranges are applied
    valid : values outside, but within ``outlier``, are moved to the nearer end, where ranges are applied
    words : the numbers of charted words, for variables that are charted in words
    by_text : of several values at one time the benchmark keeps the last by text, not by number
    """

    name: str
    unit: str
    items: tuple[int, ...]
    reading: str
    outlier: tuple[float, float]
    valid: tuple[float, float]
    words: Mapping[str, float] = field(default_factory=dict)
    by_text: bool = False


FACTS = read_facts("mimic3")

VARIABLES = tuple(Variable(name, **facts) for name, facts in FACTS["variables"].items())

WINDOWS: dict[str, tuple[int, int]] = FACTS["windows"]
"""Shares, in per cent, of the time between the first and the last reading of the variable in the stay's 48 hours."""

STATISTICS = ("min", "max", "mean", "std", "skew", "count")
FEATURES = tuple(f"{v.name}|{window}|{statistic}" for v in VARIABLES for window in WINDOWS for statistic in STATISTICS)


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
    for window, (begin, end) in enumerate(WINDOWS.values()):
        inside = (elapsed >= begin * duration) & (elapsed <= end * duration)
        counts = np.add.reduceat(inside, start, dtype=np.int64)
        for which, values in enumerate(_statistics(number[inside], counts)):
            features[row, column, window, which] = values
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
