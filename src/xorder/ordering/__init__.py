"""How groups interleave: gaps, solvers, the ordering they find; multipliers for any number of groups."""

from xorder.ordering._bounds import best_auc
from xorder.ordering._calibration import CALIBRATIONS
from xorder.ordering._frontier import Frontier, frontier
from xorder.ordering._multipliers import Multipliers, solve_multipliers
from xorder.ordering._order import SOLVERS, order, order_within
from xorder.ordering._ordering import Ordering, as_scored
from xorder.ordering._shifted_groups import many_as_scored

__all__ = [
    "CALIBRATIONS",
    "SOLVERS",
    "Frontier",
    "Multipliers",
    "Ordering",
    "as_scored",
    "best_auc",
    "frontier",
    "many_as_scored",
    "order",
    "order_within",
    "solve_multipliers",
]
