"""Repairs: learnt from tables, or as estimators in scikit-learn's manner, which is loaded when one is asked for."""

from typing import TYPE_CHECKING, Any

from xorder._lazy import lazy_names
from xorder.estimators.expected import ExpectedDisparity, expected_disparity_of_tables
from xorder.estimators.fitted import FittedRepair, load_fitted
from xorder.estimators.learn import learn_repair
from xorder.estimators.plan import SMALL_GROUPS, TRANSFERS, RepairSettings

if TYPE_CHECKING:
    from xorder.estimators.expected_rows import expected_disparity
    from xorder.estimators.fair_ranker import FairRanker, default_adjuster
    from xorder.estimators.xorder import XOrder, load

__all__ = [
    "SMALL_GROUPS",
    "TRANSFERS",
    "ExpectedDisparity",
    "FairRanker",
    "FittedRepair",
    "RepairSettings",
    "XOrder",
    "default_adjuster",
    "expected_disparity",
    "expected_disparity_of_tables",
    "learn_repair",
    "load",
    "load_fitted",
]

_MODULES = {
    "FairRanker": "fair_ranker",
    "XOrder": "xorder",
    "default_adjuster": "fair_ranker",
    "expected_disparity": "expected_rows",
    "load": "xorder",
}


def __getattr__(name: str) -> Any:
    return lazy_names(__name__, _MODULES)(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
