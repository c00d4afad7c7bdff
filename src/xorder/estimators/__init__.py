"""Estimators in scikit-learn's manner."""

from xorder.estimators.expected import ExpectedDisparity, expected_disparity
from xorder.estimators.expected_tables import expected_disparity_of_tables
from xorder.estimators.fair_ranker import FairRanker, default_adjuster
from xorder.estimators.saved import load
from xorder.estimators.settings import TRANSFERS
from xorder.estimators.settle import MISSING_GROUPS, SMALL_GROUPS
from xorder.estimators.xorder import XOrder

__all__ = [
    "MISSING_GROUPS",
    "SMALL_GROUPS",
    "TRANSFERS",
    "ExpectedDisparity",
    "FairRanker",
    "XOrder",
    "default_adjuster",
    "expected_disparity",
    "expected_disparity_of_tables",
    "load",
]
