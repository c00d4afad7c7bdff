"""How groups interleave: disparities, solvers, the ordering they find; multipliers for any number of groups."""

from xorder.ordering.calibration import CALIBRATIONS
from xorder.ordering.disparity import DISPARITIES, Disparity, as_scored, auc_as_pairs
from xorder.ordering.frontier import Frontier, frontier
from xorder.ordering.multipliers import Multipliers, solve_multipliers
from xorder.ordering.order import SOLVERS, order
from xorder.ordering.placed import many_as_scored
from xorder.ordering.result import Ordering
from xorder.ordering.target import order_within

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
