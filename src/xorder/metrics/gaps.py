r"""Gaps between two groups, with standard errors from the variance of placements (DeLong's way).

A gap is a difference of averages over pairs of rows: a two-sample U-statistic. Its variance is that of its
first-order projection, to which each row adds its own placements. With :math:`V` the placement of a positive
of a in the negatives of b, and so on,

.. math:: \operatorname{Var}\,\widehat{xAUC}(a, b) =
          \frac{\operatorname{Var} V_{a^+ \to b^-}}{n_1^a} + \frac{\operatorname{Var} V_{b^- \to a^+}}{n_0^b}.

Terms that share rows are combined row by row before squaring, so every covariance between them is included:
the negatives that both sides of a PRF gap are compared with are one sample, pooled over all groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from xorder._table import FloatArray
from xorder.metrics.moments import Moments, Placements

Estimate = tuple[float, float]
"""A value and its standard error."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A signed gap: the metric for the first group of the pair minus that for the second.

    ``pvalue`` is that of the hypothesis "no gap" (two-sided, normal). Where the sample cannot tell the
    uncertainty (a class of one row, or placements that do not vary at all) the last three are ``nan``.
    """

    metric: str
    pair: tuple[Hashable, Hashable]
    value: float
    stderr: float
    interval: tuple[float, float]
    pvalue: float

    @classmethod
    def from_estimate(cls, metric: str, pair: tuple[Hashable, Hashable], estimate: Estimate, confidence: float) -> Gap:
        """Put a normal interval and a p-value around an estimate."""
        value, stderr = estimate
        pvalue = math.erfc(abs(value) / stderr / math.sqrt(2)) if stderr > 0 else np.nan
        return cls(metric, pair, value, stderr, interval(estimate, confidence), pvalue)

    def reversed(self) -> Gap:
        """Return the same gap seen from the other group."""
        low, high = self.interval
        return replace(self, pair=self.pair[::-1], value=-self.value, interval=(-high, -low))

    def to_dict(self) -> dict[str, Any]:
        """Return the gap as a dict ready for JSON; ``nan`` becomes ``None``."""
        record = asdict(self)
        for name in ("value", "stderr", "pvalue"):
            record[name] = _json_number(record[name])
        return record | {
            "pair": [json_label(group) for group in self.pair],
            "interval": [_json_number(end) for end in self.interval],
        }


def interval(estimate: Estimate, confidence: float) -> tuple[float, float]:
    """Return the normal confidence interval of an estimate."""
    value, stderr = estimate
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * stderr
    return value - half, value + half


def auc(m: Moments) -> Estimate:
    """AUC of all rows together; positives and negatives are each one sample, pooled over the groups."""
    of_positives, of_negatives = _shares(m.positives), _shares(m.negatives)
    value = float(_weighted(prf(m), of_positives))
    return value, _stderr((m.all_positive, of_negatives, value), (m.all_negative, of_positives, value))


def prf(m: Moments) -> FloatArray:
    """PRF of each group: the chance that its positives outrank a negative of any group."""
    return _weighted(m.xauc, _shares(m.negatives))


def xauc_gap(m: Moments, a: int, b: int) -> Estimate:
    """Gap xAUC(a, b) - xAUC(b, a)."""
    ab, ba = float(m.xauc[a, b]), float(m.xauc[b, a])
    in_a, in_b = _unit(m, a), _unit(m, b)
    return ab - ba, _stderr(
        (m.positive[a], in_b, ab),
        (m.negative[b], in_a, ab),
        (m.positive[b], in_a, ba),
        (m.negative[a], in_b, ba),
    )


def prf_gap(m: Moments, a: int, b: int) -> Estimate:
    """Gap PRF(a) - PRF(b)."""
    of_negatives = _shares(m.negatives)
    of_a, of_b = (float(_weighted(m.xauc[group], of_negatives)) for group in (a, b))
    return of_a - of_b, _stderr(
        (m.positive[a], of_negatives, of_a),
        (m.positive[b], of_negatives, of_b),
        (m.all_negative, _unit(m, a) - _unit(m, b), of_a - of_b),
    )


def parity_gap(m: Moments, a: int, b: int) -> Estimate:
    """Label-free gap Pr(S_a > S_b) - Pr(S_b > S_a)."""
    ab, ba = float(m.above[a, b]), float(m.above[b, a])
    return ab - ba, 2 * _stderr((m.row[a], _unit(m, b), ab), (m.row[b], _unit(m, a), ba))


GAPS: dict[str, Callable[[Moments, int, int], Estimate]] = {
    "xauc": xauc_gap,
    "prf": prf_gap,
    "parity": parity_gap,
}
"""Every gap that an audit reports, by the name of its metric."""


def _stderr(*terms: tuple[Placements, FloatArray, float]) -> float:
    """Root of the summed variances of independent samples; ``nan`` where one of them cannot be estimated.

    A term is a sample, the weights given to its placements, and the mean of the weighted placements.
    """
    total = sum(_variance_of_mean(*term) for term in terms)
    return float(np.sqrt(total)) if total > 0 else np.nan


def _variance_of_mean(sample: Placements, weights: FloatArray, center: float) -> float:
    """Unbiased for unweighted rows: the sum of squares over n (n - 1)."""
    if not sample.mass**2 > (1 + 1e-9) * sample.spread:
        return np.nan
    scatter = sample.scatter(weights, center)
    # What is left of a sum of squares below the rounding of its terms is noise around 0.
    if scatter < 1e-14 * sample.spread:
        return 0.0
    return scatter / (sample.mass**2 - sample.spread)


def _weighted(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted sum over the last axis that leaves out entries of weight 0, which may be ``nan``."""
    used = np.flatnonzero(weights)
    return np.asarray(values[..., used] @ weights[used])


def _shares(masses: FloatArray) -> FloatArray:
    total = masses.sum()
    return masses / total if total > 0 else np.full_like(masses, np.nan)


def _unit(m: Moments, g: int) -> FloatArray:
    unit = np.zeros(m.positives.size)
    unit[g] = 1.0
    return unit


def json_label(label: Hashable) -> str | int | float | bool:
    """Return a group's label as JSON can hold it: as it is, or as it is written."""
    return label if isinstance(label, str | int | float | bool) else str(label)


def _json_number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
