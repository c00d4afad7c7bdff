"""Repairs: learnt from tables, or as estimators in scikit-learn's manner, which is loaded when one is asked for."""

from typing import TYPE_CHECKING, Any

from xorder._lazy import lazy_names
from xorder.estimators._expected import ExpectedGap, expected_gap_tables
from xorder.estimators._fitted import METHODS, SMALL_GROUPS, FittedRepair, RepairSettings, load_fitted
from xorder.estimators._learn import learn_repair

if TYPE_CHECKING:
    from xorder.estimators._expected import expected_gap
    from xorder.estimators._fair_ranker import FairRanker
    from xorder.estimators._xorder import XOrder, load

__all__ = [
    "METHODS",
    "SMALL_GROUPS",
    "ExpectedGap",
    "FairRanker",
    "FittedRepair",
    "RepairSettings",
    "XOrder",
    "expected_gap",
    "expected_gap_tables",
    "learn_repair",
    "load",
    "load_fitted",
]

_MODULES = {
    "FairRanker": "_fair_ranker",
    "XOrder": "_xorder",
    "expected_gap": "_expected",
    "load": "_xorder",
}


def __getattr__(name: str) -> Any:
    return lazy_names(__name__, _MODULES)(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
