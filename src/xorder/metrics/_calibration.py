r"""Calibration of scores that are probabilities: whether as many have the outcome as the scores say, in each group.

Observed to expected; the intercept of a logistic regression of the outcome on the log odds of the score, with slope 1;
the slope of one with both free; and a curve: the same regression on a restricted cubic spline of the log odds, whose
mean distance from the score is the integrated calibration index. Errors are those of the sandwich, which hold where
the regression does not, and which allow for sampling weights and clusters.

Where there are more than some thousand scores, neighbours are taken as one at their mean: that moves a coefficient by
far less than its error. A score of exactly 0 or 1, whose log odds are infinite, is taken as the nearest one inside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xorder._curves import quantiles
from xorder._metric import normal_quantile
from xorder._table import FloatArray, Tables, in_threads
from xorder.exceptions import InputError

if TYPE_CHECKING:
    from xorder.metrics._cuts import Cuts
    from xorder.metrics._units import Rows

# Scores of a group above which neighbours are taken as one, and how many are left then.
_MANY, _LEVELS = 16_384, 4_096

# Points of the curve.
_POINTS = 50

# Places of the knots of the curve as shares of the rows (Harrell 2015), where the rarer class has so many rows.
_KNOTS = ((100, (0.05, 0.275, 0.5, 0.725, 0.95)), (30, (0.1, 0.5, 0.9)))

# Steps of Newton's method, and how far its coefficients go before none is taken to be the best.
_MOST_STEPS, _FURTHEST = 100, 1e4


# What a row adds to some sums, by its score and class: one line per sum, one column per row.
Adds = Callable[[FloatArray, FloatArray], FloatArray]


class Sample(NamedTuple):
    """Masses of positives and negatives at scores, their squared weights, and the rows if they belong to clusters.

    Of rows in clusters there are the score, the class, the weight, and the number of the cluster.
    """

    score: FloatArray
    positive: FloatArray
    negative: FloatArray
    positive_spread: FloatArray
    negative_spread: FloatArray
    rows: tuple[NDArray[Any], ...] | None = None

    @classmethod
    def of(cls, by_cut: Cuts, groups: Sequence[Hashable], rows: Rows | None) -> Sample:
        """Take the rows of some groups together."""
        if not by_cut.levels:
            every = list(by_cut.tables)
            found = in_threads(int(by_cut.total), partial(_levels, by_cut), every)
            by_cut.levels |= dict(zip(every, found, strict=True))
        levels = [by_cut.levels[group] for group in groups]
        score, positive, negative, *spreads = map(np.concatenate, zip(*levels, strict=True))
        held = None
        if rows is not None:
            own = np.isin(rows.group, [list(by_cut.tables).index(group) for group in groups])
            unit = np.unique(rows.units[own], return_inverse=True)[1]
            weight = np.ones(unit.size) if rows.mass is None else rows.mass[own]
            held = rows.scores[0][own], rows.positive[own] * 1.0, weight, unit
        return cls(score, positive, negative, spreads[0], spreads[1], held)

    @property
    def mass(self) -> FloatArray:
        """Mass of both classes at each score."""
        return self.positive + self.negative

    def products(self, adds: Adds) -> FloatArray:
        """Products of what each row adds to some sums, or each cluster, added up: the covariance of the sums."""
        if self.rows is None:
            classes = ((self.positive_spread, np.ones), (self.negative_spread, np.zeros))
            of_rows = [(adds(self.score, label(self.score.size)), spread) for spread, label in classes]
            return np.asarray(sum((rows * spread) @ rows.T for rows, spread in of_rows))
        score, label, weight, unit = self.rows
        sums = np.stack([np.bincount(unit, line * weight) for line in adds(score, label)])
        return np.asarray(sums @ sums.T * sums.shape[1] / max(sums.shape[1] - 1, 1))


def _levels(by_cut: Cuts, group: Hashable) -> tuple[FloatArray, ...]:
    """Scores of a group with their masses and squared weights; where they are many, of levels of about equal mass."""
    table = by_cut.tables[group]
    if len(table) <= _MANY:
        return table.score, table.positive, table.negative, *table.spreads
    sums = by_cut.running(group)
    reached = sums[0] + sums[1]
    edges = np.unique(np.searchsorted(reached, np.linspace(0.0, reached[-1], _LEVELS + 1)))
    edges[0], edges[-1] = 0, len(table)
    masses = [np.diff(each[edges]) for each in sums]
    score = np.add.reduceat(table.score * table.mass, edges[:-1]) / (masses[0] + masses[1])
    return score, masses[0], masses[1], *masses[-2:]


class Estimated(NamedTuple):
    """A number with the ends of its confidence interval."""

    value: float
    low: float
    high: float


_UNKNOWN = Estimated(math.nan, math.nan, math.nan)


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """How the outcomes of some rows stand to their scores; made by :func:`calibrated`.

    ``observed`` and ``expected`` are shares of the rows, ``ratio`` is the one by the other. ``curve`` has a line each
    of scores, the share observed there, and the ends of its pointwise band.
    """

    observed: float
    expected: float
    ratio: Estimated = _UNKNOWN
    intercept: Estimated = _UNKNOWN
    slope: Estimated = _UNKNOWN
    ici: float = math.nan
    curve: FloatArray = field(default_factory=lambda: np.empty((4, 0)))


def check_probabilities(tables: Tables) -> tuple[float, float]:
    """Return the lowest and the highest score; refuse scores that are no probabilities."""
    ends = [table.score[[0, -1]] for table in tables.values() if len(table)]
    high, low = max(float(each[0]) for each in ends), min(float(each[1]) for each in ends)
    if low >= 0 and high <= 1:
        return low, high
    hint = " If they are in percent, divide them by 100." if low >= 0 and high <= 100 else ""
    raise InputError(
        f"calibration and net benefit need scores that are probabilities, between 0 and 1; these lie between {low:g} "
        f"and {high:g}.{hint}"
    )


def calibrated(sample: Sample, confidence: float) -> Calibration:
    """Say how outcomes stand to scores; what cannot be computed is nan."""
    times = normal_quantile(confidence)
    masses = (sample.mass, sample.positive, sample.mass * sample.score)
    total, positives, expected = (float(each.sum()) for each in masses)
    if not total > 0:
        return Calibration(math.nan, math.nan)
    shares = positives / total, expected / total
    inside = sample.score[(sample.score > 0) & (sample.score < 1)]
    if not 0 < positives < total or not inside.size:
        return Calibration(*shares)

    def odds(score: FloatArray) -> FloatArray:
        within = np.clip(score, inside.min(), inside.max())
        return np.log(within / (1 - within))

    ratio = positives / expected
    error = math.sqrt(float(sample.products(lambda score, y: (y / positives - score / expected)[None])[0, 0]))
    curve, ici = _curve(sample, odds, times)
    return Calibration(
        *shares,
        ratio=Estimated(ratio, ratio * math.exp(-times * error), ratio * math.exp(times * error)),
        intercept=_coefficient(_regression(sample, lambda s: np.ones((1, s.size)), odds), 0, times),
        slope=_coefficient(_regression(sample, lambda s: np.stack([np.ones(s.size), odds(s)])), 1, times),
        ici=ici,
        curve=curve,
    )


class _Regression(NamedTuple):
    """Coefficients of a logistic regression, with their covariance."""

    coefficients: FloatArray
    covariance: FloatArray


def _regression(
    sample: Sample, design: Callable[[FloatArray], FloatArray], offset: Callable[[FloatArray], FloatArray] | None = None
) -> _Regression | None:
    """Fit a logistic regression by Newton's method; None where the outcomes have no finite best fit."""
    x, mass = design(sample.score), sample.mass
    base = np.zeros(x.shape[1]) if offset is None else offset(sample.score)
    found: FloatArray = np.zeros(x.shape[0])
    step, loss = found, math.inf
    for _ in range(_MOST_STEPS):
        linear = base + found @ x
        # The negative log-likelihood, without a logarithm of 0.
        small = np.exp(-np.abs(linear))
        reached = float(mass @ (np.maximum(linear, 0.0) + np.log1p(small)) - sample.positive @ linear)
        chance = np.where(linear > 0, 1.0, small) / (1 + small)
        if reached > loss + 1e-9 * abs(loss):
            step = step / 2
            found = found - step
            continue
        information = (x * (mass * chance * (1 - chance))) @ x.T
        if not np.linalg.cond(information) < 1e14 or np.abs(found).max() > _FURTHEST:
            return None
        step = np.asarray(np.linalg.solve(information, x @ (sample.positive - mass * chance)), dtype=np.float64)
        if np.abs(step).max() < 1e-10 * (1 + np.abs(found).max()):
            break
        loss, found = reached, found + step
    else:
        return None

    def adds(score: FloatArray, label: FloatArray) -> FloatArray:
        own = design(score)
        return np.asarray(own * (label - _expit(found @ own + (0.0 if offset is None else offset(score)))))

    bread = np.linalg.inv(information)
    return _Regression(found, bread @ sample.products(adds) @ bread)


def _coefficient(found: _Regression | None, number: int, times: float) -> Estimated:
    if found is None:
        return _UNKNOWN
    value, error = float(found.coefficients[number]), math.sqrt(max(float(found.covariance[number, number]), 0.0))
    return Estimated(value, value - times * error, value + times * error)


def _curve(sample: Sample, odds: Callable[[FloatArray], FloatArray], times: float) -> tuple[FloatArray, float]:
    """Return the curve with its band, and the mean distance between it and the scores."""
    rarer = min(float(sample.positive.sum()), float(sample.negative.sum()))
    places = [each for least, each in _KNOTS if rarer >= least]
    choices = [np.unique(odds(np.array(quantiles(sample.score, sample.mass, each)))) for each in places]
    for knots in (*(each for each in choices if each.size > 2), np.empty(0)):

        def design(score: FloatArray, knots: FloatArray = knots) -> FloatArray:
            return _spline(odds(score), knots)

        found = _regression(sample, design)
        if found is not None:
            break
    else:
        return np.empty((4, 0)), math.nan
    score = np.unique(quantiles(sample.score, sample.mass, np.linspace(0.01, 0.99, _POINTS).tolist()))
    x = design(score)
    linear = found.coefficients @ x
    half = times * np.sqrt(np.maximum(np.einsum("ij,ik,kj->j", x, found.covariance, x), 0.0))
    curve = np.stack([score, *(_expit(linear + side) for side in (0.0, -half, half))])
    distance = np.abs(_expit(found.coefficients @ design(sample.score)) - sample.score)
    return curve, float(distance @ sample.mass / sample.mass.sum())


def _spline(x: FloatArray, knots: FloatArray) -> FloatArray:
    """Basis of cubic splines that are straight lines beyond the outer knots; without knots, of a straight line."""
    lines = [np.ones_like(x), x]
    if knots.size > 2:
        last, before = knots[-1], knots[-2]

        def cube(knot: float) -> FloatArray:
            return np.maximum(x - knot, 0.0) ** 3

        scale = (last - knots[0]) ** 2
        for knot in knots[:-2]:
            bent = (cube(before) * (last - knot) - cube(last) * (before - knot)) / (last - before)
            lines.append((cube(knot) - bent) / scale)
    return np.stack(lines)


def _expit(x: FloatArray) -> FloatArray:
    # Through tanh, which never overflows.
    return 0.5 * (1 + np.tanh(0.5 * x))
