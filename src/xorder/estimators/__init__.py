"""Repairs: learnt from tables, or as estimators in scikit-learn's manner, which is loaded when one is asked for."""

from typing import TYPE_CHECKING

from xorder._lazy import lazy_names

if TYPE_CHECKING:
    from xorder.estimators._expected import ExpectedGap, expected_gap, expected_gap_tables
    from xorder.estimators._fair_ranker import FairRanker
    from xorder.estimators._fitted import METHODS, SMALL_GROUPS, FittedRepair, RepairSettings
    from xorder.estimators._learn import learn_repair
    from xorder.estimators._promise import Promise
    from xorder.estimators._repair_file import load_fitted
    from xorder.estimators._xorder import XOrder, load

__all__ = [
    "METHODS",
    "SMALL_GROUPS",
    "ExpectedGap",
    "FairRanker",
    "FittedRepair",
    "Promise",
    "RepairSettings",
    "XOrder",
    "expected_gap",
    "expected_gap_tables",
    "learn_repair",
    "load",
    "load_fitted",
]

# The estimators need scikit-learn; who applies a saved map needs neither them nor what fits one.
_LATER = {
    "_expected": ("ExpectedGap", "expected_gap", "expected_gap_tables"),
    "_fair_ranker": ("FairRanker",),
    "_fitted": ("METHODS", "SMALL_GROUPS", "FittedRepair", "RepairSettings"),
    "_learn": ("learn_repair",),
    "_promise": ("Promise",),
    "_repair_file": ("load_fitted",),
    "_xorder": ("XOrder", "load"),
}

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, {name: module for module, names in _LATER.items() for name in names})


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
