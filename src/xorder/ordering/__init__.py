"""How groups interleave: gaps, solvers, the ordering they find; multipliers for any number of groups."""

from xorder.ordering._corridor import smallest_cut_gap
from xorder.ordering._frontier import Frontier, equal_cut, frontier
from xorder.ordering._hull import best_auc, pair_bound, prf_bound
from xorder.ordering._multipliers import Multipliers, solve_multipliers
from xorder.ordering._order import SOLVERS, order, order_within
from xorder.ordering._ordering import Ordering, as_scored, sensitivity_gaps, standing

__all__ = [
    "SOLVERS",
    "Frontier",
    "Multipliers",
    "Ordering",
    "as_scored",
    "best_auc",
    "equal_cut",
    "frontier",
    "order",
    "order_within",
    "pair_bound",
    "prf_bound",
    "sensitivity_gaps",
    "smallest_cut_gap",
    "solve_multipliers",
    "standing",
]
