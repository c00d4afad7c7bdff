"""Estimators in scikit-learn's manner."""

from xorder.estimators.expected import ExpectedDisparity, expected_disparity
from xorder.estimators.fair_ranker import FairRanker, default_adjuster
from xorder.estimators.saved import load
from xorder.estimators.settle import SMALL_GROUPS
from xorder.estimators.xorder import TRANSFERS, XOrder

__all__ = [
    "SMALL_GROUPS",
    "TRANSFERS",
    "ExpectedDisparity",
    "FairRanker",
    "XOrder",
    "default_adjuster",
    "expected_disparity",
    "load",
]
