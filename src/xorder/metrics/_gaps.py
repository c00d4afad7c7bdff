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
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from xorder._metric import METRICS, Estimate, auc_estimate, gap_interval, gap_pvalue
from xorder._present import known, short_repr
from xorder._table import FloatArray, ScoreTable
from xorder._table import Pair as Pair

if TYPE_CHECKING:
    from xorder.metrics._audit import Audit
    from xorder.metrics._placements import Moments


@dataclass(frozen=True, slots=True)
class Gap:
    """A signed gap: the metric for the first group of the pair minus that for the second.

    Where the uncertainty cannot be estimated from the sample (a class of one row, or placements that do not vary at
    all), standard error, interval and p-value are ``nan``.

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
        Ends of its confidence interval: those of the two chances it is the difference of, each on the scale of log
        odds with a quantile of Student's, put together as squares [2]_ [3]_.
    pvalue : float
        That of the hypothesis "no gap", for this pair alone: one less the confidence whose interval ends at 0.
    pvalue_holm : float, default=nan
        The same, adjusted for all pairs of the audit by Holm's rule; a pair with too few rows counts among them, but
        has none itself.
    estimate : Estimate, default=None
        What interval and p-value are made of, for others of another confidence.

    References
    ----------
    .. [1] DeLong, DeLong and Clarke-Pearson (1988), Comparing the areas under two or more correlated receiver
       operating characteristic curves: a nonparametric approach, Biometrics 44, 837-845.
    .. [2] Zou and Donner (2008), Construction of confidence limits about effect measures: a general approach,
       Statistics in Medicine 27, 1693-1702.
    .. [3] Brunner and Munzel (2000), The nonparametric Behrens-Fisher problem: asymptotic theory and a small-sample
       approximation, Biometrical Journal 42, 17-25.
    """

    metric: str
    pair: Pair
    value: float
    stderr: float
    interval: tuple[float, float]
    pvalue: float
    pvalue_holm: float = np.nan
    estimate: Estimate | None = field(default=None, repr=False, compare=False)

    __repr__ = short_repr

    @classmethod
    def from_estimate(cls, metric: str, pair: Pair, estimate: Estimate, confidence: float) -> Gap:
        """Put an interval and a p-value around an estimate.

        Parameters
        ----------
        metric : str
            Name of the metric.
        pair : tuple
            Labels of the two groups.
        estimate : Estimate
            The gap and its standard error, with the two chances that it is the difference of.
        confidence : float
            Confidence of the interval, between 0 and 1.

        Returns
        -------
        Gap
            The gap with all that is said of it.
        """
        ends = gap_interval(estimate, confidence)
        return cls(metric, pair, *estimate[:2], ends, gap_pvalue(estimate), estimate=estimate)

    def interval_at(self, confidence: float) -> tuple[float, float]:
        """Return the interval of another confidence.

        Parameters
        ----------
        confidence : float
            Confidence of the interval, between 0 and 1.

        Returns
        -------
        tuple of float
            Its ends.
        """
        return gap_interval(self.estimate or Estimate(self.value, self.stderr), confidence)

    def reversed(self) -> Gap:
        """Return the same gap seen from the other group.

        Returns
        -------
        Gap
            The second group minus the first.
        """
        low, high = self.interval
        turned = self.estimate
        if turned is not None:
            turned = turned._replace(value=-turned.value, sides=turned.sides and turned.sides[::-1])
        return replace(self, pair=self.pair[::-1], value=-self.value, interval=(-high, -low), estimate=turned)

    def to_dict(self) -> dict[str, Any]:
        """Return the gap as a dict ready for JSON.

        Returns
        -------
        dict
            The attributes by name; ``nan`` becomes ``None``.
        """
        pair = [json_label(group) for group in self.pair]
        numbers = {name: known(getattr(self, name)) for name in ("value", "stderr", "pvalue", "pvalue_holm")}
        return {"metric": self.metric, "pair": pair, **numbers, "interval": [known(end) for end in self.interval]}


@dataclass(frozen=True, slots=True)
class Difference:
    """How a number of another score differs from that of the first; made by :func:`xorder.compare`.

    Parameters
    ----------
    what : str
        ``"auc"``, the name of a metric, or ``"cut"``.
    other : str
        Name of the other score.
    pair : tuple or None
        Labels of the two groups of a gap, first minus second.
    at : str or None
        The cut, as it is written.
    first : float
        The number for the first score.
    second : float
        The number for the other.
    value : float
        The second less the first.
    stderr : float
        Standard error of that difference.
    interval : tuple of float
        Ends of its confidence interval.
    pvalue : float
        That of "no difference".
    pvalue_holm : float, default=nan
        The same, adjusted by Holm's rule for all pairs of groups and all other scores.
    """

    what: str
    other: str
    pair: Pair | None
    at: str | None
    first: float
    second: float
    value: float
    stderr: float
    interval: tuple[float, float]
    pvalue: float
    pvalue_holm: float = np.nan

    __repr__ = short_repr

    @classmethod
    def between(
        cls,
        what: str,
        other: str,
        pair: Pair | None,
        at: str | None,
        values: tuple[float, float],
        error: tuple[float, float],
        confidence: float,
    ) -> Difference:
        """Put an interval and a p-value around the difference of two values.

        Parameters
        ----------
        what, other : str
            As of the class.
        pair : tuple or None
            As of the class.
        at : str or None
            As of the class.
        values : tuple of float
            The number for the first score, and for the other.
        error : tuple of float
            Standard error of the difference, and its degrees of freedom.
        confidence : float
            Confidence of the interval, between 0 and 1.

        Returns
        -------
        Difference
            The second less the first.
        """
        found = Estimate(values[1] - values[0], *error)
        return cls(what, other, pair, at, *values, *found[:2], gap_interval(found, confidence), gap_pvalue(found))

    def reversed(self) -> Difference:
        """Return the same of the pair in the other order.

        Returns
        -------
        Difference
            The second group minus the first.
        """
        low, high = self.interval
        turned = {name: -getattr(self, name) for name in ("first", "second", "value")}
        return replace(self, pair=None if self.pair is None else self.pair[::-1], interval=(-high, -low), **turned)

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as a dict ready for JSON.

        Returns
        -------
        dict
            The attributes by name; ``nan`` becomes ``None``.
        """
        names = ("first", "second", "value", "stderr", "pvalue", "pvalue_holm")
        return {
            "what": self.what,
            "other": self.other,
            "pair": None if self.pair is None else [json_label(group) for group in self.pair],
            "at": self.at,
            **{name: known(getattr(self, name)) for name in names},
            "interval": [known(end) for end in self.interval],
        }


def change_of(change: Moments, what: str, a: int, b: int) -> tuple[float, float]:
    """Return the paired standard error of how AUC, or a gap of a pair, changes with the scores, and its freedom.

    ``change`` is that of the placements of the same rows, as :func:`~xorder.metrics._placements.moments` finds it: the
    error of their mean is one of differences, row by row.
    """
    found = auc_estimate(change) if what == "auc" else METRICS[what].estimate(change, a, b)
    rows = [sample.mass**2 / sample.spread for sample, *_ in found.terms if sample.spread > 0]
    return found.stderr, min(rows, default=np.nan) - 1


def json_label(label: Hashable) -> str | int | float | bool:
    """Return a group's label as JSON can hold it: as it is, or as it is written."""
    is_plain = isinstance(label, str | int) or (isinstance(label, float) and math.isfinite(label))
    return label if is_plain else str(label)  # type: ignore[return-value]


# With fewer positives, or fewer negatives, a group has too few rows to say anything of it.
FEW = 10

# Below this a gap may be beyond doubt and still be small.
SMALL = 0.02

Kind = Literal["clear", "small", "chance", "unsure", "none", "unknown"]
Reading = Literal["not chance", "may be chance", "too few to say", "not known"]


def is_too_few(table: ScoreTable) -> bool:
    """Whether a group has fewer than :data:`FEW` positives or negatives.

    Weighted rows count as many as would say as much: the square of their sum over the sum of their squares.
    """
    masses = zip((table.n1, table.n0), table.spreads, strict=True)
    return any(are_few(mass, float(spread.sum())) for mass, spread in masses)


def are_few(mass: float, spread: float) -> bool:
    """Whether rows of this mass and sum of squared weights say less than :data:`FEW` rows would."""
    return not mass > 0 or mass**2 < FEW * spread


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


Judged = TypeVar("Judged", Gap, Difference)


def with_holm(gaps: Sequence[Judged], too_few: Collection[Hashable]) -> list[Judged]:
    """Adjust the p-values of one metric's gaps, or of their differences, for each other.

    A pair with a group of too few rows counts among them, but is itself too few to say, so its own p-value spares the
    others nothing.
    """
    few = [gap.pair is not None and not {*too_few}.isdisjoint(gap.pair) for gap in gaps]
    adjusted = holm([1.0 if lacks and gap.pvalue >= 0 else gap.pvalue for gap, lacks in zip(gaps, few, strict=True)])
    return [
        replace(gap, pvalue_holm=np.nan if lacks else pvalue)
        for gap, lacks, pvalue in zip(gaps, few, adjusted.tolist(), strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What the gaps of one metric between all groups amount to; made by :func:`judge`.

    Attributes
    ----------
    kind : {"clear", "small", "chance", "unsure", "none", "unknown"}
        A gap that chance does not explain; one that is there and below :data:`SMALL`; one that may be chance; one of
        which the rows cannot say how certain it is; none at all, to the last digit, between rows whose ranks do not
        vary; and none that can be computed.
    gap : Gap or None
        The one to speak of, favoured group first: the widest that chance does not explain; where there is none, the
        widest of groups with rows enough; else the widest.
    few : bool
        Whether that one is of a group with too few rows.
    pairs : int
        How many pairs were compared: those whose p-value is known.
    confidence : float
        Confidence of each interval if all pairs compared are to hold at once at the audit's confidence (Bonferroni).
    interval : tuple of float
        Interval of ``gap`` at this confidence. Where Holm's rule calls the gap clear and Bonferroni's would not, it is
        cut off at 0.
    clear : tuple of Gap
        All gaps that chance does not explain, in the same manner, the widest first.
    readings : dict
        Pair of groups, in either order -> what its gap is: ``"not chance"``, ``"may be chance"``, ``"too few to say"``
        or ``"not known"``.
    """

    kind: Kind
    gap: Gap | None
    few: bool
    pairs: int
    confidence: float
    interval: tuple[float, float]
    clear: tuple[Gap, ...]
    readings: dict[Pair, Reading]


def judge(audit: Audit, metric: str) -> Verdict:
    """Say what the gaps of a metric amount to.

    Every pair is judged by its p-value as adjusted by Holm's rule: a narrower gap may be clear where the widest is not.
    """
    gaps = [gap for gap in audit.gaps if gap.metric == metric]
    few = [not {*audit.too_few}.isdisjoint(gap.pair) for gap in gaps]
    readings: dict[Pair, Reading] = {}
    found: list[tuple[bool, bool, Gap]] = []
    for gap, lacks in zip(gaps, few, strict=True):
        beyond_chance = gap.pvalue_holm <= 1 - audit.confidence
        readings[gap.pair] = readings[gap.pair[::-1]] = _reading(gap, lacks, beyond_chance)
        if np.isfinite(gap.value):
            favoured_first = gap if gap.value >= 0 else gap.reversed()
            found.append((readings[gap.pair] == "not chance", not lacks, favoured_first))
    pairs = int(np.isfinite([gap.pvalue for gap in gaps]).sum())
    level = 1 - (1 - audit.confidence) / max(pairs, 1)
    if not found:
        return Verdict("unknown", None, False, pairs, level, (np.nan, np.nan), (), readings)
    found.sort(key=lambda entry: (*entry[:2], entry[2].value), reverse=True)
    is_clear, enough, gap = found[0]
    low, high = gap.interval if pairs == 1 else gap.interval_at(level)
    # What Holm's rule clears and Bonferroni's would not has an interval that ends at 0 and does not go beyond it.
    ends = (max(low, 0.0) if is_clear else low, high)
    clear = tuple(gap for is_clear, _, gap in found if is_clear)
    return Verdict(_kind(gap, is_clear, enough), gap, not enough, pairs, level, ends, clear, readings)


Tolerated = Literal["within", "beyond", "cannot tell"]


def against_tolerance(audit: Audit, metric: str, tolerance: float, tolerance_cut: float | None = None) -> Tolerated:
    """Say whether the gaps of all pairs of groups are within a tolerance, and their cuts within another.

    ``"beyond"`` if some gap is wider at the audit's confidence, by Holm's rule for all pairs; ``"within"`` if every
    interval lies inside; else, and where a group has too few rows, ``"cannot tell"``.
    """
    alpha, few = 1 - audit.confidence, {*audit.too_few}
    gaps = [gap for gap in audit.gaps if gap.metric == metric]
    limits = [(gap.pair, gap.interval, gap.estimate or Estimate(gap.value, gap.stderr), tolerance) for gap in gaps]
    families = [limits]
    if tolerance_cut is not None:
        cuts = [gap for gap in audit._cut_gaps() if np.isfinite(gap.stderr)]
        families.append([(gap.pair, gap.interval, Estimate(gap.value, gap.stderr), tolerance_cut) for gap in cuts])
    for family in families:
        # A pair with too few rows counts among the others, but says nothing itself.
        pvalues = [gap_pvalue(found, limit) if few.isdisjoint(pair) else 1.0 for pair, _, found, limit in family]
        if any(pvalue <= alpha for pvalue in holm(pvalues)):
            return "beyond"
    # The worst of all cuts has a band, which no interval of a single cut replaces.
    inside = [(pair, ends, limit) for pair, ends, _, limit in limits]
    if tolerance_cut is not None:
        bands = [(gap.pair, gap.interval, tolerance_cut) for gap in audit._cut_gaps()]
        worst = [ends for pair, ends, _ in bands[:: 1 + len(audit.cuts)] if few.isdisjoint(pair)]
        if any(low > tolerance_cut or high < -tolerance_cut for low, high in worst):
            return "beyond"
        if not bands:
            return "cannot tell"
        inside += bands
    if few or not all(-limit <= low and high <= limit for _, (low, high), limit in inside):
        return "cannot tell"
    return "within"


def _reading(gap: Gap, lacks: bool, beyond_chance: bool) -> Reading:
    if not np.isfinite(gap.pvalue):
        return "not known"
    return "too few to say" if lacks else "not chance" if beyond_chance else "may be chance"


def _kind(gap: Gap, is_clear: bool, enough: bool) -> Kind:
    if is_clear:
        return "clear" if gap.value >= SMALL else "small"
    if gap.value == 0 and np.isnan(gap.stderr):
        return "none"
    return "chance" if enough and np.isfinite(gap.stderr) else "unsure"
