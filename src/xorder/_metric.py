r"""A metric is one record: its names and sentences, what a pair of rows is worth to it, and its estimate from a sample.

Only the interleaving of two groups a and b can change, never the order within a group. With :math:`x_i = (p_i, n_i)`
the masses at a score of a, and :math:`x_j` those at a score of b, the gap of an interleaving is

.. math:: \text{offset} + \sum_{i \text{ above } j} x_i^\top M x_j .

Between any number of groups it is a difference of two *sides*, each linear in the chances that a row of one group
outranks a row of another. A new metric is a new record in :data:`METRICS`, and needs no new solver, table or sentence
anywhere else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from xorder._parameters import check_word
from xorder._table import FloatArray, ScoreTable, pairs_within
from xorder.exceptions import InputError

if TYPE_CHECKING:
    from xorder.metrics._placements import Moments, Placements

    Term = tuple[Placements, FloatArray, float]


class Estimate(NamedTuple):
    """A value and its standard error.

    ``freedom`` are the degrees of freedom behind the error (Satterthwaite's), ``sides`` the two chances that the value
    is the difference of, where it is one, and ``terms`` what its variance is made of. ``reach`` is the error that the
    interval of a chance is made with, and ``rows`` the least number of rows of a sample behind it.
    """

    value: float
    stderr: float
    freedom: float = math.inf
    sides: tuple[Estimate, Estimate] | None = None
    terms: tuple[Term, ...] = ()
    reach: float = math.nan
    rows: float = 0.0

    def wider(self, factor: float) -> Estimate:
        """Return the same with errors so many times as large."""
        sides = None if self.sides is None else (self.sides[0].wider(factor), self.sides[1].wider(factor))
        return self._replace(stderr=factor * self.stderr, reach=factor * self.reach, sides=sides)


@dataclass(frozen=True, slots=True, eq=False)
class PairGains:
    """What each pair of rows, one of group a and one of group b, adds to a quantity when the row of a stands above.

    Parameters
    ----------
    matrix : array-like of shape (2, 2)
        Worth of a pair with the row of a above, by class: rows are a positive and a negative of a, columns a positive
        and a negative of b.
    offset : float
        The quantity with all of b above all of a.
    a_part : array-like of shape (2, 2), default=None
        For algorithms that build an ordering from the top and judge it half-way: the part of the matrix credited when
        the row of a is placed; the rest is debited when the row of b is. One half each by default.
    own : tuple of float, default=(0.0, 0.0)
        For the same algorithms: the worth, contained in ``offset``, of a concordant pair within a and within b,
        credited when its positive is placed.
    name : str, default="custom"
        Name of the quantity.
    """

    matrix: FloatArray
    offset: float
    a_part: FloatArray | None = None
    own: tuple[float, float] = (0.0, 0.0)
    name: str = "custom"

    def __post_init__(self) -> None:
        try:
            matrix, offset = np.array(self.matrix, dtype=np.float64), float(self.offset)
            part = matrix / 2 if self.a_part is None else np.array(self.a_part, dtype=np.float64)
        except (TypeError, ValueError):
            matrix, offset, part = np.empty(0), np.nan, np.empty(0)
        if matrix.shape != (2, 2) or part.shape != (2, 2) or not np.isfinite(matrix).all() or not np.isfinite(offset):
            raise InputError(f"PairGains needs a 2 x 2 matrix and an offset, all finite; got {self.matrix!r}.")
        for array in (matrix, part):
            array.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "a_part", part)

    def value(self, pairs: FloatArray) -> float:
        """Return the quantity, given the mass of pairs with the row of a above, by class as in ``matrix``.

        Parameters
        ----------
        pairs : ndarray of shape (2, 2)
            Mass of these pairs.

        Returns
        -------
        float
            Offset plus the worth of all pairs.
        """
        return self.offset + float(np.sum(self.matrix * pairs))


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """Everything that xorder knows of one gap between groups.

    Attributes
    ----------
    name : str
        What users pass, such as ``"xauc"``.
    title : str
        What people read, such as ``"xAUC gap"``.
    meaning : str
        The gap in words, first group minus second.
    gains : callable
        Two tables -> the :class:`PairGains` of the gap between them.
    estimate : callable
        Placements of all groups and the indices of two -> the gap and its standard error.
    side : callable
        Chances that groups outrank each other, K x K or a stack of such, and each group's share of the negatives ->
        the K x K sides; the gap of a pair is side[a, b] - side[b, a]. Linear, with coefficients from 0 up.
    by_label : bool
        Whether the chances are those of positives against negatives; else of all rows, whatever their labels.
    pairs_in_words : str
        What the two sides mean, as counts of 100 pairs, with ``{lower}``, ``{favoured}``, ``{outcome}``, ``{low}`` and
        ``{high}`` to be filled in.
    side_in_words : str
        One side, with ``{first}`` and ``{second}`` to be filled in.
    counts_own : bool
        Whether rows are compared with rows of their own group, too.
    """

    name: str
    title: str
    meaning: str
    gains: Callable[[ScoreTable, ScoreTable], PairGains]
    estimate: Callable[[Moments, int, int], Estimate]
    side: Callable[[FloatArray, FloatArray], FloatArray]
    by_label: bool
    pairs_in_words: str
    side_in_words: str
    counts_own: bool = False

    def gaps(self, chance: FloatArray, negative_share: FloatArray) -> FloatArray:
        """Signed gaps between K groups, of one matrix of chances or a stack of them."""
        sides = self.side(chance, negative_share)
        return np.asarray(sides - np.swapaxes(sides, -1, -2))


def auc_gains(a: ScoreTable, b: ScoreTable) -> PairGains:
    """AUC of both groups together, as a sum over cross-group pairs like any gap."""
    pairs = (a.n1 + b.n1) * (a.n0 + b.n0)
    within = pairs_within(a) + pairs_within(b)
    offset = (within + a.n0 * b.n1) / pairs
    return _across_classes(1 / pairs, -1 / pairs, offset, own=(1 / pairs, 1 / pairs), name="auc")


def _across_classes(
    up: float, down: float, offset: float, *, name: str, own: tuple[float, float] = (0.0, 0.0)
) -> PairGains:
    """Return what pairs of a positive and a negative are worth: with that of a above, ``up`` for a positive of a and
    ``down`` for a negative; each is credited when its positive is placed.
    """
    matrix, a_part = np.array([[0.0, up], [down, 0.0]]), np.array([[0.0, up], [0.0, 0.0]])
    return PairGains(matrix, offset, a_part=a_part, own=own, name=name)


def auc_estimate(m: Moments) -> Estimate:
    """AUC of all rows together; positives and negatives are each one sample, pooled over the groups."""
    of_positives, of_negatives = shares(m.positives), shares(m.negatives)
    value = float(_weighted(prf_of(m), of_positives))
    return _chance(m, value, (m.all_positive, of_negatives, value), (m.all_negative, of_positives, value))


def xauc_estimate(m: Moments, a: int, b: int) -> Estimate:
    """Chance that a positive of a outranks a negative of b; of a group and itself its AUC."""
    value = float(m.xauc[a, b])
    return _chance(m, value, (m.positive[a], _unit(m, b), value), (m.negative[b], _unit(m, a), value))


def prf_of(m: Moments) -> FloatArray:
    """PRF of each group: the chance that its positives outrank a negative of any group."""
    return _weighted(m.xauc, shares(m.negatives))


def prf_estimate(m: Moments, a: int) -> Estimate:
    """PRF of a group with its error."""
    of_negatives = shares(m.negatives)
    value = float(_weighted(m.xauc[a], of_negatives))
    return _chance(m, value, (m.positive[a], of_negatives, value), (m.all_negative, _unit(m, a), value))


def _xauc_gains(a: ScoreTable, b: ScoreTable) -> PairGains:
    return _across_classes(1 / (a.n1 * b.n0), 1 / (a.n0 * b.n1), -1.0, name="xauc")


def _xauc_estimate(m: Moments, a: int, b: int) -> Estimate:
    ab, ba = xauc_estimate(m, a, b), xauc_estimate(m, b, a)
    found = _estimated(m, ab.value - ba.value, *ab.terms, *_times(-1, ba.terms))
    return found._replace(sides=(ab, ba))


def _prf_gains(a: ScoreTable, b: ScoreTable) -> PairGains:
    n0 = a.n0 + b.n0
    up, down = 1 / (a.n1 * n0), 1 / (b.n1 * n0)
    within = up * pairs_within(a) - down * pairs_within(b)
    return _across_classes(up, down, within - a.n0 / n0, own=(up, -down), name="prf")


def _prf_estimate(m: Moments, a: int, b: int) -> Estimate:
    of_a, of_b = prf_estimate(m, a), prf_estimate(m, b)
    value = of_a.value - of_b.value
    # Both have all negatives: how these place, one difference each.
    negatives = m.all_negative, _unit(m, a) - _unit(m, b), value
    found = _estimated(m, value, of_a.terms[0], *_times(-1, of_b.terms[:1]), negatives)
    return found._replace(sides=(of_a, of_b))


def _prf_side(chance: FloatArray, negative_share: FloatArray) -> FloatArray:
    return np.broadcast_to((chance @ negative_share)[..., :, None], chance.shape)


def _parity_gains(a: ScoreTable, b: ScoreTable) -> PairGains:
    return PairGains(np.full((2, 2), 2 / ((a.n1 + a.n0) * (b.n1 + b.n0))), -1.0, name="parity")


def _parity_estimate(m: Moments, a: int, b: int) -> Estimate:
    ab, ba = float(m.above[a, b]), float(m.above[b, a])
    side = _chance(m, ab, (m.row[a], _unit(m, b), ab), (m.row[b], -_unit(m, a), -ba))
    other = side._replace(value=ba, terms=_times(-1, side.terms))
    return side._replace(value=ab - ba, stderr=2 * side.stderr, sides=(side, other), terms=_times(2, side.terms))


def _chance_itself(chance: FloatArray, negative_share: FloatArray) -> FloatArray:
    return chance


_ALL = (
    Metric(
        name="xauc",
        title="xAUC gap",
        meaning="positives of the first outranking negatives of the second, minus the reverse",
        gains=_xauc_gains,
        estimate=_xauc_estimate,
        side=_chance_itself,
        by_label=True,
        pairs_in_words="Take someone of {lower} {outcome} and someone of {favoured} without it. A fair score puts the "
        "first above the second as often as it does with the groups swapped. This one does so in {low} of 100 such "
        "pairs, and in {high} of 100 with the groups swapped.",
        side_in_words="{first} with the outcome above {second} without",
    ),
    Metric(
        name="prf",
        title="PRF gap",
        meaning="positives of the first outranking any negative, minus those of the second",
        gains=_prf_gains,
        estimate=_prf_estimate,
        side=_prf_side,
        by_label=True,
        pairs_in_words="Someone of {lower} {outcome} is ranked above someone without it, of any group, in {low} of 100 "
        "pairs; for {favoured} it is {high} of 100.",
        side_in_words="{first} with the outcome above anyone without",
        counts_own=True,
    ),
    Metric(
        name="parity",
        title="parity gap",
        meaning="members of the first outranking members of the second, minus the reverse",
        gains=_parity_gains,
        estimate=_parity_estimate,
        side=_chance_itself,
        by_label=False,
        pairs_in_words="Of 100 pairs of people, one of each group, the one of {lower} is ranked higher in {low} and "
        "the one of {favoured} in {high}, whatever their outcomes.",
        side_in_words="{first} above {second}",
    ),
)

# Every metric, by its name.
METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}


def check_metric(name: str) -> Metric:
    """Return the metric of a name; refuse what is not one."""
    return METRICS[check_word("metric", name, METRICS)]


def check_pair_gains(metric: str | PairGains, a: ScoreTable, b: ScoreTable) -> PairGains:
    """Return what pairs are worth to a metric that a user named, or passed ready-made, for these two tables."""
    if isinstance(metric, PairGains):
        return metric
    return METRICS[check_word("metric", metric, METRICS, otherwise="PairGains")].gains(a, b)


def normal_quantile(confidence: float) -> float:
    """Return how many standard errors a two-sided interval of this confidence reaches to either side."""
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def student_quantile(confidence: float, freedom: float) -> float:
    """Return the same of an error that is itself an estimate, with so many degrees of freedom."""
    return _student(normal_quantile(confidence), freedom)


def chance_interval(estimate: Estimate, confidence: float) -> tuple[float, float]:
    """Return the confidence interval of a chance, on the scale of log odds, so that it stays between 0 and 1."""
    if not estimate.stderr > 0:
        return math.nan, math.nan
    return _chance_reach(estimate, _student(normal_quantile(confidence), estimate.freedom))


def gap_interval(estimate: Estimate, confidence: float) -> tuple[float, float]:
    """Return the confidence interval of a gap.

    Each of the two chances that it is the difference of has an interval on the scale of log odds, and the two are put
    together as squares, less what the chances share (Zou and Donner 2008).
    """
    return _gap_reach(estimate, normal_quantile(confidence))


def gap_pvalue(estimate: Estimate, limit: float = 0.0) -> float:
    """Return the p-value of "no gap", or "no gap above a limit": that of the interval that ends there."""
    value, stderr = estimate[:2]
    if not stderr > 0:
        return math.nan
    if abs(value) <= limit:
        return 1.0
    nearer, sign = (0, 1.0) if value > 0 else (1, -1.0)
    return math.erfc(quantile_ending(estimate, nearer, sign * limit) / math.sqrt(2))


def quantile_ending(estimate: Estimate, end: int, at: float) -> float:
    """Return the normal quantile whose interval has its lower (0) or upper (1) end at a value; 0 where none has."""
    sign = -1.0 if end else 1.0

    def short_by(quantile: float) -> float:
        return (_gap_reach(estimate, quantile)[end] - at) * sign

    low, high = 0.0, max((estimate.value - at) * sign / estimate.stderr, 0.0)
    if high < _NEAREST:
        return 0.0
    short, over = (estimate.value - at) * sign, short_by(high)
    while over > 0 and high < _FURTHEST:
        low, short, high = high, over, 1.25 * high
        over = short_by(high)
    if over > 0:
        return high
    # By chords; the value at an end that stays for longer counts half each time (Illinois).
    moved, slow = 0, 0
    while (width := high - low) > 1e-11 * high:
        chord = low + width * short / (short - over)
        if slow == 3 or not math.isfinite(chord):
            chord, slow = (low + high) / 2, 0
        # Where an end is the root, a step beyond it shuts the root in.
        least = 4e-12 * high
        tried = min(max(chord, low + least), high - least)
        found = short_by(tried)
        if found > 0:
            low, short, over, moved = tried, found, over / 2 if moved > 0 else over, 1
        else:
            high, over, short, moved = tried, found, short / 2 if moved < 0 else short, -1
        slow = slow + 1 if high - low > width / 2 else 0
    return (low + high) / 2


# Normal quantiles beyond this have a p-value of 0; below the other one of 1, and halves of them come to no end.
_FURTHEST, _NEAREST = 40.0, 1e-100


def _gap_reach(estimate: Estimate, quantile: float) -> tuple[float, float]:
    value, stderr, freedom, sides = estimate[:4]
    times = _student(quantile, freedom)
    if sides is None or not stderr > 0:
        return value - times * stderr, value + times * stderr
    (low_a, high_a), (low_b, high_b) = (_chance_reach(side, times) for side in sides)
    a, b = sides
    up, down = (a.value - low_a, high_b - b.value), (high_a - a.value, b.value - low_b)
    both = a.stderr * b.stderr
    shared = (a.stderr**2 + b.stderr**2 - stderr**2) / (2 * both) if both > 0 else 0.0
    lower, upper = (math.sqrt(max(x * x + y * y - 2 * shared * x * y, 0.0)) for x, y in (up, down))
    return value - lower, value + upper


def _chance_reach(estimate: Estimate, times: float) -> tuple[float, float]:
    value, stderr = estimate.value, estimate.reach if estimate.reach > 0 else estimate.stderr
    if not 0 < value < 1 or not stderr > 0:
        # Without any error that is seen: as far as so many rows, all on one side, leave open.
        tail = math.erfc(times / math.sqrt(2))
        open_to = tail ** (1 / estimate.rows) if estimate.rows > 0 and tail > 0 else 0.0
        return (min(value, open_to), value) if value > 0.5 else (value, max(value, 1 - open_to))
    far = times * stderr / (value * (1 - value))
    odds = value / (1 - value)
    # Odds beyond the largest number are those of the end itself.
    grown = math.exp(min(far, 700.0))
    return odds / (odds + grown), odds * grown / (1 + odds * grown)


def _student(quantile: float, freedom: float) -> float:
    """Return the quantile of Student's distribution where the normal one is ``quantile`` (from 4 degrees up to .001).

    The expansion of Abramowitz and Stegun, 26.7.5: what a library has is slow to load.
    """
    z, n = quantile, max(freedom, 1.0)
    return z * (
        1
        + (z**2 + 1) / (4 * n)
        + (5 * z**4 + 16 * z**2 + 3) / (96 * n**2)
        + (3 * z**6 + 19 * z**4 + 17 * z**2 - 15) / (384 * n**3)
    )


def shares(masses: FloatArray) -> FloatArray:
    """Each mass as a share of all; ``nan`` without any."""
    total = masses.sum()
    return masses / total if total > 0 else np.full_like(masses, np.nan)


def _estimated(m: Moments, value: float, *terms: Term, variances: Sequence[float] | None = None) -> Estimate:
    """Return the estimate of a sum of independent samples' means; its error is ``nan`` where one cannot be estimated.

    A term is a sample, the weights given to its placements, and the mean of the weighted placements. ``variances`` are
    those of the means, where they are known.
    """
    if m.units is not None:
        of_units, freedom = m.units.variance([(0, 1.0, terms)])
        # What is left of squares below their rounding is none.
        return Estimate(value, math.sqrt(of_units) if of_units > LEAST_VARIANCE else np.nan, freedom, terms=terms)
    variances = variances or [_variance_of_mean(*term) for term in terms]
    total = sum(variances)
    if not total > 0:
        return Estimate(value, np.nan, terms=terms)
    freedom = total**2 / sum(
        variance**2 / (sample.mass**2 / sample.spread - 1)
        for variance, (sample, *_) in zip(variances, terms, strict=True)
        if variance > 0
    )
    return Estimate(value, math.sqrt(total), freedom, terms=terms)


# Variance of a number below 1, added up over units, that is no more than rounding.
LEAST_VARIANCE = 1e-24


def _chance(m: Moments, value: float, *terms: Term) -> Estimate:
    """Return the estimate of a chance.

    A high chance rests on the few rows that are ranked badly, and a small sample may have none of them. So its interval
    counts half a row more in each sample, of the greatest variance that placements with this mean can have.
    """
    counts = [m.units.count_of(s) if m.units else s.mass**2 / s.spread for s, *_ in terms if s.spread > 0]
    variances = None if m.units else [_variance_of_mean(*term) for term in terms]
    found = _estimated(m, value, *terms, variances=variances)._replace(rows=min(counts, default=0.0))
    if not found.stderr > 0:
        return found
    # Of how a chance changes, which may be below 0, no such interval is asked for.
    most = max(value * (1 - value), 0.0)
    if variances is None:
        more = sum(most / (2 * rows**2) for rows in counts)
        return found._replace(reach=math.sqrt(found.stderr**2 + more))
    # The variance of the mean is that of a placement over the rows.
    wider = sum(((n - 1) * of_mean + most / (2 * n)) / (n - 0.5) for n, of_mean in zip(counts, variances, strict=True))
    return found._replace(reach=math.sqrt(wider))


def _times(factor: float, terms: Sequence[Term]) -> tuple[Term, ...]:
    return tuple((sample, factor * weights, factor * center) for sample, weights, center in terms)


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


def _unit(m: Moments, g: int) -> FloatArray:
    """All weight on one group."""
    weights = np.zeros(m.positives.size)
    weights[g] = 1.0
    return weights
