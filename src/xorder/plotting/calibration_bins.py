"""Observed shares of positives in bins of a group's scores."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from xorder._table import FloatArray, ScoreTable

Strategy = Literal["quantile", "uniform"]

# Bins there are, if people suffice for so many in each.
_BINS, _PEOPLE = 10, 15


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationBins:
    """Bins of a group's scores: mean score, observed share of positives with its interval, and number of people."""

    mean: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    count: FloatArray


def calibration_bins(
    table: ScoreTable,
    *,
    bins: int | None = None,
    strategy: Strategy = "quantile",
    confidence: float = 0.95,
) -> CalibrationBins:
    """Sum up a group's scores in bins of about equal numbers of people, or of equal width; empty bins are left out.

    Without ``bins`` there are ten, or as many as leave about 15 people in each. People of one score are never parted.
    The interval is Wilson's, of as many people as the weights are worth (Kish).

    >>> table = ScoreTable.from_arrays([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8])
    >>> found = calibration_bins(table, bins=2)
    >>> found.mean, found.observed, found.low.round(2), found.count
    (array([0.2, 0.7]), array([0.5, 0.5]), array([0.09, 0.09]), array([2., 2.]))
    """
    score, mass = table.score[::-1], table.mass[::-1]
    everyone = float(mass.sum())
    if bins is None:
        bins = int(np.clip(everyone // _PEOPLE, 1, _BINS))
    if strategy == "uniform":
        place = np.minimum((score * bins).astype(np.int64), bins - 1)
    else:
        # The middle of those who share a score decides which bin they are in.
        place = np.minimum(((np.cumsum(mass) - mass / 2) / everyone * bins).astype(np.int64), bins - 1)
    count = np.bincount(place, mass).astype(np.float64)
    used = count > 0
    count = count[used]
    mean = np.bincount(place, mass * score)[used] / count
    observed = np.bincount(place, table.positive[::-1])[used] / count
    worth = count**2 / np.bincount(place, np.add(*table.spreads)[::-1])[used]
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    middle = (observed + z**2 / (2 * worth)) / (1 + z**2 / worth)
    half = z / (1 + z**2 / worth) * np.sqrt(observed * (1 - observed) / worth + z**2 / (4 * worth**2))
    return CalibrationBins(mean, observed, np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0), count)
