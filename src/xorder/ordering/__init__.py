"""How groups interleave: disparities, solvers, the ordering they find; multipliers for any number of groups."""

from xorder.ordering.calibration import CALIBRATIONS
from xorder.ordering.disparity import DISPARITIES, Disparity, Ordering, as_scored, auc_as_pairs
from xorder.ordering.frontier import Frontier, frontier
from xorder.ordering.multipliers import Multipliers, solve_multipliers
from xorder.ordering.order import SOLVERS, order, order_within
from xorder.ordering.placed import many_as_scored

__all__ = [
    "CALIBRATIONS",
    "DISPARITIES",
    "SOLVERS",
    "Disparity",
    "Frontier",
    "Multipliers",
    "Ordering",
    "as_scored",
    "auc_as_pairs",
    "frontier",
    "many_as_scored",
    "order",
    "order_within",
    "solve_multipliers",
]
