"""order(): one call for every solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xorder._table import ScoreTable
from xorder._validation import check_both_classes
from xorder.exceptions import InputError
from xorder.ordering.classics import solve_greedy, solve_insertion
from xorder.ordering.disparity import Disparity, check_disparity
from xorder.ordering.dynamic import solve_dp
from xorder.ordering.frontier import check_tradeoff, solve_frontier, upper_bound
from xorder.ordering.hull import has_frontier
from xorder.ordering.result import Ordering

Solver = Callable[[ScoreTable, ScoreTable, Disparity, float], Ordering]

SOLVERS: dict[str, Solver] = {
    "frontier": solve_frontier,
    "dp": solve_dp,
    "greedy": solve_greedy,
    "insertion": solve_insertion,
}
"""Every solver has the signature ``(a, b, disparity, tradeoff) -> Ordering``."""


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
