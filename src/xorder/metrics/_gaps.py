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
from collections.abc import Hashable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from xorder._metric import Estimate
from xorder._present import known, normal_quantile

Pair = tuple[Hashable, Hashable]


@dataclass(frozen=True, slots=True)
class Gap:
    """A signed gap: the metric for the first group of the pair minus that for the second.

    Where the sample cannot tell the uncertainty (a class of one row, or placements that do not vary at all), standard
    error, interval and p-value are ``nan``.

    Parameters
    ----------
    metric : str
        Name of the metric, such as ``"xauc"``.
    pair : tuple
        Labels of the two groups.
    value : float
        The gap; ``nan`` where a class that it needs is missing.
    stderr : float
        Its standard error, from the variance of placements [1]_.
    interval : tuple of float
        Ends of its normal confidence interval.
    pvalue : float
        That of the hypothesis "no gap" (two-sided, normal), for this pair alone.

    References
    ----------
    .. [1] DeLong, DeLong and Clarke-Pearson (1988), Comparing the areas under two or more correlated receiver
       operating characteristic curves: a nonparametric approach, Biometrics 44, 837-845.
    """

    metric: str
    pair: Pair
    value: float
    stderr: float
    interval: tuple[float, float]
    pvalue: float

    @classmethod
    def from_estimate(cls, metric: str, pair: Pair, estimate: Estimate, confidence: float) -> Gap:
        """Put a normal interval and a p-value around an estimate.

        Parameters
        ----------
        metric : str
            Name of the metric.
        pair : tuple
            Labels of the two groups.
        estimate : tuple of float
            The gap and its standard error.
        confidence : float
            Confidence of the interval, between 0 and 1.

        Returns
        -------
        Gap
            The gap with all that is said of it.
        """
        value, stderr = estimate
        pvalue = math.erfc(abs(value) / stderr / math.sqrt(2)) if stderr > 0 else np.nan
        return cls(metric, pair, value, stderr, interval(estimate, confidence), pvalue)

    def reversed(self) -> Gap:
        """Return the same gap seen from the other group.

        Returns
        -------
        Gap
            The second group minus the first.
        """
        low, high = self.interval
        return replace(self, pair=self.pair[::-1], value=-self.value, interval=(-high, -low))

    def to_dict(self) -> dict[str, Any]:
        """Return the gap as a dict ready for JSON.

        Returns
        -------
        dict
            The attributes by name; ``nan`` becomes ``None``.
        """
        numbers = {name: known(getattr(self, name)) for name in ("value", "stderr", "pvalue")}
        pair = [json_label(group) for group in self.pair]
        return asdict(self) | numbers | {"pair": pair, "interval": [known(end) for end in self.interval]}


def interval(estimate: Estimate, confidence: float) -> tuple[float, float]:
    """Return the normal confidence interval of an estimate."""
    value, stderr = estimate
    half = normal_quantile(confidence) * stderr
    return value - half, value + half


def json_label(label: Hashable) -> str | int | float | bool:
    """Return a group's label as JSON can hold it: as it is, or as it is written."""
    return label if isinstance(label, str | int | float | bool) else str(label)
