"""How two groups interleave: disparities, solvers, and the ordering they find."""

from xorder.ordering.disparity import DISPARITIES, Disparity, as_scored, auc_as_pairs
from xorder.ordering.frontier import Frontier, frontier
from xorder.ordering.order import SOLVERS, order
from xorder.ordering.result import Ordering
from xorder.ordering.target import order_within

__all__ = [
    "DISPARITIES",
    "SOLVERS",
    "Disparity",
    "Frontier",
    "Ordering",
    "as_scored",
    "auc_as_pairs",
    "frontier",
    "order",
    "order_within",
]
