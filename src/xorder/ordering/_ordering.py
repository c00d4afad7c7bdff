"""How two groups interleave: an ordering, the pairs it puts in order, and who of two groups stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np

from xorder._html import ordering_html
from xorder._metric import METRICS, PairGains, auc_gains, check_pair_gains
from xorder._parameters import brief, in_range
from xorder._table import STEP, FloatArray, IntArray, Part, ScoreTable, check_both_classes, find, pairs_within, running
from xorder.exceptions import InputError

# Gaps that differ by less are equal.
ROUNDING = 1e-13

# Points of AUC that a point of a gap beyond what is allowed costs, where the limit cannot be met.
_PRICE_BEYOND = 100.0


# Beyond this, which of two scores has the higher odds is lost in rounding.
_FURTHEST_APART = 1e15


@dataclass(frozen=True, slots=True)
class Goal:
    """What makes one ordering better than another.

    High ``AUC - tradeoff * |gap|``, or, without a tradeoff, high AUC with no gap above ``allowed``.
    """

    tradeoff: float | None
    allowed: float = 0.0

    @classmethod
    def of(cls, *, tradeoff: Any, max_gap: Any) -> Goal:
        """Check what a user asked for: exactly one of the two, a number from 0 up."""
        if (tradeoff is None) == (max_gap is None):
            raise InputError("give tradeoff or max_gap, one of the two.")
        if tradeoff is None:
            return cls(None, check_number(max_gap, "max_gap"))
        return cls(check_number(tradeoff, "tradeoff"))

    def worth(self, found: Any) -> float:
        """Worth of anything that has an AUC and a gap."""
        return float(self.value(found.auc, found.gap))

    def value(self, auc: FloatArray, gap: FloatArray) -> FloatArray:
        """Worth of AUCs and gaps: what keeps to a limit always comes before what does not."""
        if self.tradeoff is not None:
            return np.asarray(auc - self.tradeoff * np.abs(gap))
        excess = np.abs(gap) - self.allowed
        return np.where(excess <= ROUNDING, auc, auc - 1.0 - _PRICE_BEYOND * excess)


def check_number(value: Any, name: str) -> float:
    """Return what a user gave as a float; it must be a finite number from 0 up."""
    if not isinstance(value, Real) or not in_range(value, 0, 1e100):
        raise InputError(f"{name} must be a finite number from 0 up, at most 1e100; got {brief(value)}.")
    return float(value)


class Masses(Protocol):
    """Masses of positives and negatives in ranked entries: scores, or blocks of them."""

    @property
    def positive(self) -> FloatArray: ...
    @property
    def negative(self) -> FloatArray: ...


def pairs_of_ordering(a: Masses, b: Masses, b_above: IntArray) -> FloatArray:
    """Mass of the pairs with the member of a above, where ``b_above[i]`` scores of b precede score i of a."""
    return class_pairs(a, [remaining(mass)[b_above] for mass in (b.positive, b.negative)])


class _Step(NamedTuple):
    """Some scores of the shorter of two tables: its masses there, and its positives above them.

    Of the longer table, the masses of positives and negatives above each of these scores and, where tied, at it.
    """

    masses: tuple[FloatArray, FloatArray]
    seen: float
    above: list[FloatArray]
    tied: IntArray
    at_tied: list[FloatArray]


class Places:
    """Where the scores of the shorter of two tables stand in the longer, as that is the faster way to look them up.

    Both are gone through from above, in steps that stay in the processor's cache.
    """

    def __init__(self, a: ScoreTable, b: ScoreTable) -> None:
        self.swapped = len(a) > len(b)
        self.short, self.long = (b, a) if self.swapped else (a, b)

    def meet(self) -> tuple[FloatArray, float]:
        """Mass of the pairs with the member of a above, and the widest cut gap, from looking scores up once."""
        counts, cuts = zip(*self._in_steps(lambda step: (_pairs_above(step), self._widest(step))), strict=True)
        return self._of_a(counts), max(cuts)

    def pairs(self) -> FloatArray:
        """Mass of the pairs with the member of a above, by class; equal scores count one half."""
        return self._of_a(self._in_steps(_pairs_above))

    def worst_cut(self) -> float:
        """Widest absolute difference of the sensitivities at any cut."""
        return max(self._in_steps(self._widest))

    def cut_gaps(self) -> FloatArray:
        """Difference of the sensitivities, a minus b, above each score of the shorter table, and with it."""
        gaps = np.concatenate([np.concatenate(each) for each in zip(*self._in_steps(self._gaps), strict=True)])
        return -gaps if self.swapped else gaps

    def _in_steps(self, function: Callable[[_Step], Part]) -> list[Part]:
        """Return what a function makes of each step."""
        ends = np.append(np.arange(STEP, len(self.short), STEP), len(self.short))[: len(self.short)]
        # A step of the longer table goes down to the last score of the shorter one's.
        down_to = len(self.long) - np.searchsorted(self.long.score[::-1], self.short.score[ends - 1])
        own, others = ([slice(*pair) for pair in pairwise([0, *each.tolist()])] for each in (ends, down_to))
        masses = self.long.positive, self.long.negative
        seen = running(np.array([self.short.positive[part].sum() for part in own]))
        above = [running(np.array([mass[part].sum() for part in others])) for mass in masses]

        def look(number: int) -> Part:
            part, other = own[number], others[number]
            place, is_tied = find(self.short.score[part], self.long.score[other])
            tied = np.flatnonzero(is_tied)
            step = _Step(
                (self.short.positive[part], self.short.negative[part]),
                float(seen[number]),
                [running(mass[other], sums[number])[place] for mass, sums in zip(masses, above, strict=True)],
                tied,
                [mass[other][place[tied]] for mass in masses],
            )
            return function(step)

        return [look(number) for number in range(len(own))]

    def _of_a(self, counts: Sequence[FloatArray]) -> FloatArray:
        pairs = np.sum([np.zeros((2, 2)), *counts], axis=0)
        if self.swapped:
            return np.asarray(pairs.T)
        return np.asarray(np.outer([self.short.n1, self.short.n0], [self.long.n1, self.long.n0]) - pairs)

    def _gaps(self, step: _Step) -> tuple[FloatArray, FloatArray]:
        """Difference of the sensitivities, shorter minus longer, above each score of the shorter, and with it."""
        own, others = running(step.masses[0], step.seen) / self.short.n1, step.above[0] / self.long.n1
        before = own[:-1] - others
        others[step.tied] += step.at_tied[0] / self.long.n1
        return before, own[1:] - others

    def _widest(self, step: _Step) -> float:
        return max(float(max(gaps.max(), -gaps.min())) for gaps in self._gaps(step))


def _pairs_above(step: _Step) -> FloatArray:
    """Mass of the pairs with the member of the longer table above, by the class of the shorter's and its own."""
    pairs = np.array([[float(own @ other) for other in step.above] for own in step.masses])
    if step.tied.size:
        pairs += [[0.5 * float(own[step.tied] @ other) for other in step.at_tied] for own in step.masses]
    return pairs


def as_scored(a: ScoreTable, b: ScoreTable, metric: str | PairGains) -> tuple[float, float]:
    """AUC and signed gap of two groups as their scores stand.

    Parameters
    ----------
    a, b : ScoreTable
        Tables of the two groups.
    metric : {"xauc", "prf", "parity"} or PairGains
        Gap to be measured.

    Returns
    -------
    auc : float
        AUC of both groups together.
    gap : float
        The gap, a minus b; equal scores count one half.
    """
    pairs = Places(a, b).pairs()
    return auc_gains(a, b).value(pairs), check_pair_gains(metric, a, b).value(pairs)


def standing(tables: Sequence[ScoreTable], metric: str) -> tuple[float, FloatArray, float]:
    """Measure any number of groups as their scores stand.

    Parameters
    ----------
    tables : sequence of ScoreTable
        Table of each group, with both classes.
    metric : {"xauc", "prf", "parity"}
        Gap to be measured.

    Returns
    -------
    auc : float
        AUC of all groups together.
    gaps : ndarray of shape (n_groups, n_groups)
        Gap of each pair, row minus column; equal scores count one half.
    worst_cut : float
        Widest difference of sensitivities at any cut between any two groups; ``nan`` of a single one.
    """
    met = [Places(*pair).meet() for pair in combinations(tables, 2)]
    n1, n0, within = np.array([(table.n1, table.n0, pairs_within(table)) for table in tables]).T
    auc, gaps = gaps_of_pairs(metric, n1, n0, within, [pairs for pairs, _ in met])
    return auc, gaps, max((cut for _, cut in met), default=np.nan)


def gaps_of_pairs(
    metric: str, n1: FloatArray, n0: FloatArray, within: FloatArray, counts: Sequence[FloatArray]
) -> tuple[float, FloatArray]:
    """AUC of K groups together, and the gap of each pair, row minus column, from pairs of their rows.

    ``within`` is the mass of pairs of each group with the positive above, and ``counts`` are, of each two groups, those
    with the member of the first above, by class.
    """
    auc, above = chances(n1, n0, counts)
    np.fill_diagonal(auc, within / (n1 * n0))
    known = METRICS[metric]
    gaps = known.gaps(auc if known.by_label else above, n0 / n0.sum())
    return float((n1 / n1.sum()) @ auc @ (n0 / n0.sum())), gaps


def chances(n1: FloatArray, n0: FloatArray, counts: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Chances that one of K groups outranks another: its positives the other's negatives, and any row any other.

    ``counts`` are, of each two groups, the mass of the pairs with the member of the first above. The diagonal of the
    first, that of the groups' own AUCs, is left to be filled.
    """
    auc, above = np.zeros((n1.size, n1.size)), np.full((n1.size, n1.size), 0.5)
    for (g, h), up in zip(combinations(range(n1.size), 2), counts, strict=True):
        auc[g, h], auc[h, g] = up[0, 1] / (n1[g] * n0[h]), 1 - up[1, 0] / (n1[h] * n0[g])
        above[g, h] = up.sum() / ((n1[g] + n0[g]) * (n1[h] + n0[h]))
        above[h, g] = 1 - above[g, h]
    return auc, above


def sensitivity_gaps(a: ScoreTable, b: ScoreTable) -> FloatArray:
    """Return the difference of the groups' sensitivities at cuts of the list, a minus b, the widest among them.

    Parameters
    ----------
    a, b : ScoreTable
        Tables of the two groups, each with positives.

    Returns
    -------
    ndarray
        The difference above each score of the shorter table, and with it: between two of these it moves one way.
    """
    return Places(a, b).cut_gaps()


def sensitivity(table: ScoreTable) -> FloatArray:
    """Share of the positives among the first i scores, for i from none to all."""
    return running(table.positive) / table.n1


def remaining(mass: FloatArray) -> FloatArray:
    """Mass left after the first j scores, for j from none to all."""
    return np.append(np.cumsum(mass[::-1])[::-1], 0.0)


def class_pairs(a: Masses, outranked: list[FloatArray]) -> FloatArray:
    """Mass of the pairs of a with what each of its scores outranks: by class of both, as 2 x 2."""
    return np.array([[float(own @ other) for other in outranked] for own in (a.positive, a.negative)])


@dataclass(frozen=True, slots=True, eq=False)
class Ordering:
    """Interleaving of two groups that keeps the order within each; made by :func:`order`.

    Parameters
    ----------
    a, b : ScoreTable
        Tables of the two groups.
    b_above : ndarray of shape (n_scores_of_a,)
        Number of distinct scores of b placed above each score of a, both counted from the highest.
    metric : str
        Name of the gap.
    solver : str
        Name of the solver that found it.
    tradeoff : float
        Points of AUC worth giving for one point of gap.
    auc : float
        AUC of both groups together.
    gap : float
        Signed gap, a minus b.
    bound : float, default=nan
        Value that no interleaving's objective exceeds; ``nan`` where none is proven.
    """

    a: ScoreTable = field(repr=False)
    b: ScoreTable = field(repr=False)
    b_above: IntArray = field(repr=False)
    metric: str
    solver: str
    tradeoff: float
    auc: float
    gap: float
    bound: float = np.nan

    @property
    def objective(self) -> float:
        """AUC minus tradeoff times the absolute gap."""
        return self.auc - self.tradeoff * abs(self.gap)

    @property
    def optimality_gap(self) -> float:
        """How far from the best possible objective this ordering can be at most."""
        return max(self.bound - self.objective, 0.0) if np.isfinite(self.bound) else np.nan

    def _repr_html_(self) -> str:
        return ordering_html(self)


def path_ordering(
    a: ScoreTable,
    b: ScoreTable,
    b_above: IntArray,
    gains: PairGains,
    tradeoff: float,
    solver: str,
    utility: PairGains | None = None,
) -> Ordering:
    """Measure an interleaving; ``utility`` is the AUC as gains of pairs, where it is known already."""
    utility = auc_gains(a, b) if utility is None else utility
    path = np.asarray(b_above, dtype=np.int64)
    path.flags.writeable = False
    pairs = pairs_of_ordering(a, b, path)
    return Ordering(a, b, path, gains.name, solver, tradeoff, auc=utility.value(pairs), gap=gains.value(pairs))


def check_pair(a: ScoreTable, b: ScoreTable) -> None:
    """Raise if two tables cannot be ordered: for want of a class, or because masses are too far apart."""
    check_both_classes(a, "the first group")
    check_both_classes(b, "the second group")
    masses = [mass for table in (a, b) for mass in (table.positive, table.negative)]
    low, high = min(mass[mass > 0].min() for mass in masses), max(mass.max() for mass in masses)
    if high > _FURTHEST_APART * low:
        raise InputError(
            f"masses of groups to be ordered may be {_FURTHEST_APART:g} times as large as each other; those above 0 go "
            f"from {low:g} to {high:g}. Make those weights 0 that count for nothing."
        )
