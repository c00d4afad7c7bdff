"""order(): one call for every solver; order_within(): for a wanted disparity, instead of a given tradeoff."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xorder._table import ScoreTable
from xorder._validation import check_both_classes
from xorder.exceptions import InputError
from xorder.ordering.classics import solve_greedy, solve_insertion
from xorder.ordering.disparity import Disparity, Ordering, check_disparity
from xorder.ordering.dynamic import solve_dp
from xorder.ordering.frontier import check_tradeoff, order_within_frontier, solve_frontier, upper_bound
from xorder.ordering.hull import has_frontier

Solver = Callable[[ScoreTable, ScoreTable, Disparity, float], Ordering]

SOLVERS: dict[str, Solver] = {
    "frontier": solve_frontier,
    "dp": solve_dp,
    "greedy": solve_greedy,
    "insertion": solve_insertion,
}
"""Every solver has the signature ``(a, b, disparity, tradeoff) -> Ordering``."""

# Tradeoffs tried from low to high until one is enough, then the steps of bisection between the last two.
_LADDER = [0.0, *(0.01 * 2.0**step for step in range(20))]
_BISECTIONS = 6


def order(
    a: ScoreTable,
    b: ScoreTable,
    *,
    metric: str | Disparity = "xauc",
    tradeoff: float = 1.0,
    solver: str = "frontier",
) -> Ordering:
    """Interleave two groups so that ``AUC - tradeoff * |disparity|`` is high.

    Parameters
    ----------
    a, b : the tables of the two groups; the disparity is that of a minus that of b.
    metric : ``"xauc"``, ``"prf"``, ``"parity"``, or a :class:`Disparity`.
    tradeoff : points of AUC worth giving for one point of disparity (the paper's lambda).
    solver : ``"frontier"``, near-linear and certified; ``"dp"``, the paper's Algorithm 1; ``"greedy"`` or
        ``"insertion"``, which only look at the disparity.

    >>> from xorder import ScoreTable
    >>> a = ScoreTable.from_arrays([1, 1, 0], [0.9, 0.7, 0.2])
    >>> b = ScoreTable.from_arrays([1, 0, 0], [0.5, 0.4, 0.3])
    >>> ordering = order(a, b, tradeoff=1.0)
    >>> ordering.auc, ordering.disparity, ordering.gap, ordering.b_above
    (1.0, 0.0, 0.0, array([0, 0, 1]))
    """
    check_both_classes(a, "the first group")
    check_both_classes(b, "the second group")
    if solver not in SOLVERS:
        raise InputError(f"solver must be one of {', '.join(SOLVERS)}; got {solver!r}.")
    disparity, tradeoff = check_disparity(metric, a, b), check_tradeoff(tradeoff)
    found = SOLVERS[solver](a, b, disparity, tradeoff)
    if solver == "frontier" or not has_frontier(disparity):
        return found
    return replace(found, bound=upper_bound(a, b, disparity, tradeoff))


def order_within(
    a: ScoreTable, b: ScoreTable, *, metric: str | Disparity, max_disparity: float, solver: str
) -> Ordering:
    """Find an ordering of high AUC with ``|disparity| <= max_disparity``.

    The frontier has it at once. For other solvers tradeoffs are searched: of all orderings tried that meet the target
    the one of highest AUC is returned; if none does, the one of smallest disparity.
    """
    if solver == "frontier":
        return order_within_frontier(a, b, metric, max_disparity)
    tried: list[Ordering] = []

    def meets(tradeoff: float) -> bool:
        tried.append(order(a, b, metric=metric, tradeoff=tradeoff, solver=solver))
        return abs(tried[-1].disparity) <= max_disparity

    low = high = 0.0
    for high in _LADDER:
        if meets(high):
            break
        low = high
    if low < high:
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (low, middle) if meets(middle) else (middle, high)
    good = [ordering for ordering in tried if abs(ordering.disparity) <= max_disparity]
    if good:
        return max(good, key=lambda ordering: ordering.auc)
    return min(tried, key=lambda ordering: abs(ordering.disparity))
