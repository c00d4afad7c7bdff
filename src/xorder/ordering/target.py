"""An ordering for a wanted disparity, instead of a given tradeoff."""

from __future__ import annotations

from xorder._table import ScoreTable
from xorder.ordering.disparity import Disparity
from xorder.ordering.frontier import order_within_frontier
from xorder.ordering.order import order
from xorder.ordering.result import Ordering

# Tradeoffs tried from low to high until one is enough, then the steps of bisection between the last two.
_LADDER = [0.0, *(0.01 * 2.0**step for step in range(20))]
_BISECTIONS = 6


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
