"""order(): one call for every solver; order_within(): for a wanted gap, instead of a given tradeoff."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from xorder._metric import PairGains, check_pair_gains
from xorder._parameters import check_word
from xorder._table import FloatArray, ScoreTable, running
from xorder.exceptions import InputError
from xorder.ordering._corridor import order_within_cuts
from xorder.ordering._dynamic import Products, partial_objective, solve_dp
from xorder.ordering._frontier import order_within_frontier, solve_frontier
from xorder.ordering._hull import has_frontier, pair_bound
from xorder.ordering._ordering import Goal, Ordering, check_number, check_pair, path_ordering, remaining

# Gaps closer than this, relative to what they are the difference of, are equal but for rounding.
_ROUNDING = 8 * float(np.finfo(np.float64).eps)


def solve_greedy(a: ScoreTable, b: ScoreTable, gains: PairGains, tradeoff: float) -> Ordering:
    """From the top, place whichever next score leaves the smaller gap half-way; ties go to a.

    The tradeoff only enters the objective that is reported (appendix of the paper, greedy forward search).

    Guarantee: for xAUC, on rows of equal weight, ``|gap| <= max(1/n1a, 1/n1b)``. Linear time.
    """
    rule = partial_objective(a, b, gains)
    slack = _ROUNDING * float(rule.reach[1])
    b_above = np.full(len(a), len(b), dtype=np.int64)
    gap, i, j = rule.start, 0, 0
    while i < len(a) and j < len(b):
        after_a = gap + rule.own_a[i] + _credit(rule.from_a, i, j)
        after_b = gap + rule.own_b[j] + _credit(rule.from_b, j, i)
        if abs(after_b) < abs(after_a) - slack:
            gap, j = after_b, j + 1
        else:
            gap, b_above[i], i = after_a, j, i + 1
    return path_ordering(a, b, b_above, gains, tradeoff, "greedy")


def solve_insertion(a: ScoreTable, b: ScoreTable, gains: PairGains, tradeoff: float) -> Ordering:
    """Insert one whole group at one place of the other, where the gap is smallest (Proposition 1).

    The tradeoff only enters the objective that is reported. Between places of equal gap the higher AUC
    wins.

    Guarantee: for xAUC and PRF, on rows of equal weight, the bounds of Proposition 1. Time ``n log n``.
    """
    in_a, in_b = (np.stack([of(table.positive), of(table.negative)]) for of, table in ((running, a), (remaining, b)))
    # Gaps with all of b below the first so many scores of a, and with all of a below the first so many of b.
    of_a = gains.offset + in_b[:, 0] @ gains.matrix.T @ in_a
    of_b = gains.offset + in_a[:, -1] @ gains.matrix @ in_b
    paths = [np.where(np.arange(len(a)) < place, 0, len(b)) for place in _least(of_a)]
    paths += [np.full(len(a), place) for place in _least(of_b)]
    found = [path_ordering(a, b, path, gains, tradeoff, "insertion") for path in paths]
    size = float(np.sum(np.abs(gains.matrix) * np.outer([a.n1, a.n0], [b.n1, b.n0]))) + abs(gains.offset)
    smallest = min(abs(ordering.gap) for ordering in found) + _ROUNDING * size
    return max((o for o in found if abs(o.gap) <= smallest), key=lambda ordering: ordering.auc)


def _least(gaps: FloatArray) -> range:
    """Places around the one at which the gap, monotone in the place, is closest to 0."""
    best = int(np.argmin(np.abs(gaps)))
    return range(max(best - 1, 0), min(best + 2, gaps.size))


def _credit(products: Products, place: int, other: int) -> float:
    return float(sum(mass[1, place] * left[1, other] for mass, left in products))


Solver = Callable[[ScoreTable, ScoreTable, PairGains, float], Ordering]

SOLVERS: dict[str, Solver] = {
    "frontier": solve_frontier,
    "dp": solve_dp,
    "greedy": solve_greedy,
    "insertion": solve_insertion,
}
"""Every solver has the signature ``(a, b, gains, tradeoff) -> Ordering``."""

# Tradeoffs tried from low to high until one is enough, then the steps of bisection between the last two.
_LADDER = [0.0, *(0.01 * 2.0**step for step in range(20))]
_BISECTIONS = 6


def order(
    a: ScoreTable,
    b: ScoreTable,
    *,
    metric: str | PairGains = "xauc",
    tradeoff: float = 1.0,
    max_cut_gap: float | None = None,
    solver: str = "frontier",
) -> Ordering:
    """Interleave two groups so that ``AUC - tradeoff * |gap|`` is high.

    Parameters
    ----------
    a, b : ScoreTable
        Tables of the two groups; the gap is that of a minus that of b.
    metric : {"xauc", "prf", "parity"} or PairGains, default="xauc"
        Gap to be made small.
    tradeoff : float, default=1.0
        Points of AUC worth giving for one point of gap (the paper's lambda).
    max_cut_gap : float, default=None
        Largest difference of the groups' sensitivities at any cut of the list; the bound is then that of all orderings
        that keep it. For the frontier only.
    solver : {"frontier", "dp", "greedy", "insertion"}, default="frontier"
        The frontier is near-linear and certified; ``"dp"`` is the paper's Algorithm 1; the other two only look at the
        gap.

    Returns
    -------
    Ordering
        Ordering with its AUC, gap and bound.

    Raises
    ------
    InputError
        If no ordering keeps ``max_cut_gap``; it names the smallest limit that can be kept.

    References
    ----------
    .. [1] Cui, Pan, Zhang and Wang (2021), Towards Model-Agnostic Post-Hoc Adjustment for Balancing Ranking Fairness
       and Algorithm Utility, KDD.

    Examples
    --------
    >>> from xorder import ScoreTable
    >>> a = ScoreTable.from_arrays([1, 1, 0], [0.9, 0.7, 0.2])
    >>> b = ScoreTable.from_arrays([1, 0, 0], [0.5, 0.4, 0.3])
    >>> ordering = order(a, b, tradeoff=1.0)
    >>> ordering.auc, ordering.gap, ordering.optimality_gap, ordering.b_above
    (1.0, 0.0, 0.0, array([0, 0, 1]))
    """
    check_pair(a, b)
    check_word("solver", solver, SOLVERS)
    gains, tradeoff = check_pair_gains(metric, a, b), check_number(tradeoff, "tradeoff")
    if max_cut_gap is not None:
        if solver != "frontier":
            raise InputError(f"max_cut_gap is for solver 'frontier'; got {solver!r}.")
        return order_within_cuts(a, b, gains, Goal(tradeoff), check_number(max_cut_gap, "max_cut_gap"))
    found = SOLVERS[solver](a, b, gains, tradeoff)
    if solver == "frontier" or not has_frontier(gains):
        return found
    return replace(found, bound=pair_bound(a, b, metric=gains, tradeoff=tradeoff))


def order_within(
    a: ScoreTable,
    b: ScoreTable,
    *,
    metric: str | PairGains,
    max_gap: float,
    solver: str,
    max_cut_gap: float | None = None,
) -> Ordering:
    """Find an ordering of high AUC with ``|gap| <= max_gap``.

    The frontier has it at once. For other solvers tradeoffs are searched: of all orderings tried that meet the target
    the one of highest AUC is returned; if none does, the one of smallest gap.

    Parameters
    ----------
    a, b : ScoreTable
        Tables of the two groups; the gap is that of a minus that of b.
    metric : {"xauc", "prf", "parity"} or PairGains
        Gap to be kept within the limit.
    max_gap : float
        Largest gap allowed.
    solver : {"frontier", "dp", "greedy", "insertion"}
        Solver, as for :func:`order`.
    max_cut_gap : float, default=None
        Largest difference of sensitivities at any cut, which comes first: the gap is closed as far as it allows. For
        the frontier only.

    Returns
    -------
    Ordering
        Ordering found.
    """
    if max_cut_gap is not None:
        return order_within_cuts(a, b, check_pair_gains(metric, a, b), Goal(None, max_gap), max_cut_gap)
    if solver == "frontier":
        return order_within_frontier(a, b, metric, max_gap)
    tried: list[Ordering] = []

    def meets(tradeoff: float) -> bool:
        tried.append(order(a, b, metric=metric, tradeoff=tradeoff, solver=solver))
        return abs(tried[-1].gap) <= max_gap

    low = high = 0.0
    for high in _LADDER:
        if meets(high):
            break
        low = high
    if low < high:
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (low, middle) if meets(middle) else (middle, high)
    good = [each for each in tried if abs(each.gap) <= max_gap]
    return max(good, key=lambda each: each.auc) if good else min(tried, key=lambda each: abs(each.gap))
